"""Holds every answer of the gateway against its own OpenAPI document, strictly."""

import copy
import json
import re
from functools import cache
from typing import Any

import httpx
from openapi_schema_validator import OAS31Validator
from telha_gateway import app, openapi


@cache
def document() -> dict[str, Any]:
    """The document, with answers closed: what they hold must be documented."""
    found = json.loads(openapi.document(app.OPERATIONS))
    for schema in found["components"]["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return found


@cache
def _validator(path: str, method: str, status: str, media_type: str) -> OAS31Validator:
    whole = document()
    responses = whole["paths"][path][method]["responses"]
    assert status in responses, f"{method} {path} does not document {status}"
    response = responses[status]
    if "$ref" in response:
        response = whole["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    assert media_type in response["content"], f"{method} {path} {status} does not document {media_type}"
    schema = copy.deepcopy(response["content"][media_type]["schema"])
    return OAS31Validator({**schema, "components": whole["components"]})


def check(response: httpx.Response) -> None:
    """Fail unless *response* is what the document promises; a hook for `httpx.Client`."""
    method, place = response.request.method.lower(), response.request.url.path
    for path, methods in document()["paths"].items():
        if method in methods and re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)), place):
            break
    else:
        return
    response.read()
    media_type = response.headers["content-type"].partition(";")[0]
    validator = _validator(path, method, str(response.status_code), media_type)
    validator.validate(response.json() if media_type.endswith("json") else response.text)

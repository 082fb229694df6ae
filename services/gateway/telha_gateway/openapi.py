"""
The OpenAPI 3.1 document, made from the operations and the structs themselves, so that it cannot disagree with them.

Rule 1: written for generated clients: each operation has an id, each shape a name, each failure the one problem shape.
Rule 2: it tells the truth: what it allows is accepted but for rules across fields, and what it forbids is refused.
"""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

import msgspec

from telha_gateway import components, problems
from telha_gateway.components import Json, reference
from telha_gateway.dto.shape import COMPONENT, TOLD
from telha_gateway.operations import Operation
from telha_gateway.problems import Problem

_REF = "#/components/schemas/{name}"
_TAGS = {
    "Planning": "Decide which verbatim spans an answer may use, under a hard token budget.",
    "Memory": "Write the bitemporal memory, and read its sources.",
    "Traces": "Read the proof of past calls.",
    "Administration": "Keys, tenants, and what is removed for good.",
    "System": "The gateway about itself.",
}
_WIDTHS = {"integer": "int64", "number": "double"}
_NULL = {"type": "null"}
_EVERY_SECURED = (400, 401, 403, 429, 500, 503, 504)
_EVERY_BODY = (408, 413, 415)
_EVERY_JSON = (406,)


def document(operations: Iterable[Operation]) -> bytes:
    """The document for *operations*, as JSON."""
    listed = list(operations)
    references, shapes = _schemas(listed)
    paths: dict[str, Json] = {}
    for operation in listed:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, references)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Telha memory planner",
                "version": version("telha"),
                "summary": "Decides, exactly and repeatably, which source spans an answer may use.",
                "description": "Times are microseconds since 1970 UTC; requests may also say them as RFC 3339 with an "
                "offset. Unknown request fields are refused; answers only gain fields. `null` in a request is the same "
                "as leaving the field out.",
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": "/", "description": "The gateway that serves this document."}],
            "tags": [{"name": name, "description": words} for name, words in _TAGS.items()],
            "security": [{"apiKey": []}],
            "paths": paths,
            "components": {
                "schemas": components.schemas() | shapes,
                "parameters": components.parameters(),
                "headers": components.headers(),
                "responses": {str(status): components.failure(status) for status in components.STATUS_WORDS},
                "securitySchemes": components.security_schemes(),
            },
        }
    )


def _schemas(operations: list[Operation]) -> tuple[dict[type, Json], Json]:
    shapes: dict[type, None] = {Problem: None}
    for operation in operations:
        for shape in (operation.body, operation.answer):
            if shape is not None:
                shapes[shape] = None
    references, found = msgspec.json.schema_components(shapes, ref_template=_REF)
    found["Problem"]["properties"]["code"]["examples"] = sorted(problems.TITLES)
    # Answers never hold null: what is absent is left out.
    cleaned: Json = {name: _clean(schema, nullable=_is_sent(schema)) for name, schema in found.items()}
    return dict(zip(shapes, references, strict=True)), cleaned


def _is_sent(schema: Json) -> bool:
    return schema.get("additionalProperties") is False


def _clean(schema: Any, *, nullable: bool) -> Any:  # noqa: ANN401  # any JSON value
    """*schema* as generators of typed clients read it best: widths named, or they take 32 bits; choices typed."""
    if isinstance(schema, list):
        return [_clean(member, nullable=nullable) for member in schema]
    if not isinstance(schema, dict):
        return schema
    if COMPONENT in schema:
        return _referred(schema, nullable=nullable)
    kept = {key: _clean(value, nullable=nullable) for key, value in schema.items() if key not in {"properties", TOLD}}
    if "properties" in schema:
        # Its keys are names of fields, one of them `type`, not words of JSON Schema.
        kept["properties"] = {name: _clean(field, nullable=nullable) for name, field in schema["properties"].items()}
    kept |= schema.get(TOLD, {})
    if kept.get("required") == []:
        del kept["required"]
    if "default" in kept and kept["default"] is None:
        del kept["default"]
    if kept.get("type") in _WIDTHS:
        kept.setdefault("format", _WIDTHS[kept["type"]])
    if "enum" in kept:
        kept.setdefault("type", "string")
    return _with_null(kept, nullable=nullable) if _NULL in kept.get("anyOf", []) else kept


def _with_null(schema: Json, *, nullable: bool) -> Json:
    """*schema*, an optional one, in the shortest way that says so."""
    branches = [branch for branch in schema.pop("anyOf") if branch != _NULL]
    words: Json = {**branches[0], **schema} if len(branches) == 1 else {**schema, "anyOf": branches}
    if not nullable:
        return words
    if "$ref" in words or len(branches) > 1:
        described = {"description": words.pop("description")} if "description" in words else {}
        return {**described, "anyOf": [words, _NULL]}
    if "enum" in words:
        words["enum"] = [*words["enum"], None]
    return {**words, "type": [words["type"], "null"]}


def _referred(schema: Json, *, nullable: bool) -> Json:
    """The component that stands for *schema*, with its own description."""
    found: Json = reference("schemas", schema[COMPONENT])
    optional = nullable and _NULL in schema.get("anyOf", [])
    described = {"description": schema["description"]} if "description" in schema else {}
    return {**described, "anyOf": [found, _NULL]} if optional else {**described, **found}


def _operation(operation: Operation, references: Mapping[type, Json]) -> Json:
    described: Json = {"operationId": operation.id, "tags": [operation.tag], "summary": operation.summary}
    if operation.description:
        described["description"] = operation.description
    if not operation.secured:
        described["security"] = []
    parameters = _parameters(operation)
    if parameters:
        described["parameters"] = parameters
    statuses = {*operation.statuses}
    if operation.media_type == "application/json":
        statuses |= {*_EVERY_JSON}
    if operation.secured:
        statuses |= {*_EVERY_SECURED}
    if operation.idempotent:
        statuses |= {422}
    if operation.body is not None:
        statuses |= {*_EVERY_BODY}
        content: Json = {"schema": references[operation.body]}
        if operation.example:
            content["example"] = operation.example
        described["requestBody"] = {"required": not operation.body_optional, "content": {"application/json": content}}
    if operation.raw_types:
        statuses |= {*_EVERY_BODY}
        described["requestBody"] = {
            "required": True,
            "content": {kind: {"schema": _raw(kind)} for kind in operation.raw_types},
        }
    described["responses"] = {"200": _answer(operation, references)} | {
        str(status): reference("responses", str(status)) for status in sorted(statuses)
    }
    return described


def _raw(media_type: str) -> Json:
    """A body that is passed on as it comes: text, or for JSON whatever it holds."""
    return {} if media_type == "application/json" else {"type": "string", "minLength": 1}


def _answer(operation: Operation, references: Mapping[type, Json]) -> Json:
    schema: Json = {"type": "string"} if operation.media_type == "text/plain" else {"type": "object"}
    if operation.answer is not None:
        schema = references[operation.answer]
    answer: Json = {
        "description": operation.summary,
        "headers": {"x-request-id": reference("headers", "RequestId")},
        "content": {operation.media_type: {"schema": schema}},
    }
    if operation.leads_to:
        answer["links"] = {
            target: {"operationId": target, "parameters": {name: f"$response.body#{pointer}"}}
            for target, (name, pointer) in operation.leads_to.items()
        }
    return answer


def _parameters(operation: Operation) -> list[Json]:
    found: list[Json] = [
        {
            "name": place.name,
            "in": "path",
            "required": True,
            "description": place.description,
            "schema": dict(place.schema),
        }
        for place in (operation.path_parameter, operation.other_parameter)
        if place is not None
    ]
    if operation.idempotent:
        found.append(reference("parameters", "IdempotencyKey"))
    if operation.parameters is not None:
        _, shapes = msgspec.json.schema_components((operation.parameters,))
        for name, raw in shapes[operation.parameters.__name__]["properties"].items():
            schema = _clean(raw, nullable=False)
            words = schema.pop("description", "")
            required = name in shapes[operation.parameters.__name__]["required"]
            found.append({"name": name, "in": "query", "required": required, "description": words, "schema": schema})
    return found

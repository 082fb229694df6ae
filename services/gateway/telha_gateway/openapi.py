"""
The OpenAPI 3.1 document, made from the operations and the structs themselves, so that it cannot disagree with them.

Rule: written for generated clients: every operation has an id, every shape a name, every failure the one problem shape.
"""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

import msgspec

from telha_gateway import problems
from telha_gateway.operations import Operation
from telha_gateway.problems import Problem

Json = dict[str, Any]

_REF = "#/components/schemas/{name}"
_TAGS = {
    "Planning": "Decide which verbatim spans an answer may use, under a hard token budget.",
    "Memory": "Write the bitemporal memory, and read its sources.",
    "Traces": "Read the proof of past calls.",
    "System": "The gateway about itself.",
}
_STATUS_WORDS = {
    400: "A field breaks a rule; `pointer` says which.",
    401: "No API key, or none that holds.",
    403: "The key lacks a right or a space.",
    404: "It does not exist, or is not the caller's.",
    408: "The body did not arrive in time.",
    413: "The request is larger than is accepted.",
    415: "The body is not declared as JSON.",
    422: "Well-formed, and cannot be answered.",
    429: "As much is waiting as the planner accepts; try again.",
    500: "Our fault; `requestId` finds the cause in the log.",
    503: "A part is away or busy; try again.",
    504: "The deadline passed.",
}
_WIDTHS = {"integer": "int64", "number": "double"}
_EVERY_CALL = (400, 401, 403, 500, 503, 504)
_EVERY_BODY = (408, 413, 415)


def document(operations: Iterable[Operation]) -> bytes:
    """The document for *operations*, as JSON."""
    listed = list(operations)
    schemas, components = _schemas(listed)
    paths: dict[str, Json] = {}
    for operation in listed:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Telha memory planner",
                "version": version("telha"),
                "summary": "Decides, exactly and repeatably, which source spans an answer may use.",
                "description": "Times are microseconds since 1970 UTC; requests may also say them as RFC 3339 with an "
                "offset. Unknown request fields are refused; answers only gain fields.",
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": "/"}],
            "tags": [{"name": name, "description": words} for name, words in _TAGS.items()],
            "security": [{"apiKey": []}],
            "paths": paths,
            "components": {
                "schemas": components,
                "responses": {str(status): _problem(words) for status, words in _STATUS_WORDS.items()},
                "securitySchemes": {
                    "apiKey": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "A key made by `telha keys create`. Decides tenant, spaces and rights.",
                    }
                },
            },
        }
    )


def _schemas(operations: list[Operation]) -> tuple[dict[type, Json], Json]:
    shapes: dict[type, None] = {Problem: None}
    for operation in operations:
        for shape in (operation.body, operation.answer):
            if shape is not None:
                shapes[shape] = None
    references, components = msgspec.json.schema_components(shapes, ref_template=_REF)
    components["Problem"]["properties"]["code"]["examples"] = sorted(problems.TITLES)
    cleaned: Json = {name: _for_clients(schema) for name, schema in components.items()}
    return dict(zip(shapes, references, strict=True)), cleaned


def _for_clients(schema: Any) -> Any:  # noqa: ANN401  # any JSON value
    """
    *schema* as generators of typed clients read it best.

    Widths are named, or they would take 32 bits; choices are strings; the `null` that stands for "left out" is gone.
    """
    if isinstance(schema, list):
        return [_for_clients(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _for_clients(value) for key, value in schema.items() if key != "properties"}
    if "properties" in schema:
        # Its keys are names of fields, one of them `type`, not words of JSON Schema.
        kept["properties"] = {name: _for_clients(field) for name, field in schema["properties"].items()}
    if "default" in kept and kept["default"] is None:
        del kept["default"]
    if kept.get("type") in _WIDTHS:
        kept.setdefault("format", _WIDTHS[kept["type"]])
    if "enum" in kept:
        kept.setdefault("type", "string")
    branches = [branch for branch in kept.get("anyOf", []) if branch != {"type": "null"}]
    if len(branches) == 1:
        del kept["anyOf"]
        return {**branches[0], **kept}
    return {**kept, "anyOf": branches} if branches else kept


def _operation(operation: Operation, schemas: Mapping[type, Json]) -> Json:
    described: Json = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "responses": {"200": _answer(operation, schemas)},
    }
    if operation.description:
        described["description"] = operation.description
    if not operation.secured:
        described["security"] = []
    if operation.body is not None:
        content: Json = {"schema": schemas[operation.body]}
        if operation.example:
            content["example"] = operation.example
        described["requestBody"] = {"required": True, "content": {"application/json": content}}
    parameters = _parameters(operation)
    if parameters:
        described["parameters"] = parameters
    statuses = {*operation.statuses}
    if operation.secured:
        statuses |= {*_EVERY_CALL}
    if operation.body is not None:
        statuses |= {*_EVERY_BODY}
    for status in sorted(statuses):
        described["responses"][str(status)] = {"$ref": f"#/components/responses/{status}"}
    return described


def _answer(operation: Operation, schemas: Mapping[type, Json]) -> Json:
    schema: Json = {"type": "string"} if operation.media_type == "text/plain" else {"type": "object"}
    if operation.answer is not None:
        schema = schemas[operation.answer]
    return {
        "description": operation.summary,
        "headers": {"x-request-id": {"description": "Of this request.", "schema": {"type": "string"}}},
        "content": {operation.media_type: {"schema": schema}},
    }


def _parameters(operation: Operation) -> list[Json]:
    found: list[Json] = []
    if operation.path_id:
        schema = {"type": "string", "format": "uuid"}
        found.append({"name": "id", "in": "path", "required": True, "description": operation.path_id, "schema": schema})
    if operation.parameters is not None:
        _, components = msgspec.json.schema_components((operation.parameters,))
        for name, raw in components[operation.parameters.__name__]["properties"].items():
            schema = _for_clients(raw)
            words = schema.pop("description", "")
            found.append({"name": name, "in": "query", "required": False, "description": words, "schema": schema})
    return found


def _problem(words: str) -> Json:
    schema = {"$ref": _REF.format(name="Problem")}
    return {"description": words, "content": {problems.MEDIA_TYPE: {"schema": schema}}}

"""
Parts of the OpenAPI document that no struct describes: instants, conditions, headers, failures, the credential.

Rule: what can be said in JSON Schema is said; rules across fields stand in the descriptions and in docs/errors.md.
"""

from typing import Any

from telha_gateway import problems

Json = dict[str, Any]

INT64 = {"type": "integer", "format": "int64", "minimum": -(2**63), "maximum": 2**63 - 1}
OPEN_END = 2**63 - 1
"""Stands for "open" inside the memory; no instant of a request."""
MAX_VALUE_CHARACTERS = 4096
MAX_FIELD_CHARACTERS = 512
MAX_CHOICES = 1000
_TEXT = {"type": "string", "maxLength": MAX_VALUE_CHARACTERS, "pattern": r"^[^\x00]*$"}
_NUMBER = {"type": "number", "format": "double"}


def reference(kind: str, name: str) -> Json:
    """A reference to the component *name* of that *kind*."""
    return {"$ref": f"#/components/{kind}/{name}"}


def _condition() -> Json:
    scalar = {"anyOf": [_TEXT, _NUMBER, {"type": ["boolean", "null"]}]}
    ordered = {"anyOf": [_TEXT, _NUMBER]}
    operators: Json = dict.fromkeys(("eq", "ne", "contains"), scalar)
    operators |= dict.fromkeys(("lt", "lte", "gt", "gte"), ordered)
    operators |= {
        "in": {"type": "array", "minItems": 1, "maxItems": MAX_CHOICES, "items": scalar},
        "startsWith": _TEXT,
        "exists": {"type": "boolean"},
        "match": {**_TEXT, "description": "All of its words; it must hold one."},
    }
    return {
        "description": "What one field must satisfy; all operators must hold. Integers beyond ±(2^53 - 1) are strings.",
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": operators,
    }


def _where() -> Json:
    nested = reference("schemas", "Where")
    several = {"type": "array", "minItems": 1, "items": nested}
    return {
        "description": "What the nodes that `find` names must satisfy: `{field: {operator: value}}`, with `and`, `or` "
        "and `not`; at most 16 levels and 256 operators. docs/query-language.md has the meaning of each operator.",
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"minLength": 1, "maxLength": MAX_FIELD_CHARACTERS, "pattern": r"^[^\x00]+$"},
        "properties": {"and": several, "or": several, "not": nested},
        "patternProperties": {"^(?!(?:and|or|not)$)": reference("schemas", "Condition")},
        "examples": [{"tier": {"lte": 2}, "or": [{"region": {"eq": "eu-west"}}, {"notes": {"match": "sign-off"}}]}],
    }


def schemas() -> Json:
    """Shapes, by name."""
    return {
        "Instant": {
            "description": "An RFC 3339 time with an offset and at most six digits of fraction (in a query string write"
            " `+` as `%2B`), or whole microseconds since 1970 UTC.",
            "oneOf": [{"type": "string", "format": "date-time"}, {**INT64, "maximum": OPEN_END - 1}],
            "examples": ["2026-06-01T12:00:00Z", 1780315200000000],
        },
        "Where": _where(),
        "Condition": _condition(),
    }


def parameters() -> Json:
    """Parameters of several operations, by name."""
    return {
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "description": "Makes a write repeatable: sent again with the same body, it gives the stored answer and "
            "writes nothing. With another body it is refused (422 `IDEMPOTENCY_KEY_REUSED`).",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        }
    }


def headers() -> Json:
    """Headers of answers, by name."""
    return {
        "RequestId": {
            "description": "Names this request in every log: the caller's `x-request-id` if it is plain (letters, "
            "digits, `.`, `_`, `:`, `-`, at most 128), else made.",
            "required": True,
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
        },
        "RetryAfter": {
            "description": "Seconds after which the same request may succeed.",
            "required": True,
            "schema": {"type": "integer", "format": "int64", "minimum": 1},
        },
        "Authenticate": {
            "description": "How to send a key.",
            "required": True,
            "schema": {"type": "string", "const": problems.CHALLENGE},
        },
        "Allow": {
            "description": "The methods that the path takes.",
            "required": True,
            "schema": {"type": "string", "pattern": "^[A-Z]+(?:, [A-Z]+)*$"},
        },
    }


_STATUS_HEADERS = {
    401: {"www-authenticate": "Authenticate"},
    405: {"allow": "Allow"},
    429: {"retry-after": "RetryAfter"},
    503: {"retry-after": "RetryAfter"},
}
STATUS_WORDS = {
    400: "A field breaks a rule; `pointer` says which.",
    401: "No API key, or none that holds.",
    403: "The key lacks a right or a space.",
    404: "It does not exist, or is not the caller's.",
    405: "The path does not take this method.",
    406: "The caller accepts no JSON.",
    408: "The body did not arrive in time.",
    413: "The request is larger than is accepted.",
    415: "The body is of a type or an encoding that is not read.",
    422: "Well-formed, and cannot be answered.",
    429: "As much is waiting as is accepted, or the key has used up its rate; try again.",
    500: "Our fault; `requestId` finds the cause in the log.",
    503: "A part is away or busy; try again.",
    504: "The deadline passed.",
}


def failure(status: int) -> Json:
    """The answer with *status*, a problem document."""
    found = {"x-request-id": "RequestId", **_STATUS_HEADERS.get(status, {})}
    return {
        "description": STATUS_WORDS[status],
        "headers": {name: reference("headers", component) for name, component in found.items()},
        "content": {problems.MEDIA_TYPE: {"schema": reference("schemas", "Problem")}},
    }


def security_schemes() -> Json:
    """The one way to show who asks."""
    return {
        "apiKey": {
            "type": "http",
            "scheme": "bearer",
            "description": "A key made by `telha keys create`. Decides tenant, spaces and rights.",
        }
    }

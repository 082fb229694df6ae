"""What one operation of the REST surface is: the single source for routing and for the OpenAPI document."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from telha_gateway.dto.shape import UUID_PATTERN
from telha_gateway.exchange import Exchange

Run = Callable[[Exchange], Awaitable[msgspec.Struct | bytes]]


@dataclass(frozen=True, slots=True)
class PathParameter:
    """
    The variable segment of a path.

    Attributes:
        name: As between the braces.
        schema: What it may be, in JSON Schema.
    """

    name: str
    description: str
    schema: Mapping[str, Any]


def an_id(description: str, name: str = "id") -> PathParameter:
    """The segment `{name}`, a canonical UUID."""
    return PathParameter(name, description, {"type": "string", "format": "uuid", "pattern": UUID_PATTERN})


@dataclass(frozen=True, slots=True)
class Operation:
    """
    One method on one path.

    Attributes:
        path: With `{name}` where *path_parameter* stands.
        id: For generated clients; unique.
        run: Answers; a struct is sent as JSON, bytes as *media_type*.
        answer: The struct that *run* returns; None if it returns bytes.
        body: The struct of the JSON body, if there is one.
        raw_types: Media types of a body that is passed on as it comes.
        parameters: The struct of the query parameters, if there are any.
        idempotent: Takes the header `Idempotency-Key`.
        body_optional: The body may be left out, which is the same as an empty object.
        path_parameter: The variable segment, if there is one.
        other_parameter: The second one, if there are two.
        statuses: Problem statuses of this operation beside those of every call.
        code: `code` of the faults that the gateway finds.
        secured: Needs a key.
        example: A body that works.
        leads_to: Operations that an answer gives a parameter for: by id, its name and the pointer to its value.
    """

    method: str
    path: str
    id: str
    tag: str
    summary: str
    run: Run
    answer: type[msgspec.Struct] | None = None
    description: str = ""
    body: type[msgspec.Struct] | None = None
    body_optional: bool = False
    raw_types: tuple[str, ...] = ()
    parameters: type[msgspec.Struct] | None = None
    idempotent: bool = False
    path_parameter: PathParameter | None = None
    other_parameter: PathParameter | None = None
    statuses: tuple[int, ...] = ()
    code: str = "INVALID_REQUEST"
    secured: bool = True
    media_type: str = "application/json"
    example: Mapping[str, Any] = field(default_factory=dict)
    leads_to: Mapping[str, tuple[str, str]] = field(default_factory=dict)

"""
What all JSON shapes share: spelling, bounds and the two base classes.

Rule 1: requests refuse unknown fields; `null` means the same as leaving an optional field out.
Rule 2: bounds here are those of the wire types; the planner's own rules stand in the planner alone.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from telha_gateway.field_paths import camel

MAX_OFFSET = 2**53 - 1

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=MAX_OFFSET)]
UInt32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Uuid = Annotated[
    str,
    Meta(
        description="A canonical lower-case UUID.",
        examples=["0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"],
        extra_json_schema={"format": "uuid"},
    ),
]
Micros = Annotated[int, Meta(description="Microseconds since 1970 UTC.", extra_json_schema={"format": "int64"})]
Instant = Annotated[
    int | str,
    Meta(
        description="An RFC 3339 time with an offset, or whole microseconds since 1970 UTC.",
        examples=["2026-06-01T12:00:00Z", 1780315200000000],
    ),
]
PlanHash = Annotated[str, Meta(description="`b3:` and 64 hexadecimal digits.")]


def spelled(name: str) -> str:
    """The JSON name of the attribute *name*."""
    return "class" if name == "span_class" else camel(name)


class Sent(msgspec.Struct, forbid_unknown_fields=True, rename=spelled, kw_only=True):
    """A shape that callers send."""


class Given(msgspec.Struct, omit_defaults=True, rename=spelled, kw_only=True):
    """A shape that callers get; only optional fields have defaults, and those are left out."""

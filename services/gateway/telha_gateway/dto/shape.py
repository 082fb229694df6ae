"""
What all JSON shapes share: spelling, bounds and the two base classes.

Rule 1: requests refuse unknown fields; `null` means the same as leaving an optional field out.
Rule 2: bounds here are those of the wire types; the planner's own rules stand in the planner alone.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from telha_gateway.field_paths import camel

MAX_OFFSET = 2**53 - 1
COMPONENT = "x-component"
"""In a shape's schema: stands for the component of this name, which openapi.py writes by hand."""

TOLD = "x-told"
"""In a shape's schema: words that win over those that bounds of the wire types make."""


def told(description: str, **words: Any) -> Meta:  # noqa: ANN401  # any JSON value
    """A description, and rules in words of JSON Schema, which the planner enforces and the document tells."""
    return Meta(description=description, extra_json_schema={TOLD: words})


UUID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
NAME_PATTERN = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
"""Not blank, no control characters."""
PROSE_PATTERN = r"^[^\x00]*[^\s\x00][^\x00]*$"
"""Not blank, no U+0000."""
GREATEST_FLOAT32 = 3.4028234663852886e38

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=MAX_OFFSET)]
UInt32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Float32 = Annotated[
    float,
    Meta(
        extra_json_schema={
            TOLD: {"minimum": -GREATEST_FLOAT32, "maximum": GREATEST_FLOAT32, "format": "float"},
        }
    ),
]
Uuid = Annotated[
    str,
    Meta(
        description="A canonical lower-case UUID.",
        examples=["0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"],
        extra_json_schema={TOLD: {"format": "uuid", "pattern": UUID_PATTERN}},
    ),
]
Name = Annotated[str, told("1 to 128 bytes.", minLength=1, maxLength=128, pattern=NAME_PATTERN)]
GivenName = Annotated[Name, Meta(min_length=1)]
"""A name for which the wire has no absence but the empty one, so that an empty one is refused here."""
Space = Annotated[GivenName, Meta(description="Default: the key's only space, or `main`.")]
Micros = Annotated[int, Meta(description="Microseconds since 1970 UTC.", extra_json_schema={"format": "int64"})]
Instant = Annotated[int | str, Meta(extra_json_schema={COMPONENT: "Instant"})]
InstantParameter = Annotated[str, Meta(extra_json_schema={COMPONENT: "Instant"})]
PageToken = Annotated[str, Meta(description="`nextPageToken` of the page before, with the same filters.")]
PageSize = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Tally = Annotated[int, Meta(ge=0)]
Replayed = Annotated[
    bool, Meta(description="The stored answer to an earlier call with the same idempotency key; nothing was written.")
]
PlanHash = Annotated[str, told("`b3:` and 64 hexadecimal digits.", pattern="^b3:[0-9a-f]{64}$")]


def spelled(name: str) -> str:
    """The JSON name of the attribute *name*."""
    return "class" if name == "span_class" else camel(name)


class Sent(msgspec.Struct, forbid_unknown_fields=True, rename=spelled, kw_only=True):
    """A shape that callers send."""


class Given(msgspec.Struct, omit_defaults=True, rename=spelled, kw_only=True):
    """A shape that callers get; only optional fields have defaults, and those are left out."""

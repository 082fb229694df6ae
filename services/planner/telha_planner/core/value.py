"""
What a single value may be, whatever it is part of: texts, names, numbers, vectors and ids.

The types of a request and every other door check with these; `request.py` states the rule of its kind. Each
refuses with the field it was told and the rule, and repairs nothing.
"""

import math
import re
from collections.abc import Sequence

from .errors import RequestInvalid

MAX_NAME_BYTES = 128
MAX_DIMENSIONS = 4096

_GREATEST_FLOAT32 = (2.0 - 2.0**-23) * 2.0**127
_ROUNDED_TO_ZERO = 2.0**-150
"""The greatest magnitude that is 0 as a 32-bit float."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def check_text(place: str, text: str) -> None:
    """Refuse what UTF-8 or a database cannot hold: lone surrogates and U+0000."""
    if "\0" in text:
        raise RequestInvalid(field=place, rule="must not contain U+0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RequestInvalid(field=place, rule="must not contain lone surrogates") from None


def check_name(place: str, name: str, max_bytes: int = MAX_NAME_BYTES) -> None:
    """Refuse a name (type, kind, model, space) that is blank, has controls or is too long."""
    check_text(place, name)
    if not name.strip():
        raise RequestInvalid(field=place, rule="must not be blank")
    if _CONTROL.search(name):
        raise RequestInvalid(field=place, rule="must not contain control characters")
    if len(name.encode()) > max_bytes:
        raise RequestInvalid(field=place, rule=f"must be at most {max_bytes:,} bytes")


def check_range(place: str, value: int | None, low: int, high: int) -> None:
    """Refuse an integer outside [*low*, *high*]; None passes."""
    if value is not None and not low <= value <= high:
        raise RequestInvalid(field=place, rule=f"must be between {low:,} and {high:,}")


def check_weight(place: str, weight: float) -> None:
    """Refuse a score that is not a finite number of at least 0."""
    if not math.isfinite(weight) or weight < 0:
        raise RequestInvalid(field=place, rule="must be a finite number of at least 0")


def check_share(place: str, share: float) -> None:
    """Refuse a share outside [0, 1]."""
    if not 0 <= share <= 1:
        raise RequestInvalid(field=place, rule="must be at least 0 and at most 1")


def check_vector(place: str, values: Sequence[float]) -> None:
    """Refuse a vector that is empty, too long, not finite or zero; it counts as the 32-bit floats that it becomes."""
    if not 1 <= len(values) <= MAX_DIMENSIONS:
        raise RequestInvalid(field=place, rule=f"must hold 1 to {MAX_DIMENSIONS:,} values")
    for index, value in enumerate(values):
        if not abs(value) <= _GREATEST_FLOAT32:
            raise RequestInvalid(field=f"{place}[{index}]", rule="must be finite as a 32-bit float")
    if not any(abs(value) > _ROUNDED_TO_ZERO for value in values):
        raise RequestInvalid(field=place, rule="must not be the zero vector")


def parse_uuid(place: str, text: str) -> bytes:
    """
    Read a canonical lower-case UUID as its 16 bytes.

    Raises:
        RequestInvalid: Any other spelling; ids are compared byte by byte, so one id has one spelling.
    """
    if not _UUID.fullmatch(text):
        raise RequestInvalid(field=place, rule="must be a lower-case UUID")
    return bytes.fromhex(text.replace("-", ""))


def format_uuid(value: bytes) -> str:
    """The canonical lower-case spelling of 16 bytes; `parse_uuid` reads it back."""
    digits = value.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

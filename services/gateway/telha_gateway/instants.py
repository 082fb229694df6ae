"""
Instants as callers write them: an RFC 3339 string with an offset, or whole microseconds since 1970 UTC.

Rule: what cannot be held exactly in int64 microseconds is refused, never rounded.
"""

import re
from datetime import UTC, datetime, timedelta

from telha_gateway.faults import RequestFault

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SHAPE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))?"
)
_WHOLE = re.compile(r"-?[0-9]{1,19}")


def instant(value: int | str, pointer: str) -> int:
    """
    Microseconds since 1970 UTC of *value*.

    Raises:
        RequestFault: Not RFC 3339, without offset, finer than a microsecond, or no instant of the calendar.
    """
    if isinstance(value, int):
        if not INT64_MIN <= value <= INT64_MAX:
            raise RequestFault(pointer, "must fit 64 bits of microseconds")
        return value
    shape = _SHAPE.fullmatch(value)
    if shape is None:
        raise RequestFault(pointer, "must be an RFC 3339 time such as 2026-06-01T12:00:00Z, or whole microseconds")
    year, month, day, hour, minute, second, fraction, zulu, sign, offset_hours, offset_minutes = shape.groups()
    if zulu is None and sign is None:
        raise RequestFault(pointer, "must carry an offset, such as Z or +02:00")
    if fraction is not None and len(fraction) > 6:
        raise RequestFault(pointer, "must not be finer than a microsecond")
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        raise RequestFault(pointer, "must be an instant that exists") from None
    micros = (moment - _EPOCH) // _MICROSECOND + int((fraction or "").ljust(6, "0"))
    if sign is None:
        return micros
    if int(offset_hours) > 23 or int(offset_minutes) > 59:
        raise RequestFault(pointer, "must be an instant that exists")
    shift = (int(offset_hours) * 60 + int(offset_minutes)) * 60_000_000
    return micros - shift if sign == "+" else micros + shift


def parameter_instant(text: str, pointer: str) -> int:
    """As `instant`, for a query parameter, where microseconds are digits in a string."""
    return instant(int(text) if _WHOLE.fullmatch(text) else text, pointer)

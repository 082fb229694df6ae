"""
Instants on the command line: RFC 3339 with an offset, or whole microseconds since 1970 UTC.

Rule 1: an instant means one thing. One without offset, with digits below a microsecond or off the calendar is refused,
never guessed or rounded.
Rule 2: a year, a date without dashes and a count of seconds or milliseconds are refused: as microseconds they would be
an instant of early 1970 that nobody means.
"""

import re
from datetime import UTC, datetime, timedelta

from .problems import UsageInvalid

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_RFC3339 = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})", flags=re.ASCII)
_NAIVE = re.compile(r"\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?", flags=re.ASCII)
_OPEN_END = 2**63 - 1
_LEAST_MEANT = 10**13
"""Milliseconds since 1970 have thirteen digits until the year 2286, seconds ten."""


def parse(field: str, text: str) -> int:
    """
    Read *text* as µs since 1970 UTC, int64; *field* names it in errors.

    Raises:
        UsageInvalid: See the module's rules.
    """
    if re.fullmatch(r"-?\d{1,19}", text, flags=re.ASCII):
        instant = number(field, int(text))
        if 0 < instant < _LEAST_MEANT:
            rule = f"must be an instant such as 2026-06-30T12:00:00Z; in microseconds, {text} is {show(instant)}"
            raise UsageInvalid(field, rule)
        return instant
    if _NAIVE.fullmatch(text):
        raise UsageInvalid(
            field, "must say its offset from UTC, as in 2026-06-30T12:00:00Z or 2026-06-30T12:00:00+01:00"
        )
    parts = _RFC3339.fullmatch(text)
    if parts is None:
        rule = "must be an instant such as 2026-06-30T12:00:00Z, or microseconds since 1970"
        raise UsageInvalid(field, rule)
    date, clock, fraction, offset = parts.groups()
    if fraction is not None and len(fraction) > 6:
        raise UsageInvalid(field, "must not be finer than a microsecond")
    zone = "+00:00" if offset in {"Z", "z"} else offset
    try:
        moment = datetime.fromisoformat(f"{date}T{clock}.{(fraction or '').ljust(6, '0')}{zone}")
        return (moment - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        raise UsageInvalid(field, "must exist on the calendar and the clock") from None


def number(field: str, instant: int) -> int:
    """
    *instant*, µs since 1970 UTC as a program wrote it; rule 2 is for people alone.

    Raises:
        UsageInvalid: It is no int64, or the end of time.
    """
    if not -_OPEN_END - 1 <= instant < _OPEN_END:
        raise UsageInvalid(field, "must be within 64 bits of microseconds")
    return instant


def show(instant: int | None, *, to_the_second: bool = False) -> str:
    """*instant* (µs since 1970 UTC) as RFC 3339 in UTC, exact or cut; the bare number outside the years 1 to 9999."""
    if instant is None:
        return "open"
    try:
        moment = _EPOCH + timedelta(microseconds=instant)
    except OverflowError:
        return str(instant)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S") if moment.year >= 1000 else moment.isoformat(timespec="seconds")[:19]
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond and not to_the_second else ""
    return f"{text}{fraction}Z"

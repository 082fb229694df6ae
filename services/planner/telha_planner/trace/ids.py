"""
Trace ids: UUIDv7 (RFC 9562, section 5.7), so that ids sort by time and a store's index grows at one end.

Rule 1: ids of one source strictly increase, also when the clock stands still or steps back.
Rule 2: an id names the spool that its record goes to, by 16 of its random bits: whoever does not find the trace can ask
how far that spool is.
"""

from collections.abc import Callable
from uuid import UUID

_FRACTION_BITS = 12
_RANDOM_BITS = 62
_TAG_BITS = 16
_VERSION = 7


class TraceIds:
    """Makes trace ids from an injected clock and randomness. Not for several threads at once."""

    def __init__(
        self, now_us: Callable[[], int], random_bytes: Callable[[int], bytes], spool: str | None = None
    ) -> None:
        """
        Make a source of ids.

        Args:
            now_us: Microseconds since 1970 UTC, ≥ 0.
            random_bytes: That many unpredictable bytes.
            spool: Name of the spool, a UUID; None: the records go to no spool, and the bits are random.
        """
        self._now_us = now_us
        self._random_bytes = random_bytes
        self._tag = None if spool is None else tag_of(spool)
        self._last = -1

    def next(self) -> str:
        """The next id, in canonical lower-case spelling."""
        milliseconds, microseconds = divmod(self._now_us(), 1000)
        # Method 3 of section 6.2: the 12 bits behind the millisecond hold its fraction.
        fraction = (microseconds << _FRACTION_BITS) // 1000
        self._last = max(milliseconds << _FRACTION_BITS | fraction, self._last + 1)
        milliseconds, fraction = divmod(self._last, 1 << _FRACTION_BITS)
        noise = int.from_bytes(self._random_bytes(8)) >> 2
        if self._tag is not None:
            noise = noise >> _TAG_BITS << _TAG_BITS | self._tag
        value = milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << _RANDOM_BITS | noise
        return str(UUID(int=value))


def tag_of(spool: str) -> int:
    """The 16 bits by which ids name the spool *spool*: the first of its own name, which is a random UUID."""
    return UUID(spool).int >> 112


def made_us(trace_id: str) -> int | None:
    """When *trace_id* was made, µs since 1970 UTC, to the millisecond below; None if it does not say."""
    number = UUID(trace_id)
    return (number.int >> 80) * 1000 if number.version == _VERSION else None

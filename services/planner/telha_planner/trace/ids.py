"""
Trace ids: UUIDv7 (RFC 9562, section 5.7), so that ids sort by time and a store's index grows at one end.

Rule: ids of one source strictly increase, also when the clock stands still or steps back.
"""

from collections.abc import Callable
from uuid import UUID

_FRACTION_BITS = 12
_RANDOM_BITS = 62


class TraceIds:
    """Makes trace ids from an injected clock and randomness. Not for several threads at once."""

    def __init__(self, now_us: Callable[[], int], random_bytes: Callable[[int], bytes]) -> None:
        """
        Make a source of ids.

        Args:
            now_us: Microseconds since 1970 UTC, ≥ 0.
            random_bytes: That many unpredictable bytes.
        """
        self._now_us = now_us
        self._random_bytes = random_bytes
        self._last = -1

    def next(self) -> str:
        """The next id, in canonical lower-case spelling."""
        milliseconds, microseconds = divmod(self._now_us(), 1000)
        # Method 3 of section 6.2: the 12 bits behind the millisecond hold its fraction.
        fraction = (microseconds << _FRACTION_BITS) // 1000
        self._last = max(milliseconds << _FRACTION_BITS | fraction, self._last + 1)
        milliseconds, fraction = divmod(self._last, 1 << _FRACTION_BITS)
        noise = int.from_bytes(self._random_bytes(8)) >> 2
        value = milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << _RANDOM_BITS | noise
        return str(UUID(int=value))

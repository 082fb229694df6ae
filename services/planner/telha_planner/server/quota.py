"""
Rate limits: so many calls a minute for each key, per surface and per process (requirement C9).

A token bucket: a key that has been quiet may spend a minute's calls at once, then calls at the steady rate. Unknown
credentials have buckets too, so guessing keys is limited like calling.
"""

from collections import OrderedDict
from dataclasses import dataclass

KEYS = 10_000
"""Buckets kept; the least recently used is forgotten, which can only be generous to it."""


@dataclass(slots=True)
class _Bucket:
    calls: float
    at: float


class Quota:
    """
    The quota of one surface.

    Args:
        calls_per_minute: 0 means unlimited.
    """

    def __init__(self, calls_per_minute: int) -> None:
        self._capacity = float(calls_per_minute)
        self._per_second = calls_per_minute / 60
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def spend(self, credential: str, now: float) -> int:
        """
        Spend one call of *credential* at *now* (seconds, monotonic).

        Returns:
            0 if the call may go on, else the milliseconds after which one may.
        """
        if not self._capacity:
            return 0
        bucket = self._buckets.pop(credential, None) or _Bucket(self._capacity, now)
        bucket.calls = min(self._capacity, bucket.calls + (now - bucket.at) * self._per_second)
        bucket.at = now
        self._buckets[credential] = bucket
        while len(self._buckets) > KEYS:
            self._buckets.popitem(last=False)
        if bucket.calls < 1:
            return max(1, round((1 - bucket.calls) / self._per_second * 1000))
        bucket.calls -= 1
        return 0

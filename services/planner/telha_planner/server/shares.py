"""
Bytes that callers may hold at one moment, shared so that room is always left for the next.

Rule: a tenant that holds something already gets more only while it holds no more than what is free. Alone, it has half;
with *n* others that take what they can, each has one part in *n* + 1 and one part is free (dynamic thresholds).
"""

from collections import Counter
from collections.abc import Hashable

from telha_planner.core.errors import Overloaded


class Shares:
    """
    Room for *total* bytes.

    Args:
        retry_after_ms: What a refusal advises.
    """

    def __init__(self, total: int, retry_after_ms: int) -> None:
        self.total = total
        self.held = 0
        self._of: Counter[Hashable] = Counter()
        self._retry_after_ms = retry_after_ms

    def take(self, tenant: Hashable, size: int, *, first: bool = False) -> None:
        """
        Let *tenant* hold *size* more bytes.

        Args:
            first: It holds nothing else: then it may have all that is free.

        Raises:
            Overloaded: It may not; nothing was taken.
        """
        free = self.total - self.held
        own = self._of[tenant]
        if size > free or (own and not first and own + size > free):
            raise Overloaded(retry_after_ms=self._retry_after_ms)
        self.held += size
        self._of[tenant] += size

    def give_back(self, tenant: Hashable, size: int) -> None:
        """*tenant* holds *size* bytes less."""
        self.held -= size
        self._of[tenant] -= size
        if not self._of[tenant]:
            del self._of[tenant]

"""
Traces go when they are too old, or when there are too many: `[writer] retention_days` and `retention_max_mb`.

Rule 1: oldest first, by age or by arrival (ageing.py). Rule 2: in small steps with pauses, so that intake goes on.
Rule 3: a store that refuses is tried again at the next round.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from telha_runtime import backoff

from . import ageing
from .ageing import Removed
from .store import Store, StoreFailed

_DAY_US: Final = 86_400_000_000
_MB: Final = 1024 * 1024
_AT_ONCE: Final = 200
_PAUSE_S: Final = 0.02
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Retention:
    """
    The removing loop; does nothing if neither bound is set.

    Attributes:
        days: Traces recorded longer ago go; 0 keeps all.
        max_mb: While the records are more MiB together, those that arrived first go; 0 keeps all.
        every_s: Pause between two rounds.
        removed: Traces removed since the start.
    """

    store: Store
    days: int
    max_mb: int
    now_us: Callable[[], int]
    every_s: float = 60.0
    removed: int = 0

    async def run(self, stop: asyncio.Event) -> None:
        """Remove until *stop* is set."""
        if not self.days and not self.max_mb:
            return
        shrinkable = False
        while not stop.is_set():
            try:
                if not shrinkable:
                    await asyncio.to_thread(self.store.make_shrinkable)
                    shrinkable = True
                await self.sweep(stop)
            except StoreFailed as fault:
                _log.warning("traces that are to go are kept for now: %s", fault)
            await backoff.sleep(self.every_s, stop)

    async def sweep(self, stop: asyncio.Event) -> int:
        """
        One round; returns how many traces it removed.

        Raises:
            StoreFailed: What is left goes in the next round.
        """
        before = self.removed
        letters = 0
        if self.days:
            before_us = self.now_us() - self.days * _DAY_US
            letters = await self._steps(lambda: ageing.remove_before(self.store, before_us, _AT_ONCE), stop)
        if self.max_mb:
            excess = await asyncio.to_thread(ageing.volume, self.store) - self.max_mb * _MB
            while excess > 0 and not stop.is_set():
                gone = await asyncio.to_thread(ageing.remove_bytes, self.store, excess, _AT_ONCE, self.now_us())
                self.removed += gone.traces
                excess -= gone.bytes
                if not gone.traces:
                    break
                await backoff.sleep(_PAUSE_S, stop)
        count = self.removed - before
        if count or letters:
            await asyncio.to_thread(self.store.free)
            _log.info("retention removed %d traces and %d dead letters", count, letters)
        return count

    async def _steps(self, step: Callable[[], Removed], stop: asyncio.Event) -> int:
        letters = 0
        while not stop.is_set():
            gone = await asyncio.to_thread(step)
            self.removed += gone.traces
            letters += gone.dead_letters
            if max(gone.traces, gone.dead_letters) < _AT_ONCE:
                break
            await backoff.sleep(_PAUSE_S, stop)
        return letters

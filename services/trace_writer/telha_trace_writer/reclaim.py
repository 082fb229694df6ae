"""
Keep the stream tidy: take over stale deliveries, trim what is persisted, forget consumers that are gone.

Rule 1: nothing here is needed for a healthy writer to be right; it is what heals after one died.
Rule 2: what was taken over once already and is still not acknowledged may be what kills writers: from then on entries
are taken one at a time, so that none is taken for poison because it lay beside some.
"""

import asyncio
import itertools
import logging
from dataclasses import dataclass, field
from typing import Final

from telha_runtime import backoff
from telha_runtime.redis import AWAY

from .intake import Intake
from .stream import Backlog, Stream

_TRIM_EVERY_S: Final = 1.0
_SUSPECT: Final = 2
"""Deliveries after which an entry is taken alone."""
_GONE_MS: Final = 3_600_000
"""A consumer without pending entries that has not read for this long belongs to a process that is gone."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Reclaim:
    """
    The healing loop.

    Attributes:
        idle_ms: A delivery that was not acknowledged for this long is stale.
        claimed: Deliveries taken over since the start.
        backlog: The stream as it was lately.
    """

    stream: Stream
    intake: Intake
    idle_ms: int
    batch_entries: int
    claimed: int = 0
    backlog: Backlog = field(default_factory=Backlog)

    async def run(self, stop: asyncio.Event) -> None:
        """Heal until *stop* is set."""
        every_s = min(_TRIM_EVERY_S, self.idle_ms / 2000)
        next_claim_s = 0.0
        loop = asyncio.get_running_loop()
        while not stop.is_set():
            try:
                if loop.time() >= next_claim_s:
                    next_claim_s = loop.time() + self.idle_ms / 2000
                    await self.claim_stale(stop)
                    await self.forget_consumers()
                await self.stream.trim()
                self.backlog = await self.stream.backlog()
            except AWAY as fault:
                # The consumer reports an outage and makes the group again.
                _log.debug("not tidied: %s", fault)
            await backoff.sleep(every_s, stop)

    async def claim_stale(self, stop: asyncio.Event) -> None:
        """
        Take over every stale delivery and settle it.

        Raises:
            RedisError, OSError: What was not settled stays pending.
        """
        start = "-"
        while not stop.is_set():
            async with self.intake.turn:
                stale = await self.stream.stale(start, self.idle_ms, self.batch_entries)
                if not stale:
                    break
                together = list(itertools.takewhile(lambda entry: entry.deliveries < _SUSPECT, stale)) or stale[:1]
                _, deliveries = await self.stream.claim(stale[0].entry_id, self.idle_ms, len(together))
                self.claimed += len(deliveries)
                if deliveries:
                    await self.intake.settle(deliveries, stop)
            start = f"({together[-1].entry_id.decode()}"
        if self.intake.held:
            held = sorted(self.intake.held)
            self.intake.held -= set(held) - await self.stream.pending_of(held)

    async def forget_consumers(self) -> None:
        """Remove consumers of processes that are long gone and owe nothing."""
        stream = self.stream
        for found in await stream.redis.xinfo_consumers(stream.key, stream.group):
            if found["pending"] == 0 and found["idle"] > _GONE_MS and found["name"] != stream.consumer.encode():
                await stream.redis.xgroup_delconsumer(stream.key, stream.group, found["name"])

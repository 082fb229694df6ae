"""
Read new entries and take them in, batch after batch, until told to stop.

Rule 1: the blocking read has a connection of its own, and blocks for less than that connection waits for a reply.
Rule 2: a batch in hand is finished before the stop; if the store refuses it, it is tried again, not dropped.
Rule 3: a group that vanished (FLUSHALL, failover) is made again from the oldest entry; repeats cost nothing.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis
from telha_runtime.backoff import Backoff
from telha_runtime.redis import AWAY, durability_warnings

from .intake import Intake
from .stream import Stream, group_is_gone

BLOCK_MS: Final = 500
"""How long a read waits for entries; also the longest that a stop waits for an idle reader."""

REPLY_WITHIN_S: Final = BLOCK_MS / 1000 + 5
"""Reply timeout of the reader's connection."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Consumer:
    """The reading loop; *reader* is a client that nothing else uses."""

    stream: Stream
    reader: Redis
    intake: Intake
    batch_entries: int

    async def run(self, stop: asyncio.Event) -> None:
        """Consume until *stop* is set."""
        backoff = Backoff(stop)
        ready = False
        warned: list[str] = []
        while not stop.is_set():
            try:
                if not ready:
                    await self.stream.ensure_group()
                    ready = True
                    warned = await self._warn(warned)
                deliveries = await self.stream.read(self.reader, self.batch_entries, BLOCK_MS)
                if deliveries:
                    async with self.intake.turn:
                        await self.intake.settle(deliveries, stop)
            except AWAY as fault:
                ready = False
                if group_is_gone(fault):
                    _log.warning("the consumer group is gone and will be made again")
                elif not backoff.failing:
                    _log.warning("Redis is away: %s", fault)
                await backoff.pause()
            else:
                if backoff.failing:
                    _log.info("Redis answers again")
                backoff.reset()

    async def _warn(self, before: list[str]) -> list[str]:
        """Say why this Redis may lose records, unless it was said *before*: after a failover it may be another."""
        warnings = await durability_warnings(self.stream.redis)
        if warnings != before:
            for warning in warnings:
                _log.warning("%s", warning)
        return warnings

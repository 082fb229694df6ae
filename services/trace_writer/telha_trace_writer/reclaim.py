"""
Keep the stream tidy: take over stale deliveries, trim what is persisted, forget consumers that are gone.

Rule: nothing here is needed for a healthy writer to be right; it is what heals after one died.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from telha_runtime import backoff
from telha_runtime.redis import AWAY

from .intake import Intake
from .stream import Stream

_TRIM_EVERY_S: Final = 1.0
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
    """

    stream: Stream
    intake: Intake
    idle_ms: int
    batch_entries: int
    claimed: int = 0

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
        cursor = b"0-0"
        while not stop.is_set():
            async with self.intake.turn:
                cursor, deliveries = await self.stream.claim(cursor, self.idle_ms, self.batch_entries)
                self.claimed += len(deliveries)
                if deliveries:
                    await self.intake.settle(deliveries, stop)
            if cursor == b"0-0":
                return

    async def forget_consumers(self) -> None:
        """Remove consumers of processes that are long gone and owe nothing."""
        stream = self.stream
        for found in await stream.redis.xinfo_consumers(stream.key, stream.group):
            if found["pending"] == 0 and found["idle"] > _GONE_MS and found["name"] != stream.consumer.encode():
                await stream.redis.xgroup_delconsumer(stream.key, stream.group, found["name"])

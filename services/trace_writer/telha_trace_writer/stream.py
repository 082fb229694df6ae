"""
The names of the stream and what is done with it: group, tail, acknowledgement, look-up.

Rule 1: an entry is acknowledged only after what it says is durable elsewhere.
Rule 2: nothing that is not acknowledged is trimmed. What is goes at once, so that an entry that is held for long keeps
no other in the stream.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import ResponseError
from telha_runtime import frame
from telha_runtime.frame import Frame, FrameMalformed, FrameUnknown

_PAGE: Final = 256
_UUID7: Final = 7
_TIME_AT: Final = 80
_SKEW_MS: Final = 60_000
"""How far the clocks of planners and of Redis may be apart for a look-up to find an entry."""

_MOST_SEARCHED: Final = 50_000
"""Entries that a look-up reads at most; a backlog beyond this makes it answer "pending"."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """
    One entry that Redis gave to this consumer.

    Attributes:
        fields: None if the entry was deleted from the stream since.
        deliveries: How often it has been given to some consumer, this time included.
    """

    entry_id: bytes
    fields: Mapping[bytes, bytes] | None
    deliveries: int


@dataclass(frozen=True, slots=True)
class Stale:
    """An entry that was delivered *deliveries* times and not acknowledged."""

    entry_id: bytes
    deliveries: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many *entries* the stream holds, and how many of them were delivered and are *pending*."""

    entries: int = 0
    pending: int = 0


class BacklogTooLong(Exception):
    """The stream is longer than a look-up reads."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream, seen by one consumer of its group."""

    redis: Redis
    key: str
    group: str
    consumer: str

    @property
    def dead_key(self) -> str:
        """Key of the dead-letter stream."""
        return f"{self.key}:dead"

    async def ensure_group(self) -> None:
        """Make stream and group if they are not there. The group begins at the oldest entry."""
        try:
            await self.redis.xgroup_create(self.key, self.group, id="0", mkstream=True)
        except ResponseError as fault:
            if not str(fault).startswith("BUSYGROUP"):
                raise

    async def read(self, reader: Redis, count: int, block_ms: int) -> list[Delivery]:
        """New entries, on *reader*, whose connection is for this alone; empty after *block_ms* without any."""
        reply = await reader.xreadgroup(self.group, self.consumer, {self.key: ">"}, count=count, block=block_ms)
        streams = cast("Sequence[Any]", reply or ())
        return [Delivery(entry_id, fields, 1) for _, entries in streams for entry_id, fields in entries]

    async def stale(self, start: str, idle_ms: int, count: int) -> list[Stale]:
        """The first *count* entries from *start* on that were not acknowledged for *idle_ms*; counts no delivery."""
        found = await self.redis.xpending_range(self.key, self.group, min=start, max="+", count=count, idle=idle_ms)
        entries = cast("Sequence[Any]", found)
        return [Stale(entry["message_id"], entry["times_delivered"]) for entry in entries]

    async def hold(self, entry_ids: Sequence[bytes]) -> None:
        """
        Leave these entries pending as if they had been delivered once: nothing is wrong with them.

        Else each look by a writer that does not know their version would bring them nearer to being taken for poison.
        """
        if entry_ids:
            ids: list[Any] = list(entry_ids)
            await self.redis.xclaim(self.key, self.group, self.consumer, 0, ids, retrycount=1, justid=True)

    async def pending_of(self, entry_ids: Sequence[bytes]) -> set[bytes]:
        """Those of *entry_ids* that nobody has acknowledged."""
        pipeline = self.redis.pipeline(transaction=False)
        for entry_id in entry_ids:
            pipeline.xpending_range(self.key, self.group, min=entry_id, max=entry_id, count=1)
        return {entry["message_id"] for found in await pipeline.execute() for entry in found}

    async def claim(self, start: bytes, idle_ms: int, count: int) -> tuple[bytes, list[Delivery]]:
        """
        Take over the first *count* entries from *start* on that were delivered and not acknowledged for *idle_ms*.

        Returns:
            Where to go on (`0-0` at the end), and the entries.
        """
        # Redis 6.2 answers two parts, later ones a third with the ids of deleted entries.
        reply = cast(
            "Sequence[Any]",
            await self.redis.xautoclaim(self.key, self.group, self.consumer, idle_ms, start_id=start, count=count),
        )
        entries = [(entry_id, fields) for entry_id, fields in reply[1] if entry_id is not None]
        if not entries:
            return reply[0], []
        pipeline = self.redis.pipeline(transaction=False)
        for entry_id, _ in entries:
            pipeline.xpending_range(self.key, self.group, min=entry_id, max=entry_id, count=1)
        counts = [found[0]["times_delivered"] if found else 1 for found in await pipeline.execute()]
        return reply[0], [
            Delivery(entry_id, fields, times) for (entry_id, fields), times in zip(entries, counts, strict=True)
        ]

    async def acknowledge(self, entry_ids: Sequence[bytes]) -> None:
        """Tell Redis that these entries are done, and remove them."""
        if entry_ids:
            pipeline = self.redis.pipeline(transaction=False)
            pipeline.xack(self.key, self.group, *entry_ids)
            pipeline.xdel(self.key, *entry_ids)
            await pipeline.execute()

    async def backlog(self) -> Backlog:
        """How long the stream is."""
        pending = await self.redis.xpending(self.key, self.group)
        return Backlog(await self.redis.xlen(self.key), int(pending["pending"]))

    async def trim(self) -> int:
        """Remove what is acknowledged; returns how many entries went."""
        # The order matters: whatever is delivered after the first question is not below its answer, and what was
        # delivered before and is not pending at the second has been acknowledged.
        groups = cast("Sequence[Any]", await self.redis.xinfo_groups(self.key))
        last = next((found["last-delivered-id"] for found in groups if found["name"] == self.group.encode()), b"0-0")
        pending = await self.redis.xpending(self.key, self.group)
        oldest = pending["min"] if pending["pending"] else _after(last)
        return int(await self.redis.xtrim(self.key, minid=oldest.decode(), approximate=False))

    async def find(self, tenant: str, trace_id: str) -> Frame | None:
        """
        The frame of *trace_id* among what is not acknowledged yet, from about the instant on at which it was made.

        Raises:
            BacklogTooLong: There is more than a look-up reads.
        """
        number, searched = UUID(trace_id), 0
        made_ms = number.int >> _TIME_AT if number.version == _UUID7 else 0
        oldest = str(max(0, made_ms - _SKEW_MS))
        while True:
            entries = cast("Sequence[Any]", await self.redis.xrange(self.key, min=oldest, count=_PAGE))
            for _, fields in entries:
                found = _frame(fields)
                if found is not None and found.trace_id == trace_id and found.tenant == tenant:
                    return found
            searched += len(entries)
            if len(entries) < _PAGE:
                return None
            if searched >= _MOST_SEARCHED:
                raise BacklogTooLong
            oldest = f"({entries[-1][0].decode()}"


def group_is_gone(fault: Exception) -> bool:
    """Whether *fault* says that stream or group vanished, as after FLUSHALL or a failover to an empty replica."""
    return isinstance(fault, ResponseError) and str(fault).startswith(("NOGROUP", "UNBLOCKED"))


def _frame(fields: Mapping[bytes, bytes]) -> Frame | None:
    try:
        return frame.decode(fields)
    except (FrameMalformed, FrameUnknown):
        return None


def _after(entry_id: bytes) -> bytes:
    milliseconds, _, number = entry_id.decode().partition("-")
    return f"{milliseconds}-{int(number) + 1}".encode()

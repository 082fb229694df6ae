"""
Without a spool (`trace.durability = "stream"`): a call is answered once Redis has its record.

    append ──► waiting ──► one task: XADD (many appends, one round trip) ──► answered

For planners without a disk. Rule 1: `append` returns after Redis acknowledged the record; what Redis then forgets is
lost, so it must keep an append-only file. Rule 2: a Redis that is away, refuses or holds too many entries refuses the
call; nothing waits longer than one reply may take.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio import Redis
from telha_runtime import frame
from telha_runtime.frame import Frame
from telha_runtime.redis import AWAY

from telha_planner.core.errors import TraceBacklogFull, Unavailable

from .envelope import tenant_of

REPLY_WITHIN_S: Final = 2.0
"""How long Redis may take for a reply; calls wait for it."""

_BATCH_ENTRIES: Final = 256
_PART: Final = "the trace stream"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Append:
    content: bytes
    done: "asyncio.Future[Exception | None]"


class StreamRecords:
    """
    Records that go to the stream at once; belongs to one event loop.

    Attributes:
        sent: Records that Redis took since the start.
        refused: Records that it did not take.
    """

    def __init__(self, redis: Redis, stream: str, stream_max_entries: int, planner: str) -> None:
        """
        Prepare; `start` runs it.

        Args:
            redis: A client of its own, with a short reply timeout.
            stream: Key of the stream.
            stream_max_entries: Nothing is taken while the stream holds more.
            planner: Stands where a spool's name would.
        """
        self._redis = redis
        self._stream = stream
        self._stream_max_entries = stream_max_entries
        self._planner = planner
        self._next_seq = 1
        self._waiting: list[_Append] = []
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.sent = 0
        self.refused = 0

    def start(self) -> None:
        """Begin to send."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """End; calls are over by then."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def append(self, record: bytes, trace_id: str) -> bool:
        """
        Hand *record* to Redis; always true.

        Raises:
            Unavailable: Redis is away or refuses; the record may have arrived all the same.
            TraceBacklogFull: The stream holds too many entries.
        """
        content = frame.encode(Frame(self._planner, self._next_seq, trace_id, tenant_of(record), record))
        self._next_seq += 1
        append = _Append(content, asyncio.get_running_loop().create_future())
        self._waiting.append(append)
        self._arrived.set()
        fault = await append.done
        if fault is not None:
            self.refused += 1
            raise fault
        self.sent += 1
        return True

    def get(self, tenant: str, trace_id: str) -> bytes | None:  # noqa: ARG002  # nothing is kept here
        """Nothing: the trace writer finds what is in the stream."""
        return None

    def erase(self, tenant: str, trace_id: str) -> None:
        """Nothing is kept here."""

    def roll(self) -> None:
        """Nothing is kept here."""

    def spools(self) -> list[str]:
        """None: there is no spool."""
        return []

    async def _run(self) -> None:
        while True:
            await self._arrived.wait()
            batch, self._waiting = self._waiting[:_BATCH_ENTRIES], self._waiting[_BATCH_ENTRIES:]
            if not self._waiting:
                self._arrived.clear()
            for append, fault in zip(batch, await self._send(batch), strict=True):
                if not append.done.done():
                    append.done.set_result(fault)

    async def _send(self, batch: Sequence[_Append]) -> list[Exception | None]:
        """What to raise for each of *batch*; None for those that Redis took."""
        try:
            if await self._redis.xlen(self._stream) >= self._stream_max_entries:
                _log.warning("the trace stream holds %d entries; %d calls fail", self._stream_max_entries, len(batch))
                return [TraceBacklogFull() for _ in batch]
            pipeline = self._redis.pipeline(transaction=False)
            for append in batch:
                pipeline.xadd(self._stream, {frame.FIELD: append.content})
            # Errors are looked for by hand: the driver's own message would quote the record.
            replies: Sequence[Any] = await pipeline.execute(raise_on_error=False)
        except AWAY as fault:
            replies = [fault] * len(batch)
        refusals = [reply for reply in replies if isinstance(reply, Exception)]
        if refusals:
            _log.warning("Redis does not take %d traces (%s)", len(refusals), type(refusals[0]).__name__)
        return [Unavailable(part=_PART) if isinstance(reply, Exception) else None for reply in replies]

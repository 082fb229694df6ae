"""
Carry durable records from the spool to the stream, and forget those that the trace writer has.

    call ──► spool ──► ship: XADD ──► awaiting ──► confirm: the writer has it? ──► forgotten
                          ▲                            │ no, and overdue
                          └────────────────────────────┘

Rule 1: calls wait for the spool alone. Redis and the writer may be away for as long as the spool has room.
Rule 2: what Redis acknowledged may still be forgotten by it, so a record counts as delivered when the writer says so;
an overdue one is sent again. The writer stores a trace once, however often it comes.
Rule 3: records leave in the order in which they were appended.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from typing import Any, Final, Protocol

from redis.asyncio import Redis
from telha_runtime import frame
from telha_runtime.backoff import Backoff, sleep
from telha_runtime.frame import Frame
from telha_runtime.redis import AWAY

from telha_planner.core.errors import Unavailable

from .spool import Entry, Spool

_BATCH_ENTRIES: Final = 256
_BATCH_BYTES: Final = 1024 * 1024
_ASKED_AT_ONCE: Final = 1000
_LONGEST_ROUND_S: Final = 1.0
_LONGEST_OVERDUE_S: Final = 600.0
_log = logging.getLogger(__name__)


class Writer(Protocol):
    """What is asked of the trace writer; made in `server/` from the gRPC stub."""

    async def persisted(self, trace_ids: Sequence[str]) -> Collection[str]:
        """Those of *trace_ids*, at most 1,000, that are settled; raises `Unavailable`."""


class Emitter:
    """
    The way of records out of this planner, from `start` to `stop`.

    Attributes:
        sent: Entries that Redis took since the start, repeats included.
        resent: Of these, repeats.
        settled: Records that the writer has since the start.
        failures: Batches that Redis did not take.
    """

    def __init__(
        self,
        spool: Spool,
        redis: Redis,
        writer: Writer,
        stream: str,
        *,
        confirm_every_s: float = 0.1,
        overdue_s: float = 5.0,
    ) -> None:
        """
        Prepare the emitter.

        Args:
            spool: Where records become durable.
            redis: A client of `telha_runtime.redis.connect`.
            writer: Who knows what is persisted.
            stream: Key of the stream.
            confirm_every_s: Pause between two rounds of questions.
            overdue_s: A record that was sent and is not settled for this long is sent again; doubles each time.
        """
        self._spool = spool
        self._redis = redis
        self._writer = writer
        self._stream = stream
        self._confirm_every_s = confirm_every_s
        self._overdue_s = overdue_s
        self._batch: list[Entry] = []
        self._awaiting: dict[str, tuple[Entry, float]] = {}
        self._sendings: dict[str, int] = {}
        self._shipped = asyncio.Event()
        self._away = asyncio.Event()
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[Any]] = []
        self.sent = 0
        self.resent = 0
        self.settled = 0
        self.failures = 0

    def start(self) -> None:
        """Begin to carry."""
        self._tasks = [asyncio.create_task(self._carry(loop)) for loop in (self._ship, self._confirm)]

    async def stop(self, within_s: float) -> None:
        """
        Wait at most *within_s* until everything is settled, then stop; the rest stays in the spool.

        While Redis or the writer is away there is nothing to wait for.
        """
        ends = [asyncio.create_task(event.wait()) for event in (self._spool.emptied, self._away)]
        await asyncio.wait(ends, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        self._tasks += ends
        self._stop.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _carry(self, loop: Callable[[], Coroutine[None, None, None]]) -> None:
        backoff = Backoff(self._stop)
        while True:
            try:
                await loop()
            except Exception:  # noqa: BLE001  # the outermost frame: a fault of ours must not end the carrying
                _log.exception("the trace emitter failed and goes on")
                await backoff.pause()

    async def _ship(self) -> None:
        # What a former process left here may have been sent and stored.
        with contextlib.suppress(Unavailable):
            for asked in _chunks([entry.trace_id for entry in self._spool.unsent]):
                self._forget(await self._writer.persisted(asked))
        while True:
            while self._batch or self._spool.unsent:
                self._batch = self._batch or self._next_batch()
                await self._deliver()
            await self._spool.appended.wait()
            self._spool.appended.clear()

    def _next_batch(self) -> list[Entry]:
        batch: list[Entry] = []
        size = 0
        unsent = self._spool.unsent
        while unsent and len(batch) < _BATCH_ENTRIES and size < _BATCH_BYTES:
            entry = unsent.popleft()
            if self._spool.holds(entry):
                batch.append(entry)
                size += entry.placed.length
        return batch

    async def _deliver(self) -> None:
        """Send the batch, in order, until Redis has taken all of it."""
        backoff = Backoff(self._stop)
        # An entry that was settled meanwhile can no longer be read.
        while batch := [entry for entry in self._batch if self._spool.holds(entry)]:
            try:
                taken = await self._send(batch)
            except AWAY as fault:
                taken, cause = 0, type(fault).__name__
            else:
                cause = "it refused an entry"
            self._sent(batch[:taken])
            self._batch = batch[taken:]
            if self._batch:
                self.failures += 1
                self._away.set()
                if not backoff.failing:
                    _log.warning("Redis does not take traces (%s); %d wait in the spool", cause, self._spool.depth)
                await backoff.pause()
            elif backoff.failing:
                self._away.clear()
                _log.info("Redis takes traces again")
        self._batch = []

    async def _send(self, batch: Sequence[Entry]) -> int:
        """Send once; how many of *batch*, from its begin, Redis has."""
        pipeline = self._redis.pipeline(transaction=False)
        for entry in batch:
            content = Frame(self._spool.name, entry.seq, entry.trace_id, entry.tenant, self._spool.read(entry))
            pipeline.xadd(self._stream, {frame.FIELD: frame.encode(content)})
        # Errors are looked for by hand: the driver's own message would quote the record.
        replies = await pipeline.execute(raise_on_error=False)
        return next((at for at, reply in enumerate(replies) if isinstance(reply, Exception)), len(replies))

    def _sent(self, entries: Sequence[Entry]) -> None:
        now = asyncio.get_running_loop().time()
        for entry in entries:
            times = self._sendings.get(entry.trace_id, 0)
            self._sendings[entry.trace_id] = times + 1
            overdue_s = min(self._overdue_s * 2**times, _LONGEST_OVERDUE_S)
            self._awaiting[entry.trace_id] = (entry, now + overdue_s)
            self.sent += 1
            self.resent += times > 0
        if self._awaiting:
            self._shipped.set()

    async def _confirm(self) -> None:
        backoff = Backoff(self._stop)
        round_s = self._confirm_every_s
        while True:
            await self._shipped.wait()
            await sleep(round_s, self._stop)
            try:
                any_settled = await self._ask()
            except Unavailable as fault:
                self._away.set()
                if not backoff.failing:
                    _log.warning("cannot ask what is stored: %s", fault)
                await backoff.pause()
                continue
            if backoff.failing:
                self._away.clear()
            backoff.reset()
            round_s = self._confirm_every_s if any_settled else min(round_s * 2, _LONGEST_ROUND_S)
            if not self._awaiting:
                self._shipped.clear()

    async def _ask(self) -> bool:
        """Ask once about everything that was sent; whether any of it is settled."""
        before = self.settled
        for asked in _chunks(list(self._awaiting)):
            self._forget(await self._writer.persisted(asked))
        now = asyncio.get_running_loop().time()
        overdue = [entry for entry, due in self._awaiting.values() if due <= now]
        if overdue:
            _log.warning("%d traces were sent and not stored in time; sending them again", len(overdue))
            for entry in overdue:
                del self._awaiting[entry.trace_id]
            self._spool.unsent.extendleft(sorted(overdue, key=lambda entry: -entry.seq))
            self._spool.appended.set()
        return self.settled > before

    def _forget(self, trace_ids: Collection[str]) -> None:
        for trace_id in trace_ids:
            self._awaiting.pop(trace_id, None)
            self._sendings.pop(trace_id, None)
        self.settled += len(trace_ids)
        self._spool.persisted(trace_ids)


def _chunks(trace_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(trace_ids), _ASKED_AT_ONCE):
        yield trace_ids[start : start + _ASKED_AT_ONCE]

"""
Carry durable records from the spool to the stream, and forget those that the trace writer has.

    call ──► spool ──► ship: XADD ──► awaiting ──► confirm: the writer has it? ──► forgotten
                          ▲                            │ no, and overdue
                          └────────────────────────────┘

Rule 1: calls wait for the spool alone. Redis and the writer may be away for as long as the spool has room.
Rule 2: what Redis acknowledged may still be forgotten by it, so a record counts as delivered when the writer says so;
an overdue one is sent again. The writer stores a trace once, however often it comes.
Rule 3: records leave in the order in which they were appended.
Rule 4: the stream is bounded: while it holds too many entries, records wait in the spool, and one that the stream still
holds is never sent again.
Rule 5: the writer hears up to which instant everything of a spool is settled, so that another planner can tell a trace
that is on its way from one that never was.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from typing import Any, Final

from redis.asyncio import Redis
from telha_runtime import frame
from telha_runtime.backoff import Backoff, sleep
from telha_runtime.frame import Frame, FrameMalformed, FrameUnknown
from telha_runtime.redis import AWAY

from telha_planner.core.errors import Unavailable

from .settlement import Settlement, Writer
from .spool import Entry, Spool

_BATCH_ENTRIES: Final = 256
_BATCH_BYTES: Final = 1024 * 1024
_ASKED_AT_ONCE: Final = 1000
_LONGEST_ROUND_S: Final = 1.0
_LONGEST_OVERDUE_S: Final = 600.0
_LAST_REPORT_S: Final = 1.0
_CANCEL_AGAIN_S: Final = 0.1
_log = logging.getLogger(__name__)


class _Sent:
    """What became of an entry that Redis took: its latest id there, how often it was sent, when it is overdue."""

    __slots__ = ("due", "entry", "entry_id", "times")

    def __init__(self, entry: Entry, entry_id: bytes, times: int, due: float) -> None:
        self.entry, self.entry_id, self.times, self.due = entry, entry_id, times, due


class Emitter:
    """
    The way of records out of this planner, from `start` to `stop`.

    Attributes:
        sent: Entries that Redis took since the start, repeats included.
        resent: Of these, repeats.
        settled: Records that the writer has since the start.
        failures: Batches that Redis did not take.
        held_back: Whether records wait because the stream holds too many entries.
    """

    def __init__(
        self,
        spool: Spool,
        redis: Redis,
        writer: Writer,
        stream: str,
        *,
        now_us: Callable[[], int],
        stream_max_entries: int = 100_000,
        confirm_every_s: float = 0.1,
        overdue_s: float = 5.0,
        report_every_s: float = 5.0,
    ) -> None:
        """
        Prepare the emitter.

        Args:
            spool: Where records become durable.
            redis: A client of `telha_runtime.redis.connect`.
            writer: Who knows what is persisted.
            stream: Key of the stream.
            now_us: The wall clock.
            stream_max_entries: Nothing is sent while the stream holds more.
            confirm_every_s: Pause between two rounds of questions.
            overdue_s: A record that was sent and is not settled for this long is sent again if Redis lost it; doubles.
            report_every_s: Longest pause between two reports of what is settled.
        """
        self._spool = spool
        self._redis = redis
        self._stream = stream
        self._confirm_every_s = confirm_every_s
        self._overdue_s = overdue_s
        self._writer = writer
        self._settlement = Settlement(spool, writer, now_us)
        self._stream_max_entries = stream_max_entries
        self._report_every_s = report_every_s
        self._batch: list[Entry] = []
        self._awaiting: dict[str, _Sent] = {}
        self._sendings: dict[str, int] = {}
        self._shipped = asyncio.Event()
        self._away = asyncio.Event()
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[Any]] = []
        self.sent = 0
        self.resent = 0
        self.settled = 0
        self.failures = 0
        self.held_back = False

    def start(self) -> None:
        """Begin to carry."""
        self._tasks = [asyncio.create_task(self._carry(loop)) for loop in (self._ship, self._confirm, self._report)]

    async def stop(self, within_s: float) -> None:
        """
        Wait at most *within_s* until everything is settled, then stop; the rest stays in the spool.

        While Redis or the writer is away there is nothing to wait for.
        """
        ends = [asyncio.create_task(event.wait()) for event in (self._spool.emptied, self._away)]
        await asyncio.wait(ends, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        self._tasks += ends
        self._stop.set()
        # A library may swallow a cancellation that comes as its wait ends (`asyncio.wait_for` of Python 3.11 does).
        pending = set(self._tasks)
        while pending:
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=_CANCEL_AGAIN_S)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if not self._away.is_set():
            with contextlib.suppress(Unavailable, TimeoutError):
                async with asyncio.timeout(_LAST_REPORT_S):
                    await self._settlement.report()

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
            taken, cause = 0, ""
            try:
                self.held_back = await self._redis.xlen(self._stream) >= self._stream_max_entries
                if not self.held_back:
                    taken = await self._send(batch)
                cause = f"the stream holds {self._stream_max_entries} entries" if self.held_back else "it refused one"
            except AWAY as fault:
                cause = type(fault).__name__
            self._batch = batch[taken:]
            if self._batch:
                self.failures += not self.held_back
                self._away.set()
                if not backoff.failing:
                    _log.warning("Redis does not take traces (%s); %d wait in the spool", cause, self._spool.depth)
                await backoff.pause()
            elif backoff.failing:
                self._away.clear()
                _log.info("Redis takes traces again")
        self._batch = []

    async def _send(self, batch: Sequence[Entry]) -> int:
        """Send once; how many of *batch*, from its begin, are done with."""
        pipeline = self._redis.pipeline(transaction=False)
        sending = []
        for entry in batch:
            record = self._spool.read(entry)
            if record is not None:
                content = Frame(entry.spool, entry.seq, entry.trace_id, entry.tenant, record)
                pipeline.xadd(self._stream, {frame.FIELD: frame.encode(content)})
                sending.append(entry)
        # Errors are looked for by hand: the driver's own message would quote the record.
        replies = await pipeline.execute(raise_on_error=False)
        taken = next((at for at, reply in enumerate(replies) if isinstance(reply, Exception)), len(replies))
        self._sent(sending[:taken], replies)
        return len(batch) if taken == len(sending) else batch.index(sending[taken])

    def _sent(self, entries: Sequence[Entry], entry_ids: Sequence[bytes]) -> None:
        now = asyncio.get_running_loop().time()
        for entry, entry_id in zip(entries, entry_ids, strict=False):
            times = self._sendings.get(entry.trace_id, 0)
            self._sendings[entry.trace_id] = times + 1
            self._awaiting[entry.trace_id] = _Sent(entry, entry_id, times, now + self._patience(times))
            self.sent += 1
            self.resent += times > 0
        if self._awaiting:
            self._shipped.set()

    def _patience(self, times: int) -> float:
        return min(self._overdue_s * 2.0 ** min(times, 16), _LONGEST_OVERDUE_S)

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
        overdue = [sent for sent in self._awaiting.values() if sent.due <= now]
        lost = [sent.entry for sent in overdue if sent.entry.trace_id in await self._lost(overdue)] if overdue else []
        for sent in overdue:
            sent.times += 1
            sent.due = now + self._patience(sent.times)
        if lost:
            _log.warning("Redis lost %d traces that were not stored; sending them again", len(lost))
            for entry in lost:
                self._awaiting.pop(entry.trace_id, None)
            self._spool.unsent.extendleft(sorted(lost, key=lambda entry: -entry.order))
            self._spool.appended.set()
        return self.settled > before

    async def _lost(self, overdue: Sequence[_Sent]) -> set[str]:
        """Ids of those traces among *overdue* that the stream does not hold any more."""
        lost: set[str] = set()
        for start in range(0, len(overdue), _BATCH_ENTRIES):
            part = overdue[start : start + _BATCH_ENTRIES]
            pipeline = self._redis.pipeline(transaction=False)
            for sent in part:
                pipeline.xrange(self._stream, min=sent.entry_id, max=sent.entry_id, count=1)
            try:
                replies = await pipeline.execute()
            except AWAY:
                return lost
            lost |= {s.entry.trace_id for s, found in zip(part, replies, strict=True) if not _is_there(s, found)}
        return lost

    async def _report(self) -> None:
        while True:
            with contextlib.suppress(Unavailable):
                await self._settlement.report()
            await sleep(self._report_every_s, self._stop)

    def _forget(self, trace_ids: Collection[str]) -> None:
        for trace_id in trace_ids:
            self._awaiting.pop(trace_id, None)
            self._sendings.pop(trace_id, None)
        self.settled += len(trace_ids)
        self._spool.persisted(trace_ids)


def _chunks(trace_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(trace_ids), _ASKED_AT_ONCE):
        yield trace_ids[start : start + _ASKED_AT_ONCE]


def _is_there(sent: _Sent, found: Sequence[Any]) -> bool:
    # After a failover to a clock that lags, another entry may have the id.
    if not found:
        return False
    try:
        return frame.decode(found[0][1]).trace_id == sent.entry.trace_id
    except (FrameMalformed, FrameUnknown):
        return False

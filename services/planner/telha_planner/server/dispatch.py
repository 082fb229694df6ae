"""
The plan thread: one worker behind a short, fair line.

Plans are 2 to 4 ms of CPU under one interpreter lock, so a second thread would only make both slower, and an
unbounded queue would turn overload into lateness for everyone. Rule 1: at most one job runs and *max_waiting* wait;
what does not fit is refused at once, with a hint to try again. Rule 2: places and time are shared between tenants, then
between the keys of a tenant (`telha_runtime.line`): who asks much is refused first. Rule 3: a job whose deadline has
passed, or whose caller has gone, never starts, and gives its place back at that moment; one that runs ends at its next
look at its caller's `patience`. Rule 4: the event loop does I/O, health and refusals. Rule 5: a tenant whose columns
are far behind catches up in slices, each a job of its own; its own calls wait for that outside the line, so it holds up
nobody else.
"""

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from telha_runtime.line import FairLine, Holder

from telha_planner.columns.tenant import Behind
from telha_planner.core.errors import DeadlineExceeded, Overloaded, Unavailable
from telha_planner.patience import Patience, lasting

MOST_WAITING_FOR_A_LOAD = 64
"""Calls of one tenant that may wait for its columns, outside the queue."""

LOAD_COUNTS = 3
"""How many times the time of what does not count for a place, such as a slice of a load, counts as time served."""
UPKEEP = Holder("", "upkeep")
"""Whom work of the planner's own is counted for."""

T = TypeVar("T")


class _Job(Generic[T]):
    __slots__ = ("accepted", "counted", "future", "holder", "loop", "patience", "work")

    def __init__(
        self, work: Callable[[], T], deadline: float, holder: Holder, loop: asyncio.AbstractEventLoop, *, counted: bool
    ) -> None:
        self.accepted = time.monotonic()
        self.counted = counted
        self.work = work
        self.patience = Patience(deadline)
        self.holder = holder
        self.loop = loop
        self.future: asyncio.Future[T] = loop.create_future()


class WorkThread:
    """
    Runs synchronous work for coroutines, one job at a time; the jobs of one holder in the order accepted.

    Args:
        max_waiting: Jobs that may wait beside the running one, ≥ 0.
        name: Of the thread.
        waited: Is told how many seconds each job that counts has waited.
    """

    def __init__(self, max_waiting: int, name: str, waited: Callable[[float], None] = lambda _: None) -> None:
        self._waited = waited
        self._max_waiting = max_waiting
        self._line: FairLine[_Job[Any]] = FairLine()
        self._bell: SimpleQueue[bool] = SimpleQueue()  # rung once for each job, and differently for the end
        self._lock = threading.Lock()
        self._running = 0
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def held(self) -> int:
        """Jobs that run or wait, as far as they count."""
        return self._line.bounded + self._running

    @property
    def waiting(self) -> int:
        """Jobs that wait, as far as they count."""
        return self._line.bounded

    def admits(self, holder: Holder) -> bool:
        """Whether a job of *holder* would be accepted at this moment."""
        with self._lock:
            return self._line.admits(holder, self._places())

    async def run(self, work: Callable[[], T], deadline: float, holder: Holder = UPKEEP) -> T:
        """
        Run *work* on the thread and return what it returns.

        Args:
            work: What to run; it sees no event loop.
            deadline: `time.monotonic()` after which starting is pointless.
            holder: Whose place and time it takes.

        Raises:
            Overloaded: As much is waiting as is allowed.
            DeadlineExceeded: The deadline passed before the work began, or before it ended.
            Unavailable: The thread is closed.
        """
        return await self._done(work, deadline, holder, counted=True)

    def close(self) -> None:
        """Finish the running job, refuse those that wait, and end the thread."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._bell.put(False)
        self._thread.join()

    async def _done(self, work: Callable[[], T], deadline: float, holder: Holder, *, counted: bool) -> T:
        job = _Job(work, deadline, holder, asyncio.get_running_loop(), counted=counted)
        with self._lock:
            if self._closed:
                raise Unavailable(part="the planner")
            gone = self._line.push(holder, job, self._places() if counted else None)
            if gone is job:
                raise Overloaded
        if gone is not None:
            _tell(gone, None, Overloaded())
        self._bell.put(True)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._drop(job)
            raise

    def _places(self) -> int:
        return self._max_waiting + 1 - self._running

    def _drop(self, job: _Job[Any]) -> None:
        job.patience.end()
        with self._lock:
            self._line.remove(job.holder, job)

    def _work(self) -> None:
        while self._bell.get() and not self._closed:
            with self._lock:
                found = self._line.pop()
                if found is None:  # its caller went
                    continue
                job = found[1]
                self._running += job.counted
            self._run(job)
            del job, found  # a finished job must not keep a request alive until the next one comes
        with self._lock:
            while (found := self._line.pop()) is not None:
                _tell(found[1], None, Unavailable(part="the planner"))

    def _run(self, job: _Job[Any]) -> None:
        result: Any = None
        error: BaseException | None = None
        started = time.monotonic()
        if job.counted:
            self._waited(started - job.accepted)
        try:
            job.patience.check()
            with lasting(job.patience):
                result = job.work()
        except BaseException as caught:  # noqa: BLE001 the caller's coroutine is where it belongs
            error = caught
        with self._lock:
            self._running -= job.counted
            # Who loads lets those who ask go first, though not for ever.
            self._line.served(job.holder, (time.monotonic() - started) * (1 if job.counted else LOAD_COUNTS))
        _tell(job, result, error)
        error = None  # its traceback holds this frame


class PlanThread(WorkThread):
    """
    The thread of plans.

    Args:
        max_waiting: Jobs that may wait beside the running one, ≥ 0.
        advance: Reads the next slice of what a tenant's columns lack; true once it was the last (`Columns.advance`).
        waited: Is told how many seconds each job that counts has waited.
    """

    def __init__(
        self, max_waiting: int, advance: Callable[[int], bool], waited: Callable[[float], None] = lambda _: None
    ) -> None:
        super().__init__(max_waiting, "plan", waited)
        self._advance = advance
        self._loads: dict[int, _Load] = {}

    async def run(self, work: Callable[[], T], deadline: float, holder: Holder = UPKEEP) -> T:
        """As `WorkThread.run`; work that meets columns far behind waits for them, and then begins anew."""
        counted = True
        while True:
            try:
                return await self._done(work, deadline, holder, counted=counted)
            except Behind as behind:
                await self._caught_up(behind.tenant, deadline)
                counted = False  # it was accepted once, and has waited since

    async def _caught_up(self, tenant: int, deadline: float) -> None:
        load = self._loads.get(tenant)
        if load is None:
            load = self._loads[tenant] = _Load(asyncio.create_task(self._catch_up(tenant)))
            load.task.add_done_callback(_look)  # its fault is told to whoever waits; perhaps nobody does any more
        if load.waiting >= MOST_WAITING_FOR_A_LOAD:
            raise Overloaded
        load.waiting += 1
        try:
            # Shielded: the next call of the tenant needs the columns too, whatever becomes of this one.
            await asyncio.wait_for(asyncio.shield(load.task), max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            raise DeadlineExceeded from None
        finally:
            load.waiting -= 1

    async def _catch_up(self, tenant: int) -> None:
        try:
            while not await self._done(partial(self._advance, tenant), math.inf, Holder(tenant, ""), counted=False):
                pass
        finally:
            del self._loads[tenant]


@dataclass(slots=True)
class _Load:
    task: asyncio.Task[None]
    waiting: int = 0


def _look(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()


def _tell(job: _Job[Any], result: object, error: BaseException | None) -> None:
    # The loop may be gone when the process ends; then nobody waits for the answer.
    with contextlib.suppress(RuntimeError):
        job.loop.call_soon_threadsafe(_settle, job.future, result, error)


def _settle(future: asyncio.Future[Any], result: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)

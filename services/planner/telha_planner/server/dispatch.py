"""
The plan thread: one worker behind a counted queue.

Plans are 2 to 4 ms of CPU under one interpreter lock, so a second thread would only make both slower, and an
unbounded queue would turn overload into lateness for everyone. Rule 1: at most one job runs and *max_waiting* wait;
the next is refused at once, with a hint to try again. Rule 2: a job whose deadline has passed, or whose caller has
gone, never starts, and gives its place back at that moment. Rule 3: the event loop does I/O, health and refusals.
Rule 4: a tenant whose columns are far behind catches up in slices, each a job of its own behind the others that wait;
its own calls wait for that outside the queue, so it holds up nobody else.
"""

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from telha_planner.columns.tenant import Behind
from telha_planner.core.errors import DeadlineExceeded, Overloaded, Unavailable

MOST_WAITING_FOR_A_LOAD = 64
"""Calls of one tenant that may wait for its columns, outside the queue."""

T = TypeVar("T")


class _State(Enum):
    WAITING = 0
    STARTED = 1
    DROPPED = 2


class _Job(Generic[T]):
    __slots__ = ("counted", "deadline", "future", "loop", "state", "work")

    def __init__(
        self, work: Callable[[], T], deadline: float, loop: asyncio.AbstractEventLoop, *, counted: bool
    ) -> None:
        self.counted = counted
        self.work = work
        self.deadline = deadline
        self.loop = loop
        self.future: asyncio.Future[T] = loop.create_future()
        self.state = _State.WAITING


class WorkThread:
    """
    Runs synchronous work for coroutines, one job at a time, in the order accepted.

    Args:
        max_waiting: Jobs that may wait beside the running one, ≥ 0.
        name: Of the thread.
    """

    def __init__(self, max_waiting: int, name: str) -> None:
        self._max_waiting = max_waiting
        self._jobs: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._held = 0
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def held(self) -> int:
        """Jobs that run or wait."""
        return self._held

    async def run(self, work: Callable[[], T], deadline: float) -> T:
        """
        Run *work* on the thread and return what it returns.

        Args:
            work: What to run; it sees no event loop.
            deadline: `time.monotonic()` after which starting is pointless.

        Raises:
            Overloaded: As much is waiting as is allowed.
            DeadlineExceeded: The deadline passed before the work began.
            Unavailable: The thread is closed.
        """
        return await self._done(work, deadline, counted=True)

    def close(self) -> None:
        """Finish the running job, refuse those that wait, and end the thread."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        self._thread.join()

    async def _done(self, work: Callable[[], T], deadline: float, *, counted: bool) -> T:
        job = _Job(work, deadline, asyncio.get_running_loop(), counted=counted)
        with self._lock:
            if self._closed:
                raise Unavailable(part="the planner")
            if counted and self._held > self._max_waiting:
                raise Overloaded
            self._held += counted
            self._jobs.put(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._drop(job)
            raise

    def _drop(self, job: _Job[Any]) -> None:
        with self._lock:
            if job.state is _State.WAITING:
                job.state = _State.DROPPED
                self._held -= job.counted

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with self._lock:
                if job.state is _State.DROPPED:
                    continue
                job.state = _State.STARTED
            self._run(job)
            del job  # a finished job must not keep a request alive until the next one comes

    def _run(self, job: _Job[Any]) -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            if self._closed:
                raise Unavailable(part="the planner")
            if time.monotonic() >= job.deadline:
                raise DeadlineExceeded
            result = job.work()
        except BaseException as caught:  # noqa: BLE001 the caller's coroutine is where it belongs
            error = caught
        with self._lock:
            self._held -= job.counted
        # The loop may be gone when the process ends; then nobody waits for the answer.
        with contextlib.suppress(RuntimeError):
            job.loop.call_soon_threadsafe(_settle, job.future, result, error)


class PlanThread(WorkThread):
    """
    The thread of plans.

    Args:
        max_waiting: Jobs that may wait beside the running one, ≥ 0.
        advance: Reads the next slice of what a tenant's columns lack; true once it was the last (`Columns.advance`).
    """

    def __init__(self, max_waiting: int, advance: Callable[[int], bool]) -> None:
        super().__init__(max_waiting, "plan")
        self._advance = advance
        self._loads: dict[int, _Load] = {}

    async def run(self, work: Callable[[], T], deadline: float) -> T:
        """As `WorkThread.run`; work that meets columns far behind waits for them, and then begins anew."""
        counted = True
        while True:
            try:
                return await self._done(work, deadline, counted=counted)
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
            while not await self._done(partial(self._advance, tenant), math.inf, counted=False):
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


def _settle(future: asyncio.Future[Any], result: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)

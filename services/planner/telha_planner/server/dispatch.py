"""
The plan thread: one worker behind a counted queue.

Plans are 2 to 4 ms of CPU under one interpreter lock, so a second thread would only make both slower, and an
unbounded queue would turn overload into lateness for everyone. Rule 1: at most one job runs and *max_waiting* wait;
the next is refused at once, with a hint to try again. Rule 2: a job whose deadline has passed, or whose caller has
gone, never starts, and gives its place back at that moment. Rule 3: the event loop does I/O, health and refusals.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from enum import Enum
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from telha_planner.core.errors import DeadlineExceeded, Overloaded, Unavailable

T = TypeVar("T")


class _State(Enum):
    WAITING = 0
    STARTED = 1
    DROPPED = 2


class _Job(Generic[T]):
    __slots__ = ("deadline", "future", "loop", "state", "work")

    def __init__(self, work: Callable[[], T], deadline: float, loop: asyncio.AbstractEventLoop) -> None:
        self.work = work
        self.deadline = deadline
        self.loop = loop
        self.future: asyncio.Future[T] = loop.create_future()
        self.state = _State.WAITING


class PlanThread:
    """
    Runs synchronous work for coroutines, one job at a time, in the order accepted.

    Args:
        max_waiting: Jobs that may wait beside the running one, ≥ 0.
        name: Of the thread.
    """

    def __init__(self, max_waiting: int, name: str = "plan") -> None:
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
        Run *work* on the plan thread and return what it returns.

        Args:
            work: What to run; it sees no event loop.
            deadline: `time.monotonic()` after which starting is pointless.

        Raises:
            Overloaded: As much is waiting as is allowed.
            DeadlineExceeded: The deadline passed before the work began.
            Unavailable: The thread is closed.
        """
        job = _Job(work, deadline, asyncio.get_running_loop())
        with self._lock:
            if self._closed:
                raise Unavailable(part="the planner")
            if self._held > self._max_waiting:
                raise Overloaded
            self._held += 1
        self._jobs.put(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._drop(job)
            raise

    def close(self) -> None:
        """Finish the running job, refuse those that wait, and end the thread."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._jobs.put(None)
        self._thread.join()

    def _drop(self, job: _Job[Any]) -> None:
        with self._lock:
            if job.state is _State.WAITING:
                job.state = _State.DROPPED
                self._held -= 1

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
            self._held -= 1
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

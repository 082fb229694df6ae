import asyncio
import threading
import time

import pytest
from telha_planner.core.errors import DeadlineExceeded, NotFound, Overloaded, Unavailable
from telha_planner.server.dispatch import PlanThread


def soon(seconds: float = 30.0) -> float:
    return time.monotonic() + seconds


async def until(condition):
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 what is watched lives on another thread
            await asyncio.sleep(0.001)


@pytest.fixture
def thread():
    thread = PlanThread(max_waiting=2)
    yield thread
    thread.close()


class Gate:
    """Work that stays on the thread until it is opened."""

    def __init__(self):
        self.entered = threading.Event()
        self.opened = threading.Event()

    def __call__(self):
        self.entered.set()
        assert self.opened.wait(10)


def test_work_runs_in_the_order_accepted_on_one_thread(thread):
    async def scenario():
        seen = []
        jobs = [thread.run(lambda n=n: seen.append((n, threading.current_thread().name)), soon()) for n in range(3)]
        await asyncio.gather(*jobs)
        return seen

    assert asyncio.run(scenario()) == [(0, "plan"), (1, "plan"), (2, "plan")]


def test_the_job_beyond_the_limit_is_refused_at_once(thread):
    """A1: at most max_waiting jobs wait beside the running one."""

    async def scenario():
        gate = Gate()
        running = asyncio.ensure_future(thread.run(gate, soon()))
        await until(gate.entered.is_set)
        waiting = [asyncio.ensure_future(thread.run(lambda: "done", soon())) for _ in range(2)]
        await asyncio.sleep(0)
        before = time.monotonic()
        with pytest.raises(Overloaded) as refusal:
            await thread.run(lambda: "never", soon())
        assert time.monotonic() - before < 0.05
        assert refusal.value.retry_after_ms == 50
        gate.opened.set()
        await running
        assert await asyncio.gather(*waiting) == ["done", "done"]
        assert thread.held == 0

    asyncio.run(scenario())


def test_work_whose_deadline_has_passed_never_runs(thread):
    """A1: the deadline is checked when the work is dequeued."""

    async def scenario():
        gate, ran = Gate(), []
        running = asyncio.ensure_future(thread.run(gate, soon()))
        await until(gate.entered.is_set)
        late = asyncio.ensure_future(thread.run(lambda: ran.append(1), soon(0.02)))
        await asyncio.sleep(0.05)
        gate.opened.set()
        await running
        with pytest.raises(DeadlineExceeded):
            await late
        assert ran == []

    asyncio.run(scenario())


def test_cancelled_work_never_runs_and_gives_its_place_back_at_once(thread):
    """A1: a client that went away costs nothing."""

    async def scenario():
        gate, ran = Gate(), []
        running = asyncio.ensure_future(thread.run(gate, soon()))
        await until(gate.entered.is_set)
        gone = asyncio.ensure_future(thread.run(lambda: ran.append(1), soon()))
        await until(lambda: thread.held == 2)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert thread.held == 1
        gate.opened.set()
        await running
        assert await thread.run(lambda: "next", soon()) == "next"
        assert ran == []

    asyncio.run(scenario())


def test_work_that_is_cancelled_while_it_runs_keeps_its_place_until_it_ends(thread):
    async def scenario():
        gate = Gate()
        running = asyncio.ensure_future(thread.run(gate, soon()))
        await until(gate.entered.is_set)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert thread.held == 1
        gate.opened.set()
        await until(lambda: thread.held == 0)

    asyncio.run(scenario())


def test_errors_reach_the_caller_as_they_are(thread):
    def fail():
        raise NotFound(resource="source")

    with pytest.raises(NotFound):
        asyncio.run(thread.run(fail, soon()))


def test_a_closed_thread_finishes_what_runs_and_refuses_the_rest():
    async def scenario():
        thread, gate = PlanThread(max_waiting=2), Gate()
        running = asyncio.ensure_future(thread.run(gate, soon()))
        await until(gate.entered.is_set)
        waiting = asyncio.ensure_future(thread.run(lambda: "never", soon()))
        await until(lambda: thread.held == 2)
        closing = asyncio.ensure_future(asyncio.to_thread(thread.close))
        await asyncio.sleep(0.02)
        gate.opened.set()
        await asyncio.gather(running, closing)
        with pytest.raises(Unavailable):
            await waiting
        with pytest.raises(Unavailable):
            await thread.run(lambda: "never", soon())

    asyncio.run(scenario())

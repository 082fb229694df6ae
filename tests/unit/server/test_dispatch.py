import asyncio
import threading
import time

import pytest
from telha_planner import patience
from telha_planner.columns.tenant import Behind
from telha_planner.core.errors import DeadlineExceeded, NotFound, Overloaded, Unavailable
from telha_planner.server.dispatch import MOST_WAITING_FOR_A_LOAD, PlanThread
from telha_runtime.line import Holder


def soon(seconds: float = 30.0) -> float:
    return time.monotonic() + seconds


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 what is watched lives on another thread
            await asyncio.sleep(0.001)


@pytest.fixture
def thread():
    thread = PlanThread(2, lambda _: True)
    yield thread
    thread.close()


class Gate:
    """Work that stays on the thread until it is opened."""

    def __init__(self):
        self.entered = threading.Event()
        self.opened = threading.Event()

    def __call__(self):
        self.entered.set()
        assert self.opened.wait(60)


def test_work_runs_in_the_order_accepted_on_one_thread(thread):
    """A1: work runs in the order accepted on one thread."""

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
        with pytest.raises(Overloaded) as refusal:
            await thread.run(lambda: "never", soon())
        assert not running.done()
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
    """A1: work that is cancelled while it runs keeps its place until it ends."""

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


def test_work_that_runs_sees_that_its_caller_has_gone(thread):
    """A1: it ends at its next look, and gives the thread to those who still wait."""
    entered, ended = threading.Event(), []

    def long():
        entered.set()
        try:
            while True:
                patience.check()
                time.sleep(0.001)
        finally:
            ended.append(True)

    async def scenario():
        running = asyncio.ensure_future(thread.run(long, soon()))
        await until(entered.is_set)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await thread.run(lambda: "next", soon()) == "next"
        with pytest.raises(DeadlineExceeded):
            await thread.run(long, soon(0.5))
        assert len(ended) == 2

    asyncio.run(scenario())


def test_a_tenant_that_asks_much_makes_room_for_another(thread):
    """A1: the one who holds most of the line is refused, though it came first."""

    async def scenario():
        gate = Gate()
        running = asyncio.ensure_future(thread.run(gate, soon(), Holder(1, "a")))
        await until(gate.entered.is_set)
        first, second = (asyncio.ensure_future(thread.run(int, soon(), Holder(1, "a"))) for _ in range(2))
        await asyncio.sleep(0)
        assert not thread.admits(Holder(1, "a"))
        assert thread.admits(Holder(2, "b"))
        other = asyncio.ensure_future(thread.run(lambda: "other", soon(), Holder(2, "b")))
        with pytest.raises(Overloaded):
            await second
        gate.opened.set()
        assert await other == "other"
        await asyncio.gather(running, first)

    asyncio.run(scenario())


def test_errors_reach_the_caller_as_they_are(thread):
    """A1: errors reach the caller as they are."""

    def fail():
        raise NotFound(resource="source")

    with pytest.raises(NotFound):
        asyncio.run(thread.run(fail, soon()))


def test_a_closed_thread_finishes_what_runs_and_refuses_the_rest():
    """A1: a closed thread finishes what runs and refuses the rest."""

    async def scenario():
        thread, gate = PlanThread(2, lambda _: True), Gate()
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


class Far:
    """Columns of one tenant that need some slices; work for it raises `Behind` until they are read."""

    def __init__(self, slices):
        self.left = slices
        self.order = []

    def advance(self, tenant):
        assert tenant == 7
        self.left -= 1
        self.order.append("slice")
        return self.left <= 0

    def work(self):
        if self.left > 0:
            raise Behind(7)
        self.order.append("far")
        return "far"


def with_columns(advance, scenario, max_waiting=2):
    thread = PlanThread(max_waiting, advance)
    try:
        return asyncio.run(scenario(thread))
    finally:
        thread.close()


def test_a_tenant_that_catches_up_holds_up_nobody_else():
    """A1: work of others runs between the slices, and all calls of the tenant share one load."""
    endless = 1 << 60
    far = Far(endless)

    async def scenario(thread):
        calls = [asyncio.ensure_future(thread.run(far.work, soon())) for _ in range(3)]
        await until(lambda: far.left < endless)
        for _ in range(10):
            await thread.run(lambda: far.order.append("other"), soon())
        assert thread.held == 0
        far.left = 5
        return await asyncio.gather(*calls)

    assert with_columns(far.advance, scenario) == ["far"] * 3
    others = [index for index, what in enumerate(far.order) if what == "other"]
    assert "slice" in far.order[others[0] : others[-1]]  # both go on


def test_a_call_that_cannot_wait_for_its_columns_leaves_them_loading():
    """A1: its deadline ends the call, not the load; the next call finds it done."""
    far, slow = Far(10), threading.Event()

    def advance(tenant):
        slow.wait(10)
        return far.advance(tenant)

    async def scenario(thread):
        with pytest.raises(DeadlineExceeded):
            await thread.run(far.work, time.monotonic() + 0.02)
        left = asyncio.ensure_future(thread.run(far.work, soon()))
        await asyncio.sleep(0.01)
        left.cancel()
        slow.set()
        return await thread.run(far.work, soon())

    assert with_columns(advance, scenario) == "far"
    assert far.order == ["slice"] * 10 + ["far"]


def test_a_load_that_fails_fails_its_callers_and_is_begun_again():
    """A1: a store that is away while columns load answers UNAVAILABLE; nothing is stuck."""
    far, broken = Far(3), [True]

    def advance(tenant):
        if broken[0]:
            raise Unavailable(part="the memory store")
        return far.advance(tenant)

    async def scenario(thread):
        for call in [asyncio.ensure_future(thread.run(far.work, soon())) for _ in range(2)]:
            with pytest.raises(Unavailable):
                await call
        broken[0] = False
        return await thread.run(far.work, soon())

    assert with_columns(advance, scenario) == "far"


def test_calls_beyond_what_may_wait_for_a_load_are_refused():
    """A1: those that waited for their columns are all answered, however short the queue."""
    far = Far(1 << 60)

    async def scenario(thread):
        calls = [asyncio.ensure_future(thread.run(far.work, soon())) for _ in range(MOST_WAITING_FOR_A_LOAD)]
        await until(lambda: thread._loads and thread._loads[7].waiting == MOST_WAITING_FOR_A_LOAD)
        with pytest.raises(Overloaded):
            await thread.run(far.work, soon())
        thread._max_waiting = 0
        far.left = 1
        return await asyncio.gather(*calls)

    answers = with_columns(far.advance, scenario, max_waiting=MOST_WAITING_FOR_A_LOAD)
    assert answers == ["far"] * MOST_WAITING_FOR_A_LOAD


def test_a_load_ends_with_the_thread():
    """A1: a drain does not wait for columns that nobody will read."""
    far = Far(1 << 60)

    async def scenario():
        thread = PlanThread(2, far.advance)
        call = asyncio.ensure_future(thread.run(far.work, soon()))
        await until(lambda: far.order)
        thread.close()
        with pytest.raises(Unavailable):
            await call

    asyncio.run(scenario())

"""Whether a call may bring its message: decided before the message is read."""

import asyncio
import threading
import time

import pytest
from pydantic import ValidationError
from telha_planner.config import ServerSettings
from telha_planner.core.errors import DeadlineExceeded, Overloaded
from telha_planner.server import admission
from telha_planner.server.admission import Admission
from telha_planner.server.dispatch import WorkThread
from telha_planner.server.holders import STRANGERS, Holders
from telha_runtime.line import Holder

KIB = 1024
A, B = Holder(1, "a"), Holder(2, "b")


def admits(**settings):
    return Admission(ServerSettings(max_message_bytes=KIB, **settings), Holders(), None)


def sent(message):
    async def bring():
        return message

    return bring


async def never():
    await asyncio.Event().wait()


def test_a_message_on_its_way_counts_for_the_largest_and_then_for_its_size():
    """A1: bytes of all calls have a bound that holds before they have come; twice the limit is read, to be refused."""

    async def scenario():
        door = admits(max_held_bytes=64 * KIB)
        room = door.message(A)
        assert door.held == 2 * KIB
        assert await room.read(sent(b"x" * 10)) == b"x" * 10
        assert door.held == 10
        room.close()
        assert door.held == 0

    asyncio.run(scenario())


def test_room_for_messages_holds_the_largest_that_is_read():
    """A1: a limit that no message could ever meet stops the start; the default lets more come than wait."""
    with pytest.raises(ValidationError, match="2048, 2 times max_message_bytes"):
        admits(max_held_bytes=2 * KIB - 1)
    default = ServerSettings()
    door = Admission(default, Holders(), None)
    for _ in range(default.max_waiting + 1):
        door.message(A)
        door.message(B)


def test_strangers_and_greedy_tenants_leave_room_for_others():
    """A1: nobody can hold all the room for messages, with whatever keys."""
    door = admits(max_held_bytes=128 * KIB)
    for _ in range(32):
        door.message(STRANGERS)
    with pytest.raises(Overloaded) as refused:
        door.message(STRANGERS)
    assert refused.value.retry_after_ms == admission.RETRY_AFTER_MS
    for _ in range(16):
        door.message(A)
    with pytest.raises(Overloaded):
        door.message(A)
    assert door.held == 96 * KIB
    door.message(B)


def test_a_message_that_does_not_come_loses_its_room(monkeypatch):
    """A1: who opens calls and sends nothing holds nothing for long."""
    monkeypatch.setattr(admission, "MESSAGE_S", 0.02)

    async def scenario():
        door = admits(max_held_bytes=64 * KIB)
        room = door.message(A)
        with pytest.raises(DeadlineExceeded):
            await room.read(never)
        room.close()
        assert door.held == 0

    asyncio.run(scenario())


def test_a_call_that_would_find_no_place_need_not_bring_its_message():
    """A1: refused at once, and only who holds most."""

    async def scenario():
        thread = WorkThread(1, "test")
        door = Admission(ServerSettings(), Holders(), thread)
        entered, opened = threading.Event(), threading.Event()

        def gate():
            entered.set()
            assert opened.wait(10)

        def run(work, holder):
            return asyncio.ensure_future(thread.run(work, time.monotonic() + 30, holder))

        running = run(gate, A)
        assert await asyncio.to_thread(entered.wait, 10)
        waiting = run(int, A)
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            door.look(A)
        with pytest.raises(Overloaded):
            door.look(B)  # it would hold as much as the one that waits
        opened.set()
        await asyncio.gather(running, waiting)
        door.look(A)
        thread.close()

    asyncio.run(scenario())

"""Turns at what serves a few at once."""

import asyncio

import pytest
from telha_runtime.line import Holder
from telha_runtime.turns import LineFull, Turns

A, B = Holder("a", ""), Holder("b", "")


async def held(turns, holder, order, name, until):
    async with turns.turn(holder):
        order.append(name)
        await until.wait()


def begun(turns, holder, order, name, until):
    return asyncio.ensure_future(held(turns, holder, order, name, until))


def test_turns_come_one_after_the_other_and_fairly():
    """A1: a tenant with one call does not wait for all calls of one with many."""

    async def scenario():
        turns, order, until = Turns(1, 8), [], asyncio.Event()
        calls = [begun(turns, A, order, f"a{number}", until) for number in range(4)]
        await asyncio.sleep(0)
        calls.append(begun(turns, B, order, "b0", until))
        await asyncio.sleep(0)
        assert (order, turns.waiting) == (["a0"], 4)
        until.set()
        await asyncio.gather(*calls)
        return order

    assert asyncio.run(scenario()).index("b0") <= 2


def test_a_full_line_pushes_out_who_holds_most_of_it():
    """A1: the newcomer of another tenant gets the place, and the pushed out learns it at once."""

    async def scenario():
        turns, order, until = Turns(1, 2), [], asyncio.Event()
        first = begun(turns, A, order, "a0", until)
        waiting = [begun(turns, A, order, f"a{number}", until) for number in (1, 2)]
        await asyncio.sleep(0)
        other = begun(turns, B, order, "b0", until)
        with pytest.raises(LineFull):
            await waiting[1]
        with pytest.raises(LineFull):
            await held(turns, B, order, "b1", until)
        until.set()
        await asyncio.gather(first, waiting[0], other)

    asyncio.run(scenario())


def test_who_gives_up_loses_no_turn_for_the_others():
    """A1: neither waiting nor at the very moment at which the turn comes."""

    async def scenario():
        turns, order, until = Turns(1, 8), [], asyncio.Event()
        first = begun(turns, A, order, "a0", until)
        gone, also_gone, last = (begun(turns, A, order, name, until) for name in ("a1", "a2", "a3"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        assert turns.waiting == 2
        until.set()
        first.add_done_callback(lambda _: also_gone.cancel())
        await asyncio.wait([gone, also_gone])
        await last
        return order

    assert asyncio.run(scenario())[-1] == "a3"

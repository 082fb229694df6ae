"""The laws of columns that catch up in slices: they end where one read of everything ends, whatever comes between."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recall_histories import History, queries
from recall_memory import Memory, a_query, erase, facts
from telha_planner.columns.tenant import Behind, Columns
from telha_planner.core.errors import Unavailable
from telha_planner.recall.recall import recall

LIMIT = 1 << 30
seeds = st.integers(0, 2**32)
ON_EACH = [HealthCheck.function_scoped_fixture]  # the address is another at each call


def answers(memory, snapshot, asked):
    nodes = sorted(memory._nodes.values())
    return [
        (facts(recall(snapshot, a_query(memory, **changes))), snapshot.clarifications(nodes, changes["tx_t"]))
        for changes in asked
    ]


def caught_up(columns, tx, between=lambda: None):
    """The snapshot at *tx*, after as many slices as it takes."""
    while True:
        try:
            return columns.at(1, tx)
        except Behind:
            while not columns.advance(1):
                between()


@settings(max_examples=14, deadline=None, suppress_health_check=ON_EACH)
@given(seed=seeds, commits=st.integers(2, 10), most_rows=st.integers(1, 40))
def test_slices_end_where_one_read_ends(new_store_url, seed, commits, most_rows):
    """R3, M1: loaded and tailed in slices of any size, with commits between the slices, answers are equal."""
    memory = Memory(new_store_url())
    try:
        history = History(memory, seed)
        sliced = Columns(memory.store, LIMIT, most_rows)
        times = history.run(2)
        caught_up(sliced, memory.tx, lambda: len(times) < commits and times.extend(history.run(1)))
        for index in range(commits):
            times += history.run(1)
            asked = queries(seed + index, times, 3)
            told = answers(memory, caught_up(sliced, memory.tx), asked)
            assert told == answers(memory, Columns(memory.store, LIMIT).at(1, memory.tx), asked)
    finally:
        memory.close()


@settings(max_examples=9, deadline=None, suppress_health_check=ON_EACH)
@given(seed=seeds, most_rows=st.integers(1, 20), at=st.integers(0, 30))
def test_an_erasure_between_two_slices_leaves_nothing(new_store_url, seed, most_rows, at):
    """M5, R3: whatever was read before the erasure is dropped."""
    memory = Memory(new_store_url())
    try:
        history = History(memory, seed)
        times = history.run(3)
        sliced = Columns(memory.store, LIMIT, most_rows)
        left = [at]

        def between():
            left[0] -= 1
            if left[0] == 0:
                erase(memory, min(memory._sources))

        caught_up(sliced, memory.tx, between)
        if left[0] > 0:
            erase(memory, min(memory._sources))
        asked = queries(seed, times, 4)
        told = answers(memory, caught_up(sliced, memory.tx), asked)
        assert told == answers(memory, Columns(memory.store, LIMIT).at(1, memory.tx), asked)
    finally:
        memory.close()


def test_a_slice_that_fails_is_read_again(store_url, monkeypatch):
    """R3, X3: a store that is away for a moment costs a slice, not the rows that were read before, nor any twice."""
    memory = Memory(store_url)
    times = History(memory, 3).run(5)
    sliced, reading, calls = Columns(memory.store, LIMIT, 5), memory.store.reading, []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) % 3 == 0:
            raise Unavailable(part="the memory store")
        return reading(*arguments)

    monkeypatch.setattr(memory.store, "reading", failing)
    failures = 0
    done = False
    while not done:
        try:
            done = sliced.advance(1)
        except Unavailable:
            failures += 1
    monkeypatch.undo()
    assert failures > 3
    asked = queries(9, times, 6)
    fresh = Columns(memory.store, LIMIT).at(1, memory.tx)
    assert answers(memory, sliced.at(1, memory.tx), asked) == answers(memory, fresh, asked)
    memory.close()


def test_what_is_small_is_read_at_once(store_url):
    """R3: a tail of a few rows needs no slices; a load of many is never made at once."""
    memory = Memory(store_url)
    history = History(memory, 3)
    history.run(4)
    columns = Columns(memory.store, LIMIT, 10)
    with pytest.raises(Behind):
        columns.at(1, memory.tx)
    caught_up(columns, memory.tx)
    with memory.commit(memory.tx + 1) as commit:
        commit.document("short", ["the harbour opens at six"])
    assert columns.at(1, memory.tx).last_tx == memory.tx
    memory.close()

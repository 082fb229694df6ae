"""The laws of the columns: loaded or tailed, earlier or later, alone or beside others, recall answers alike."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recall_histories import DIMENSIONS, History, queries
from recall_memory import SECOND, Memory, a_query, facts, parts_told
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.tenant import Columns
from telha_planner.recall.recall import recall_in_detail

LIMIT = 1 << 30
seeds = st.integers(0, 2**32)
ON_EACH = [HealthCheck.function_scoped_fixture]  # the address is another at each call


def answers(memory: Memory, snapshot: Snapshot, asked: list[dict], *, numbers: bool = True) -> list[object]:
    nodes = sorted(memory._nodes.values()) if numbers else []
    told: list[object] = []
    for changes in asked:
        found, detail = recall_in_detail(snapshot, a_query(memory, **changes))
        doubts = snapshot.clarifications(nodes, changes["tx_t"])
        told.append((facts(found, numbers=numbers), parts_told(detail), doubts))
    return told


@settings(max_examples=14, deadline=None, suppress_health_check=ON_EACH)
@given(seed=seeds, commits=st.integers(2, 14))
def test_tailed_columns_answer_as_freshly_loaded_ones_and_the_past_stays(new_store_url, seed, commits):
    """R3: recall at an instant is equal before and after later writes, BM25 statistics and clarifications included."""
    memory = Memory(new_store_url())
    try:
        history = History(memory, seed)
        tailed = Columns(memory.store, LIMIT)
        times, remembered = [], []
        for index in range(commits):
            times += history.run(1)
            if index % 3 == 1:
                continue  # a tail over two commits
            asked = queries(seed + index, times, 3)
            told = answers(memory, tailed.at(1, memory.tx), asked)
            assert told == answers(memory, Columns(memory.store, LIMIT).at(1, memory.tx), asked)
            remembered.append((asked, told))
        for asked, told in remembered:
            assert answers(memory, tailed.at(1, memory.tx), asked) == told
            assert answers(memory, Columns(memory.store, LIMIT).at(1, memory.tx), asked) == told
    finally:
        memory.close()


@settings(max_examples=14, deadline=None, suppress_health_check=ON_EACH)
@given(seed=seeds, commits=st.integers(1, 8))
def test_other_spaces_and_tenants_change_nothing(new_store_url, seed, commits):
    """M7, A6: legs, expansion and corpus statistics see only the spaces asked for, whatever is written elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        alone = Memory(Path(folder))
        url = new_store_url()
        among = Memory(url)
        stranger = Memory(url, tenant=2)
        try:
            owner, same = History(alone, seed, ("main",)), History(among, seed, ("main",))
            neighbour, other_tenant = History(among, seed + 1, ("other",)), History(stranger, seed + 2)
            tailed = Columns(among.store, LIMIT)
            times: list[int] = []
            for index in range(commits):
                times += owner.run(1)
                assert times[-1] == same.run(1)[-1]
                tailed.at(1, among.tx)
                neighbour.step(among.tx + SECOND // 2)
                with among.commit(among.tx + 1) as commit:
                    # An edge into the space, from outside it.
                    commit.edge(neighbour.nodes[0], same.nodes[0])
                    commit.edge(same.nodes[-1], neighbour.nodes[0], "next", source_no=1)
                other_tenant.run(1)
                asked = [{**changes, "spaces": ("main",)} for changes in queries(seed + index, times, 3)]
                told = answers(alone, Columns(alone.store, LIMIT).at(1, alone.tx), asked, numbers=False)
                for columns in (tailed, Columns(among.store, LIMIT)):
                    assert answers(among, columns.at(1, among.tx), asked, numbers=False) == told
                    now = [{**changes, "tx_t": among.tx} for changes in asked if changes["tx_t"] == times[-1]]
                    then = [one for one, changes in zip(told, asked, strict=True) if changes["tx_t"] == times[-1]]
                    assert answers(among, columns.at(1, among.tx), now, numbers=False) == then
        finally:
            for memory in (alone, among, stranger):
                memory.close()


@settings(max_examples=5, deadline=None, suppress_health_check=ON_EACH)
@given(seed=seeds)
def test_a_view_that_is_kept_answers_as_a_new_one(new_store_url, seed):
    """R3: validity that begins or ends between two requests is seen, though nothing was written."""
    memory = Memory(new_store_url())
    try:
        times = History(memory, seed).run(6)
        kept = Columns(memory.store, LIMIT).at(1, memory.tx)
        base = {"tx_t": memory.tx, "question": "the harbour opens", "vector": [1.0] * DIMENSIONS, "spaces": None}
        for instant in range(times[0] - 6 * SECOND, times[0] + 8 * SECOND, SECOND // 2):
            asked = [{**base, "valid_t": instant}]
            fresh = Columns(memory.store, LIMIT).at(1, memory.tx)
            assert answers(memory, kept, asked) == answers(memory, fresh, asked)
    finally:
        memory.close()

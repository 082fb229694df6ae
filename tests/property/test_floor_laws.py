"""The laws of the floor, over random small memories: it takes away by evidence, and does nothing else."""

import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from recall_histories import History, queries
from recall_memory import Memory, a_query
from telha_planner.columns.tenant import Columns
from telha_planner.recall.ports import Recalled
from telha_planner.recall.recall import recall

FLOORS = (0.0, 0.02, 0.1, 0.25, 0.4, 0.7, 1.0)


def rows_of(found: Recalled) -> set[tuple[int, int, float]]:
    """The rows: node, span and the score that they had."""
    return set(zip(found.node_no.tolist(), found.span_no.tolist(), found.score.tolist(), strict=True))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), commits=st.integers(1, 10))
def test_a_higher_floor_takes_away_no_less_and_changes_no_score(seed, commits):
    """R1, R2, R6: pools by rising floors are subsets of one another, scores and all; what is gone is counted."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(Path(folder))
        try:
            times = History(memory, seed).run(commits)
            snapshot = Columns(memory.store, 1 << 30).at(1, memory.tx)
            for changes in queries(seed, times, count=3):
                pools = [recall(snapshot, a_query(memory, **{**changes, "min_similarity": f})) for f in FLOORS]
                everything = pools[0]
                assert everything.stats.best_evidence is None
                for lower, higher in pairwise(pools):
                    assert rows_of(higher) <= rows_of(lower)
                    assert higher.stats.below_floor >= lower.stats.below_floor
                for floor, pool in zip(FLOORS, pools, strict=True):
                    assert pool.stats.nodes == everything.stats.nodes
                    assert pool.stats.min_similarity == floor
                    left = len(set(pool.node_no.tolist()))
                    assert left <= pool.stats.nodes - pool.stats.pool_capped - pool.stats.below_floor
        finally:
            memory.close()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), commits=st.integers(1, 8))
def test_what_other_spaces_hold_moves_no_evidence(seed, commits):
    """M7: evidence is a function of what is visible in the spaces asked for."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(Path(folder))
        try:
            times = History(memory, seed, spaces=("main",)).run(commits)
            asked = [{**changes, "spaces": ("main",), "min_similarity": 0.1} for changes in queries(seed, times)]
            asked = [{**changes, "tx_t": memory.tx} for changes in asked]
            before = [recall(Columns(memory.store, 1 << 30).at(1, memory.tx), a_query(memory, **c)) for c in asked]
            History(memory, seed + 1, spaces=("other",)).run(3)
            snapshot = Columns(memory.store, 1 << 30).at(1, memory.tx)
            for changes, then in zip(asked, before, strict=True):
                now = recall(snapshot, a_query(memory, **changes))
                assert (now.stats, rows_of(now)) == (then.stats, rows_of(then))
        finally:
            memory.close()

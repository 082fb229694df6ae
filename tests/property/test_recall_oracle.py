"""Recall against the oracle, over random small memories with every irregularity the tables allow."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recall_histories import History, queries
from recall_memory import Memory, a_query
from recall_oracle import Oracle, Row
from telha_planner.columns.ids import whole
from telha_planner.columns.tenant import Columns
from telha_planner.memory import tables
from telha_planner.models import tokenizers
from telha_planner.recall import expansion, floor
from telha_planner.recall import recall as recall_module
from telha_planner.recall.ports import Recalled
from telha_planner.recall.recall import recall


def rows_of(found: Recalled, columns) -> list[Row]:
    ids = columns.node_ids(found.node_no)
    sources = whole(found.source_hi, found.source_lo)
    return [
        Row(
            ids[index],
            sources[index],
            int(found.version[index]),
            int(found.start[index]),
            int(found.end[index]),
            found.kinds[found.kind[index]],
            int(found.span_class[index]),
            int(found.tokens[index]),
            float(found.score[index]),
            tuple(found.parts[index].tolist()),
        )
        for index in range(len(found))
    ]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), commits=st.integers(1, 12), small_caps=st.booleans())
def test_recall_equals_the_oracle_bit_for_bit(new_store_url, seed, commits, small_caps):
    """R1, R2, R3, R4, M7, S1: docs/scoring.md, legs, counters and all, as of any instant, on either engine."""
    with pytest.MonkeyPatch.context() as patch:
        if small_caps:
            patch.setattr(expansion, "HUB_CAP", 2)
            patch.setattr(recall_module, "POOL_NODES", 4)
            patch.setattr(floor, "ORDINARY_NODES", 3)
        memory = Memory(new_store_url())
        try:
            times = History(memory, seed).run(commits)
            oracle = Oracle(memory.store, 1, *((4, 2, 3) if small_caps else ()))
            snapshot = Columns(memory.store, 1 << 30).at(1, memory.tx)
            for changes in queries(seed, times):
                query = a_query(memory, **changes)
                found, told = recall(snapshot, query), oracle(query)
                assert rows_of(found, snapshot) == told.rows, changes
                stats = found.stats
                assert (stats.legs.query, stats.legs.vector, stats.legs.lexical, stats.legs.traversal) == told.legs
                assert (stats.nodes, stats.nodes_without_spans) == (told.nodes, told.nodes_without_spans)
                assert (stats.kind_missing, stats.slices_missing) == (told.kind_missing, told.slices_missing)
                assert (stats.zero_score, stats.pool_capped) == (told.zero_score, told.pool_capped)
                assert (stats.below_floor, stats.best_evidence) == (told.below_floor, told.best_evidence)
                assert set(found.kinds) == {row.kind for row in told.rows}
        finally:
            memory.close()


def test_the_encodings_that_are_stored_are_those_the_ledger_has():
    """T2: counts of immutable spans are computed once and reused."""
    names = set(tables.span.c.keys())
    assert set(tokenizers.BUILT_IN) < names

"""Recall against the oracle, over random small memories with every irregularity the tables allow."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recall_histories import History, queries
from recall_memory import Memory, a_query, facts
from recall_oracle import Oracle
from recall_oracle_told import LookedAt, Row
from telha_planner.columns.ids import whole
from telha_planner.columns.tenant import Columns
from telha_planner.core.fusion import fuse_one
from telha_planner.memory import tables
from telha_planner.models import tokenizers
from telha_planner.recall import expansion, floor
from telha_planner.recall import recall as recall_module
from telha_planner.recall.detail import Fate, RecallDetail
from telha_planner.recall.ports import Recalled
from telha_planner.recall.recall import recall, recall_in_detail


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
        )
        for index in range(len(found))
    ]


def looked_at(detail: RecallDetail) -> dict[bytes, LookedAt]:
    nodes, view = detail.nodes, detail.view
    made = nodes.components
    parts = ("semantic", "lexical", "context", "source", "speaker", "days", "window")
    columns = None if made is None else np.stack([getattr(made, name) for name in parts], axis=1).tolist()
    return {
        node_id: LookedAt(
            float(nodes.score[index]),
            None if nodes.similarity is None else float(nodes.similarity[index]),
            None if columns is None else tuple(columns[index]),
            float(nodes.decay[index]),
            int(detail.hops[index]),
            tuple(bool(detail.found_by[index] >> bit & 1) for bit in range(3)),
            tuple(nodes.rank[index].tolist()),
            None if nodes.evidence is None else float(nodes.evidence.around[index]),
            Fate(detail.fate[index]).name,
        )
        for index, node_id in enumerate(whole(view.hi[nodes.places], view.lo[nodes.places]))
    }


def check_paths(detail: RecallDetail) -> None:
    """Each path begins at a root, follows visible edges, and decays as much as is told."""
    view, edges, hop_decay = detail.view, detail.view.columns.edges, detail.query.scoring.hop_decay
    roots = set(detail.nodes.places[detail.found_by > 0].tolist())
    for index, place in enumerate(detail.nodes.places.tolist()):
        hops, path = int(detail.hops[index]), detail.path[index].tolist()
        assert path[hops] == place
        assert set(path[hops + 1 :]) <= {-1}
        assert path[0] in roots
        decays = {1.0}
        for one, two in itertools.pairwise(path[: hops + 1]):
            _, rows, ends = view.edges(np.array([one]), edges.of_node)
            factors = {hop_decay * edges.confidence[row].item() for row in rows[ends == two]}
            decays = {before * factor for before in decays for factor in factors}
        assert detail.nodes.decay[index] in decays


def check_scores(detail: RecallDetail) -> None:
    """The parts of each node make its score again, by section 4 and 5 of docs/scoring.md, one node at a time."""
    scoring, nodes, made = detail.query.scoring, detail.nodes, detail.nodes.components
    for index in range(len(nodes)):
        decay = float(nodes.decay[index])
        score = decay
        if made is not None:
            semantic, lexical, context, source, speaker, days, window = (
                float(getattr(made, name)[index])
                for name in ("semantic", "lexical", "context", "source", "speaker", "days", "window")
            )
            g = made.share * semantic + (1.0 - made.share) * lexical
            g = g + scoring.context_weight * context
            if g > 0.0:
                g = (g + scoring.source_weight * source) + scoring.speaker_weight * speaker
            g = window * (days * g)
            similarity = min(1.0, g / made.greatest) if made.greatest > 0.0 else 0.0
            for _ in range(int(math.log2(scoring.sharpening))):
                similarity *= similarity
            assert similarity == nodes.similarity[index]
            score = fuse_one(similarity, decay, scoring.alpha)
        assert nodes.score[index] == (1.0 if nodes.structured[index] else score)


def check_others(detail: RecallDetail) -> None:
    """What a node would have been is what it is, but for its path."""
    nodes = detail.nodes
    others = detail.others(np.arange(len(detail.view)))
    assert np.array_equal(others.rank[nodes.places], nodes.rank)
    if nodes.similarity is not None:
        assert others.similarity[nodes.places].tobytes() == nodes.similarity.tobytes()
    roots = nodes.places[detail.found_by > 0]
    assert others.score[roots].tobytes() == nodes.score[detail.found_by > 0].tobytes()


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
                again, detail = recall_in_detail(snapshot, query)
                assert facts(again) == facts(found), changes
                assert looked_at(detail) == told.looked_at, changes
                check_paths(detail)
                check_scores(detail)
                check_others(detail)
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

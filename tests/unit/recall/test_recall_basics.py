"""Recall over small memories whose answers a person can check."""

from pathlib import Path

import pytest
from recall_memory import Memory, facts, recalled, uid
from telha_planner.columns.tenant import Columns
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import Leg
from telha_planner.recall import lexical
from telha_planner.recall.ports import Scoring


@pytest.fixture
def memory(tmp_path: Path):
    made = Memory(tmp_path)
    yield made
    made.close()


def test_an_empty_tenant_answers_with_an_empty_pool(memory):
    """R1: stated by the name."""
    found = recalled(memory, question="anything", find="passage")
    assert len(found) == 0
    assert found.stats.nodes == 0


def test_the_passage_that_holds_the_words_scores_highest(memory):
    """R1: the lexical leg."""
    with memory.commit() as commit:
        commit.document("a", ["the harbour opens at six", "bread is baked at four", "ships leave at noon"])
    found = recalled(memory, question="when does the harbour open: harbour opens", expand_depth=0)
    top = int(found.score.argmax())
    assert found.score[top] == 1.0
    assert found.start[top] == 0
    assert found.stats.legs.lexical >= 1


def test_structured_hits_score_one_and_come_by_node_id(memory):
    """R1, R2: structured primaries 1.0."""
    with memory.commit() as commit:
        source = commit.source(uid("s"))
        commit.source_version(source, 100)
        names = sorted((uid("n", index) for index in range(5)), reverse=True)
        for index, name in enumerate(names):
            commit.version(commit.node(name), node_type="person", spans=[commit.span(source, index, index + 1)])
    found = recalled(memory, find="person", find_limit=3)
    assert found.score.tolist() == [1.0, 1.0, 1.0]
    assert found.stats.legs.query == 3
    # The three lowest ids were written last.
    assert found.start.tolist() == [4, 3, 2]


def test_without_question_or_vector_expansion_scores_by_decay_alone(memory):
    """R2: stated by the name."""
    with memory.commit() as commit:
        source = commit.source(uid("s"))
        commit.source_version(source, 100)
        nodes = [commit.node(uid("n", index)) for index in range(3)]
        for index, node in enumerate(nodes):
            node_type = "person" if index == 0 else "note"
            commit.version(node, node_type=node_type, spans=[commit.span(source, index, index + 1)])
        commit.edge(nodes[0], nodes[1], confidence=0.5)
        commit.edge(nodes[2], nodes[1], confidence=1.0)
    found = recalled(memory, find="person", expand_depth=2)
    scores = {int(start): float(score) for start, score in zip(found.start, found.score, strict=True)}
    assert scores == {0: 1.0, 1: 0.25, 2: 0.125}
    assert found.stats.legs.traversal == 2


def test_a_question_that_matches_nothing_leaves_expanded_nodes_out(memory):
    """R2, R1: with a question every node has a similarity; S = 0 does not enter the pool."""
    with memory.commit() as commit:
        first, second = commit.document("a", ["one two", "three four"])
        commit.edge(first, second)
        commit.version(commit.node(uid("p")), node_type="person")
        commit.edge(commit.node(uid("p")), first)
    found = recalled(memory, question="zebra", find="person")
    assert len(found) == 0
    assert found.stats.zero_score == 1
    assert found.stats.nodes_without_spans == 1


def test_what_cannot_be_sliced_or_has_no_kind_is_counted(memory):
    """R4: stated by the name."""
    with memory.commit() as commit:
        source = commit.source(uid("s"))
        commit.source_version(source, 10)
        spans = [
            commit.span(source, 0, 5, kind=None),
            commit.span(source, 5, 11),
            commit.span(source, 0, 5, tx=commit.tx - 7),
        ]
        commit.version(commit.node(uid("n")), node_type="note", spans=spans)
    found = recalled(memory, find="note")
    assert found.kinds == ("body",)
    assert len(found) == 1
    assert found.stats.kind_missing == 1
    assert found.stats.slices_missing == 2


def test_overlapping_windows_leave_only_the_best(memory):
    """R1: of overlapping windows only the best; none above the largest."""
    with memory.commit() as commit:
        commit.document("a", ["green apple tree", "red apple tree", "blue apple tree", "apple apple tree"])
    found = recalled(memory, question="green apple", expand_depth=0)
    windows = sorted(
        (start, end)
        for start, end, kind in zip(found.start.tolist(), found.end.tolist(), found.kind, strict=True)
        if found.kinds[kind] == "section"
    )
    assert len(windows) == 2
    assert windows[0][1] <= windows[1][0]
    none = recalled(memory, question="green apple", expand_depth=0, largest_window=3)
    assert "section" not in none.kinds


def test_legs_that_are_not_named_find_nothing(memory):
    """R1: stated by the name."""
    with memory.commit() as commit:
        commit.document("a", ["red apple", "green pear"])
    found = recalled(memory, question="apple", legs=frozenset({Leg.STRUCTURED}))
    assert len(found) == 0


def test_a_vector_of_another_dimension_is_refused_with_its_place(memory):
    """R1: wrong vector dimension."""
    with memory.commit() as commit:
        commit.model("m", 3)
        node = commit.node(uid("n"))
        commit.version(node)
        commit.vector(node, [1, 0, 0])
    with pytest.raises(RequestInvalid) as refused:
        recalled(memory, vector=[1.0, 0.0])
    assert refused.value.field == "vector.values"
    with pytest.raises(RequestInvalid) as refused:
        recalled(memory, vector=[1.0, 0.0, 0.0], vector_model="other")
    assert refused.value.field == "vector.model"


def test_a_vector_finds_its_nearest_nodes(memory):
    """R1: a caller's vector; R2: cosine above the baseline."""
    with memory.commit() as commit:
        commit.model("m", 2, baseline=0.1)
        source = commit.source(uid("s"))
        commit.source_version(source, 10)
        for index, values in enumerate(([1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-1.0, 0.0])):
            node = commit.node(uid("n", index))
            commit.version(node, spans=[commit.span(source, index, index + 1)])
            commit.vector(node, values)
    found = recalled(
        memory, vector=[2.0, 0.0], scoring=Scoring(context_weight=0.0, source_weight=0.0, sharpening=1, alpha=1.0)
    )
    scores = {int(start): float(score) for start, score in zip(found.start, found.score, strict=True)}
    assert set(scores) == {0, 1}
    assert scores[0] == 1.0
    assert scores[1] == pytest.approx(0.7 / 0.9)
    assert found.stats.legs.vector == 2


def test_a_vector_before_any_model_is_reported_not_refused(memory):
    """R1: vector_leg_skipped."""
    with memory.commit() as commit:
        commit.document("a", ["red apple"])
    found = recalled(memory, question="apple", vector=[1.0])
    assert found.stats.vector_leg_skipped == "memory holds no vectors"
    assert len(found) == 1


def test_clarifications_come_conflicted_first_and_only_while_open(memory):
    """C5, M4: as of tx_t; conflicted before pending, then lowest id."""
    with memory.commit() as commit:
        node = commit.node(uid("n"))
        commit.version(node)
        for name in ("a", "b", "c"):
            commit.clarification(name, node)
        commit.clarification("d", node, "conflicted")
    before = memory.tx
    columns = Columns(memory.store, 1 << 30)
    columns.at(1, memory.tx)
    with memory.commit() as commit:
        commit.clarification("a", node, "resolved")
        commit.clarification("d", node, "pending")
    snapshot = columns.at(1, memory.tx)
    old = snapshot.clarifications([node], before)[node]
    assert [one.clarification_id for one in old] == [uid("d"), *sorted(uid(name) for name in "abc")]
    new = snapshot.clarifications([node], memory.tx)[node]
    assert [one.clarification_id for one in new] == sorted(uid(name) for name in "bcd")
    assert snapshot.node_ids([node]) == [uid("n")]


@pytest.mark.parametrize("uniform", [True, False])
def test_a_hub_leads_only_to_its_edges_of_lowest_id(memory, uniform):
    """R1: edges by edge id, hub cap 32, counted after what is hidden has been left out."""
    with memory.commit() as commit:
        hub = commit.node(uid("hub"))
        commit.version(hub, node_type="hub")
        source = commit.source(uid("s"))
        commit.source_version(source, 1000)
        ids = []
        for index in range(400):
            node = commit.node(uid("n", index), "main" if index % 4 else "other")
            commit.version(node, spans=[commit.span(source, index, index + 1)])
            identity = uid("edge", index) if uniform else bytes(14) + (7 * index % 400).to_bytes(2, "big")
            commit.edge(hub, node, edge_id=identity)
            if index % 4:
                ids.append((identity, index))
    found = recalled(memory, find="hub")
    assert sorted(found.start.tolist()) == sorted(index for _, index in sorted(ids)[:32])
    assert found.stats.legs.traversal == 32


def test_forgetting_kept_contributions_changes_no_score(memory, monkeypatch):
    """R8: what a view keeps between questions is a matter of time only."""
    with memory.commit() as commit:
        for index in range(4):
            commit.document(f"doc {index}", [f"the harbour opens w{index}", f"the oven w{index} opens", "the ship"])
    columns = Columns(memory.store, 1 << 30)
    questions = ["the harbour opens", "oven w1", "the ship w2 w3"]
    kept = [facts(recalled(memory, columns, question=question)) for question in questions * 2]
    monkeypatch.setattr(lexical, "_KEPT_BYTES", 1)
    fresh = Columns(memory.store, 1 << 30)
    assert [facts(recalled(memory, fresh, question=question)) for question in questions * 2] == kept

"""Why nodes were no candidates, leg by leg, over small memories whose answers a person can check."""

from pathlib import Path

import numpy as np
import pytest
from recall_memory import Memory, a_query, uid
from telha_planner.columns.tenant import Columns
from telha_planner.core.explained import ExplainedNode, Verdict
from telha_planner.core.predicate import read_where
from telha_planner.core.request import Leg
from telha_planner.core.subject import SourceSubject
from telha_planner.memory.query import compiled
from telha_planner.recall.recall import recall_in_detail
from telha_planner.recall.subjects import meant_by
from telha_planner.recall.told_nodes import told_nodes
from telha_planner.recall.verdicts import judge, unfound
from telha_planner.recall.visibility import nodes_of


@pytest.fixture
def memory(tmp_path: Path):
    made = Memory(tmp_path)
    yield made
    made.close()


def told(memory: Memory, name: str, most_scored: int = 100, **query: object) -> tuple[list[ExplainedNode], int]:
    """What is told of the nodes of the source *name*, and how many of them were not scored."""
    snapshot = Columns(memory.store, 1 << 30).at(1, memory.tx)
    recalled, detail = recall_in_detail(snapshot, a_query(memory, **query))
    (meant,) = meant_by(snapshot, [SourceSubject(name)], None)
    nodes = nodes_of(detail.view, detail.query.spaces, meant.links)
    touched = meant.ranges.touched_by(snapshot.columns, snapshot.columns.spans.rows_of(recalled.span_no))
    candidates = snapshot.columns.nodes.rows_of(np.unique(recalled.node_no[touched]))
    judged = judge(detail, detail.others(unfound(detail, nodes, most_scored)), nodes, candidates, 8)
    return [*told_nodes(detail, judged.nearest)], judged.unscored


def one(memory: Memory, name: str, **query: object) -> ExplainedNode:
    (node,), _ = told(memory, name, **query)
    return node


def with_vectors(memory: Memory, count: int, without: int = 0) -> None:
    """Sources `0`, `1` …, each farther from [1, 0] than the one before; the last *without* have no vector."""
    with memory.commit() as commit:
        commit.model("m", 2)
        for number in range(count):
            (node,) = commit.document(str(number), [f"words {number}"])
            if number < count - without:
                commit.vector(node, [1.0, 0.1 * number])


def test_the_place_among_the_nearest_vectors_is_told(memory):
    """X6: the semantic leg alone, behind its places."""
    with_vectors(memory, 5)
    node = one(memory, "3", vector=[1.0, 0.0], top_k=2, expand_depth=0)
    assert node.verdict is Verdict.NOT_FOUND
    assert node.ranks == ((Leg.SEMANTIC, 4),)
    assert node.because.startswith("4th of the semantic leg, which has 2 places; it would have scored 0.")


def test_a_node_without_vector_says_so(memory):
    """X6: it is not only far away."""
    with_vectors(memory, 3, without=1)
    node = one(memory, "2", vector=[1.0, 0.0], expand_depth=0)
    assert node.because == "has no vector; it would have scored 0"
    with memory.commit() as commit:
        (far,) = commit.document("far", ["quite another matter"])
        commit.vector(far, [-1.0, 0.0])
    node = one(memory, "far", vector=[1.0, 0.0], expand_depth=0)
    assert node.because == "its vector is not among the nearest; it would have scored 0"


def test_each_leg_that_ran_is_told_and_no_other(memory):
    """X6: with words and vectors both have their say; of a leg that was not named there is nothing to say."""
    with_vectors(memory, 6)
    asked = {"question": "words", "vector": [1.0, 0.0], "top_k": 1, "expand_depth": 0}
    node = one(memory, "5", **asked)
    assert [leg for leg, _ in node.ranks] == [Leg.SEMANTIC, Leg.LEXICAL]
    assert "of the semantic leg" in node.because
    assert "of the lexical leg" in node.because
    node = one(memory, "5", **asked, legs=frozenset({Leg.LEXICAL}))
    assert [leg for leg, _ in node.ranks] == [Leg.LEXICAL]
    assert "semantic" not in node.because
    assert " of the lexical leg, which has one place; it would have scored 0." in node.because
    assert "semantic" not in one(memory, "5", **(asked | {"vector": None})).because


def test_the_structured_leg_tells_type_conditions_and_limit(memory):
    """X6: another type; the type but behind the limit; the type but not what the conditions ask for."""
    with memory.commit() as commit:
        for number in range(3):
            source = commit.source(uid("s", number))
            commit.source_version(source, 9, f"note {number}")
            commit.version(commit.node(uid("n", number)), "", "note", [commit.span(source, 0, 9)])
    by_id = sorted(range(3), key=lambda number: uid("n", number))
    asked = {"find": "note", "find_limit": 2, "expand_depth": 0}
    last = f"note {by_id[2]}"
    assert one(memory, last, **asked).because.startswith(
        "not among the first 2 nodes of the type “note”; it would have"
    )
    assert one(memory, last, **(asked | {"find": "person"})).because.startswith(
        "no node of the type “person”; it would"
    )
    where = compiled(read_where("query.where", {"age": {"gt": 1}}))
    node = one(memory, last, **asked, where=where)
    assert "not among the first 2 nodes of the type “note” that satisfy the conditions" in node.because


def test_what_cannot_be_read_says_so(memory):
    """X6, R4: it passed everything, and its span lies behind the end of its text."""
    with memory.commit() as commit:
        source = commit.source(uid("s"))
        commit.source_version(source, 10, "short")
        commit.version(commit.node(uid("n")), "harbour", "note", [commit.span(source, 5, 11)])
    node = one(memory, "short", question="harbour")
    assert node.verdict is Verdict.NO_PROVENANCE
    assert node.because == "its text cannot be read: the version of the source is missing, or shorter than the span"


def test_too_many_to_score_are_counted_and_the_likeliest_scored(memory):
    """X6: the ones with most of the question in them are scored, and stand first."""
    with memory.commit() as commit:
        source = commit.source(uid("s"))
        commit.source_version(source, 100, "long")
        for number in range(10):
            text = "harbour " * (number % 5) + f"other words of it {number}"
            commit.version(commit.node(uid("n", number)), text, "note", [commit.span(source, number, number + 1)])
    every, unscored = told(memory, "long", question="harbour", top_k=1, expand_depth=0)
    assert unscored == 0
    few, unscored = told(memory, "long", 3, question="harbour", top_k=1, expand_depth=0)
    assert unscored == 6
    assert [node.node_id for node in few[:3]] == [node.node_id for node in every[:3]]
    assert [node.score is None for node in few] == [False] * 3 + [True] * 5


def test_what_stays_in_a_view_leaks_into_no_answer(memory):
    """X6: subjects that were asked about before change nothing."""
    with_vectors(memory, 8)
    asked = {"question": "words 3", "vector": [1.0, 0.2], "top_k": 2, "expand_depth": 0}
    first = told(memory, "7", **asked)
    told(memory, "5", **asked)
    assert told(memory, "7", **asked) == first

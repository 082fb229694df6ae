"""How far from what was found passages are reached, over small memories."""

from pathlib import Path

import pytest
from recall_memory import Memory, a_query, recalled, uid
from telha_planner.columns.tenant import Columns
from telha_planner.recall.detail import Fate
from telha_planner.recall.ports import Scoring
from telha_planner.recall.recall import recall_in_detail

EVEN = Scoring(alpha=0.0, sharpening=1)
"""S is the decay of what has a similarity at all."""


@pytest.fixture
def memory(tmp_path: Path):
    made = Memory(tmp_path)
    with made.commit() as commit:
        commit.document("talk", ["tram one", "ship bread", "ship oven", "ship rain", "snow"])
    yield made
    made.close()


@pytest.mark.parametrize(("depth", "reached"), [(0, 0), (1, 2), (2, 2)])
def test_two_passages_to_either_side_are_reached(memory, depth, reached):
    """R1: at every depth but 0, with the decay of both steps; what lies farther is not."""
    legs = recalled(memory, question="tram", expand_depth=depth, largest_window=1).stats.legs
    assert legs.lexical == 1
    # The windows over what is reached at the depth before: one more at each.
    assert legs.traversal == reached + depth


def test_two_steps_decay_twice(memory):
    """R2: by the decay of each."""
    snapshot = Columns(memory.store, 1 << 30).at(memory.tenant, memory.tx)
    query = a_query(memory, question="tram ship", top_k=1, scoring=EVEN, largest_window=1)
    _, detail = recall_in_detail(snapshot, query)
    offered = detail.fate == Fate.OFFERED
    assert sorted(zip(detail.hops[offered], detail.nodes.decay[offered], strict=True)) == [
        (0, 1.0),
        (1, 0.5),
        (2, 0.25),
    ]


def test_other_edges_take_one_step(memory):
    """R1: a `next` edge that ingestion did not make is an edge like any other."""
    with memory.commit() as commit:
        nodes = []
        source = commit.source(uid("notes"), "main")
        commit.source_version(source, 100)
        for number, text in enumerate(("harbour", "two", "three")):
            span = commit.span(source, 10 * number, 10 * number + 9, "body", 3)
            node = commit.node(uid("note", number), "main")
            commit.version(node, text, "note", [span])
            nodes.append(node)
        commit.edge(nodes[0], nodes[1], "next")
        commit.edge(nodes[1], nodes[2], "next")
    found = recalled(memory, question="harbour", expand_depth=1)
    assert (found.stats.legs.lexical, found.stats.legs.traversal) == (1, 1)

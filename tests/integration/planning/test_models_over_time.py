"""Which model a plan uses: the active one as of its instant, whatever the planner is configured with since."""

from pathlib import Path

import msgpack
import numpy as np
import pytest
from counting_embedder import CountingEmbedder
from planner_parts import Parts, parts_in
from telha_planner.core.errors import VectorLegUnavailable
from telha_planner.core.request import Leg, Window
from telha_planner.recall.semantic import NO_VECTORS
from telha_planner.resolution import NO_EMBEDDER

QUESTION = "When does the ferry leave the harbour?"


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    made = parts_in(tmp_path, embedder=CountingEmbedder("words/1"))
    made.remember("ferry.md", "# Ferry\n\nThe ferry leaves the harbour at nine.\n\nIt carries sheep.\n")
    made.remember("soup.md", "# Soup\n\nOnions are fried in butter. כן\n", valid_from=-5_000_000)
    return made


def told(answer) -> tuple:
    return answer.plan.plan_hash, answer.plan.stats.recall.legs


def test_a_question_is_embedded_once_and_then_kept(parts: Parts) -> None:
    """R1: the same question again costs the embedder nothing."""
    del parts.questions.embedder.asked[:]
    first, second = parts.plan(QUESTION), parts.plan(QUESTION)
    assert parts.questions.embedder.asked == [QUESTION]
    assert told(first) == told(second)
    assert first.plan.stats.recall.legs.vector > 0
    assert first.plan.stats.recall.vector_leg_skipped is None


def test_context_and_plan_with_a_question_give_the_same_plan(parts: Parts) -> None:
    """C1: with the semantic leg too, one entry point gives one plan."""
    plan = parts.plan(QUESTION, max_tokens=300, max_spans=64)
    assert parts.context(QUESTION, max_tokens=300, max_spans=64).plan.plan_hash == plan.plan.plan_hash


def test_the_recorded_vector_gives_the_recorded_plan_without_an_embedder(parts: Parts, tmp_path: Path) -> None:
    """X1, X5: what a replay needs of the embedder stands in the trace."""
    answer = parts.plan(QUESTION)
    record = msgpack.unpackb(answer.record)
    vector = tuple(np.frombuffer(record["query_vector"], "<f4").tolist())
    window = Window(record["window"]["validTime"], record["window"]["txTime"])
    without = parts.restarted()
    again = without.plan(QUESTION, vector=vector, vector_model=record["vector_model"], window=window)
    assert again.plan.plan_hash == answer.plan.plan_hash


def test_a_plan_of_the_past_is_the_same_before_and_after_the_move(parts: Parts, tmp_path: Path) -> None:
    """M8: the move to another model changes no bit of a plan as of before it, with a question or with a vector."""
    before = parts.plan(QUESTION)
    vector = tuple(parts.questions.embedder.question(QUESTION).tolist())
    by_vector = parts.plan(vector=vector)
    then = parts.restarted(CountingEmbedder("words/2", 32))
    skipped = then.plan(QUESTION)
    reason = "the embedder makes vectors of words/2, memory has those of words/1"
    assert skipped.plan.stats.recall.vector_leg_skipped == reason
    then.reembed()
    as_of = before.window
    assert then.plan(vector=vector, window=by_vector.window).plan.plan_hash == by_vector.plan.plan_hash
    assert then.plan(QUESTION, vector=vector, window=as_of).plan.plan_hash == before.plan.plan_hash
    assert then.plan(QUESTION, window=as_of).plan.stats.recall.vector_leg_skipped == reason
    now = then.plan(QUESTION)
    assert now.plan.stats.recall.vector_leg_skipped is None
    assert now.plan.stats.recall.legs.vector > 0
    assert parts.plan(QUESTION, window=as_of).plan.plan_hash == before.plan.plan_hash


def test_a_leg_that_is_named_and_cannot_run_is_refused_with_its_cause(parts: Parts, tmp_path: Path) -> None:
    """R1: implied it is skipped and reported; named it is a failed precondition that says why."""
    named = {"legs": frozenset({Leg.SEMANTIC})}
    assert parts.plan(QUESTION, **named).plan.stats.recall.legs.lexical == 0
    with pytest.raises(VectorLegUnavailable, match=NO_EMBEDDER):
        parts.restarted().plan(QUESTION, **named)
    with pytest.raises(VectorLegUnavailable, match=r"words/3.*words/1"):
        parts.restarted(CountingEmbedder("words/3")).plan(QUESTION, **named)
    with pytest.raises(VectorLegUnavailable, match=NO_VECTORS):
        parts.plan(QUESTION, tenant="empty", **named)
    parts.questions.embedder.failing = "the embedding endpoint answered 503"
    with pytest.raises(VectorLegUnavailable, match="the embedding endpoint answered 503"):
        parts.plan("What else?", **named)


def test_an_endpoint_that_is_away_costs_the_semantic_leg_and_not_the_answer(parts: Parts) -> None:
    """C2: the plan goes on lexically and says why; the next call tries again."""
    parts.questions.embedder.failing = "the embedding endpoint cannot be reached"
    answer = parts.plan(QUESTION)
    assert answer.plan.stats.recall.vector_leg_skipped == "the embedding endpoint cannot be reached"
    assert answer.plan.stats.recall.legs.lexical > 0
    assert msgpack.unpackb(answer.record)["query_vector"] is None
    parts.questions.embedder.failing = None
    assert parts.plan(QUESTION).plan.stats.recall.legs.vector > 0


@pytest.mark.parametrize("changes", [{"legs": frozenset({Leg.LEXICAL})}, {"vector": (0.5,) * 64}, {"tenant": "empty"}])
def test_nothing_is_embedded_that_no_leg_asks_for(parts: Parts, changes: dict) -> None:
    """C2: a question leaves for the embedder only if its vector is needed and can be compared with something."""
    parts.key("empty")
    del parts.questions.embedder.asked[:]
    parts.plan(QUESTION, **changes)
    assert parts.questions.embedder.asked == []


def test_fresh_and_advanced_columns_agree_on_embedded_memory(parts: Parts, tmp_path: Path) -> None:
    """R8: columns that saw model and vectors come in, and columns that load them at once, give the same bits."""
    parts.plan(QUESTION)
    parts.remember("late.md", "# Late\n\nThe late ferry leaves at eleven.\n\nNobody is on it.\n", valid_from=-9)
    for valid_time in (None, -1, -6_000_000):
        asked = {"window": Window(valid_time, None)}
        if valid_time is None:
            asked["window"] = Window(parts.clock.now + 10, None)
        tailed = parts.plan(QUESTION, **asked)
        fresh = parts.restarted(parts.questions.embedder).plan(QUESTION, **asked)
        assert told(tailed) == told(fresh)
        assert [span.weight for span in tailed.plan.spans] == [span.weight for span in fresh.plan.spans]
    assert parts.plan(QUESTION, window=Window(-1, None)).plan.stats.recall.legs.vector > 0

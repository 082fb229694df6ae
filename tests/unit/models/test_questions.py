"""Vectors of questions: kept by text, bounded, and never kept when they could not be made."""

import pytest
from counting_embedder import CountingEmbedder
from telha_planner.models.embedders.questions import QuestionNotEmbedded, Questions, QuestionVector, embedded_first


def test_the_latest_are_kept_and_the_oldest_forgotten() -> None:
    """R1: the same question costs the embedder nothing, and memory stays bounded."""
    embedder = CountingEmbedder()
    questions = Questions(embedder, kept=2)
    first = questions.vector("a")
    assert questions.vector("a") is first
    questions.vector("b")
    assert questions.known("a") is first
    questions.vector("c")
    assert questions.known("b") is None
    assert questions.known("a") is first
    assert embedder.asked == ["a", "b", "c"]
    assert first.model == embedder.model.name


def test_a_failure_is_an_answer_and_is_not_kept() -> None:
    """C2: the next call tries again."""
    embedder = CountingEmbedder()
    questions = Questions(embedder)
    embedder.failing = "away"
    assert questions.vector("a") == QuestionVector(None, skipped="away")
    embedder.failing = None
    assert questions.vector("a").values is not None


def test_a_call_is_made_again_with_the_vector_it_asks_for() -> None:
    """R1: for callers who may wait."""
    questions = Questions(CountingEmbedder())
    calls: list[QuestionVector | None] = []

    def call(vector: QuestionVector | None) -> str:
        calls.append(vector)
        if vector is None:
            raise QuestionNotEmbedded("what?")
        return "done"

    assert embedded_first(questions, call) == "done"
    assert calls == [None, questions.known("what?")]
    with pytest.raises(QuestionNotEmbedded):
        embedded_first(None, call)

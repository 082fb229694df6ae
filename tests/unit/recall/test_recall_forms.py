"""Other forms of a question's words, over small memories."""

from pathlib import Path

import pytest
from recall_memory import Memory, facts, recalled, uid
from telha_planner.columns.tenant import Columns
from telha_planner.recall import lexical
from telha_planner.recall.ports import Scoring

LINEAR = Scoring(context_weight=0.0, source_weight=0.0, sharpening=1, alpha=1.0)


@pytest.fixture
def memory(tmp_path: Path):
    made = Memory(tmp_path)
    yield made
    made.close()


def notes(memory: Memory, *texts: str) -> None:
    with memory.commit() as commit:
        source = commit.source(uid("notes"), "main")
        commit.source_version(source, 1_000)
        for number, text in enumerate(texts):
            span = commit.span(source, 20 * number, 20 * number + 19, "body", 5)
            commit.version(commit.node(uid("note", number, text), "main"), text, "note", [span])


def scores(memory: Memory, question: str, scoring: Scoring = LINEAR) -> dict[int, float]:
    found = recalled(memory, question=question, scoring=scoring)
    return dict(sorted(zip((found.start // 20).tolist(), found.score.tolist(), strict=True)))


def test_another_form_is_found_and_counts_less(memory):
    """R1, R2: the word itself first; a word that is no form of it not at all."""
    notes(memory, "the painting", "the painted", "the painter", "the ship")
    found = scores(memory, "what of the painting")
    assert list(found) == [0, 1]
    assert found[0] == 1.0
    assert 0.0 < found[1] < 0.75


def test_a_word_that_nobody_wrote_is_found_by_its_forms(memory):
    """R1: φ is the same for all of them, so nothing of it is left beside the best."""
    notes(memory, "the paints", "the painting", "the ship")
    assert scores(memory, "painted") == {0: 1.0, 1: 1.0}


def test_without_weight_or_forms_nothing_changes(memory):
    """R2: φ = 0 looks for none; and where no form is held, every number is what it was."""
    notes(memory, "the painting", "the painted", "the ship")
    assert list(scores(memory, "painting", Scoring(form_weight=0.0))) == [0]
    found = [facts(recalled(memory, question="ship", scoring=Scoring(form_weight=weight))) for weight in (0.0, 1.0)]
    assert found[0] == found[1]


def test_forms_are_as_of_the_instant(memory):
    """R3: what is written later counts in no frequency of before."""
    notes(memory, "the painting", "the painted")
    before = memory.tx
    then = scores(memory, "painting")
    notes(memory, "painted", "paints")
    assert scores(memory, "painting") != then
    found = recalled(memory, question="painting", scoring=LINEAR, tx_t=before, valid_t=before)
    assert sorted(found.score.tolist()) == sorted(then.values())


def test_what_is_kept_with_a_view_is_bounded(memory, monkeypatch):
    """R2: terms are forgotten when they take too much, and the scores stay."""
    notes(memory, "the painting", "the painted", "the ship")
    columns = Columns(memory.store, 1 << 30)
    first = facts(recalled(memory, columns, question="painting ships"))
    monkeypatch.setattr(lexical, "_KEPT_BYTES", 0)
    for question in ("painted", "shipped", "painting ships"):
        recalled(memory, columns, question=question)
    assert facts(recalled(memory, columns, question="painting ships")) == first


@pytest.mark.parametrize("few", [0, 1 << 20])
def test_either_way_of_adding_forms_up_gives_the_same(memory, monkeypatch, few):
    """R2, S7: sorted or in a full column."""
    notes(memory, "the painting", "painted painted", "paints, painted, painting", "the ship")
    usual = facts(recalled(memory, question="painting ships"))
    monkeypatch.setattr(lexical, "_FEW", few)
    assert facts(recalled(memory, question="painting ships")) == usual

"""The floor over small memories whose evidence a person can work out."""

import math
from pathlib import Path

import pytest
from recall_memory import Memory, recalled, uid
from telha_planner.recall import floor

SENTENCES = ["the harbour opens at six", "bread is baked at four", "ships leave at noon"]
FLOOR = 0.1


@pytest.fixture
def memory(tmp_path: Path):
    made = Memory(tmp_path)
    yield made
    made.close()


def test_a_question_of_other_words_finds_nothing(memory):
    """R6: one common word of many is no evidence; without a floor it would be the best there is."""
    with memory.commit() as commit:
        commit.document("a", SENTENCES)
    question = "ships mortgage interest insurance premium deductible quarterly statement taxation"
    assert len(recalled(memory, question=question)) > 0
    found = recalled(memory, question=question, min_similarity=FLOOR)
    assert len(found) == 0
    assert 0 < found.stats.best_evidence < FLOOR
    assert found.stats.below_floor == found.stats.nodes > 0


def test_a_question_of_the_words_of_a_small_memory_is_answered(memory):
    """R1: a word is no less telling where memory holds little."""
    with memory.commit() as commit:
        commit.document("a", ["the harbour opens at six"])
    found = recalled(memory, question="opening hours of the harbour", min_similarity=FLOOR)
    assert len(found) > 0
    assert found.stats.best_evidence > FLOOR


def test_evidence_is_the_share_of_the_words_by_weight(memory):
    """R2: one word of two, held once by a text of mean length, counts by its weight and saturation."""
    with memory.commit() as commit:
        node = commit.node(uid("n"))
        source = commit.source(uid("s"))
        commit.source_version(source, 40)
        commit.version(node, "harbour", "note", [commit.span(source, 0, 7)])
    best = recalled(memory, question="harbour lighthouse", min_similarity=0.01, expand_depth=0).stats.best_evidence
    known = math.log(1 + (4096 - 1 + 0.5) / 1.5)
    unknown = math.log(1 + (4096 + 0.5) / 0.5)
    assert best == pytest.approx(known / (known + unknown) / 1.8, rel=1e-6)


def test_words_that_nobody_knows_leave_the_vectors_to_judge(memory):
    """R2: a question in another language is not thrown out because none of its words occurs."""
    with memory.commit() as commit:
        commit.model("m", 2)
        nodes = commit.document("a", SENTENCES)
        commit.vector(nodes[0], [1.0, 0.0])
    asked = {"vector": [1.0, 0.5], "min_similarity": 0.6, "expand_depth": 0}
    unknown = recalled(memory, question="何時に開きますか", **asked)
    cosine = 1.0 / math.sqrt(1.25)
    assert unknown.stats.best_evidence == pytest.approx((cosine - 0.1) / 0.9, abs=0.01)
    assert len(unknown) > 0
    assert len(recalled(memory, question="何時に bread 開きますか", **asked)) == 0


def test_particles_of_japanese_are_no_evidence(memory):
    """R6: what shares nothing with a question but は, で and です is nothing relevant."""
    with memory.commit() as commit:
        commit.document("a", ["港は六時に開きますか", "パンは四時に焼くのです", "船は正午に出るのですか"])
    for question, answered in (("天気はどうですか", False), ("パンはどうですか", True), ("ですか", True)):
        assert len(recalled(memory, question=question)) > 0
        found = recalled(memory, question=question, min_similarity=FLOOR)
        assert (len(found) > 0) == answered, question
        assert (found.stats.best_evidence > 0.0) == answered, question


def test_a_word_in_hiragana_is_evidence(memory):
    """R2: what is left out are particles, not what is written as they are."""
    with memory.commit() as commit:
        commit.document("a", ["港は六時に開きます", "めがねは机の上にあります", "船は正午に出るのです"])
    assert len(recalled(memory, question="父のめがねはどこですか", min_similarity=FLOOR)) > 0
    assert len(recalled(memory, question="父のはさみはどこですか", min_similarity=FLOOR)) == 0


def test_what_conditions_found_needs_no_evidence(memory):
    """R2: structured primaries are in the plan whatever the question is about."""
    with memory.commit() as commit:
        source = commit.source(uid("s"))
        commit.source_version(source, 100)
        commit.version(commit.node(uid("n")), "someone", "person", [commit.span(source, 0, 9)])
    found = recalled(memory, find="person", question="mortgage", min_similarity=1.0)
    assert found.score.tolist() == [1.0]


def test_weak_leftovers_do_not_follow_a_strong_answer(memory):
    """R2: beside good evidence, what has too small a share of it stays out, unless it stands next to the evidence."""
    with memory.commit() as commit:
        commit.document("answer", ["before it", "harbour opening hours and ferry timetable", "after it"])
        for number in range(8):
            commit.document(f"other {number}", [f"timetable {number} of quite other things and of nothing else at all"])
    question = "harbour opening hours ferry timetable"
    low, high = (recalled(memory, question=question, min_similarity=floor) for floor in (0.01, 0.3))
    assert low.stats.best_evidence == high.stats.best_evidence > 0.3
    assert 0 < len(high) < len(low)
    kept = set(high.source_no.tolist())
    assert len(kept) == 1


def test_what_is_best_among_many_has_to_be_better(memory, monkeypatch):
    """R6: evidence counts against what chance brings in a memory of that size; shares of it do not."""
    with memory.commit() as commit:
        commit.document("a", SENTENCES)
    question = "harbour opening fees"
    small = recalled(memory, question=question, min_similarity=0.01).stats
    nodes = 3 + 2  # and two windows
    monkeypatch.setattr(floor, "ORDINARY_NODES", 1)
    large = recalled(memory, question=question, min_similarity=0.01).stats
    assert large.best_evidence == pytest.approx(small.best_evidence / (1 + 0.15 * math.log2(nodes)))
    assert large.below_floor == small.below_floor

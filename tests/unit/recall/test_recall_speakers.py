"""What a speaker whom the question names adds to a score, over small memories."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recall_memory import Memory, facts, recalled, uid
from telha_planner.columns.tenant import Columns
from telha_planner.recall import speakers
from telha_planner.recall.ports import Scoring

LINEAR = Scoring(context_weight=0.0, source_weight=0.0, sharpening=1, alpha=1.0, window_weight=1.0)


@pytest.fixture
def memory(tmp_path: Path):
    made = Memory(tmp_path)
    yield made
    made.close()


def talk(memory: Memory, turns: list[tuple[str, str]]) -> None:
    """One document for each turn, so that there are no windows."""
    with memory.commit() as commit:
        for number, (speaker, text) in enumerate(turns):
            commit.document(f"turn {number}", [text], speakers=[speaker])


def ranked(memory: Memory, question: str, **changes) -> list[float]:
    """S of each turn, in their order."""
    found = recalled(memory, question=question, scoring=LINEAR, **changes)
    ids = [bytes(pair) for pair in np.stack((found.source_hi, found.source_lo), axis=1).astype(">u8")]
    of = dict(zip(ids, found.score.tolist(), strict=True))
    turns = (uid("main", f"turn {number}") for number in range(9))
    return [of[turn] for turn in turns if turn in of]


@pytest.mark.parametrize(
    ("names", "question"),
    [
        (("Ana", "Ben", "Ben"), "what tram did Ana like"),
        (("Anna Müller", "Anna Schmidt", "Ben Müller"), "what tram did Anna Müller like"),
        (("Anna Müller", "Otto Schmidt", "Ben Maier"), "what tram did Anna like"),
        (("小明", "李雷", "小红"), "昨天小明坐了什么 tram"),
        (("王小明", "王小红", "李雷"), "昨天小明坐了什么 tram"),
        (("田中さん", "佐藤さん", "山田さん"), "昨日、田中さんはどの tram に乗りましたか"),
        (("マリア", "アンナ", "健太"), "マリアの好きな tram は？"),
    ],
)
def test_the_speaker_named_in_the_question_comes_first(memory, names, question):
    """R2: of three turns with equal words, in any script; part of a name will do where nobody is named better."""
    talk(memory, [(name, "the tram was red") for name in names])
    first, second, third = ranked(memory, question)
    assert first == 1.0
    assert max(second, third) < 0.9


def test_the_bonus_is_the_weight_times_the_share(memory):
    """R2: docs/scoring.md: ψ for whom the question names best, half of it for half of a name, none for others."""
    talk(memory, [(name, "a tram here") for name in ("Anna Müller", "Anna Schmidt", "Otto Maier")])
    # Equal words: each is the best by itself, so f is 1 for all of them.
    assert ranked(memory, "tram anna müller") == [1.0, 1.25 / 1.5, 1.0 / 1.5]


def test_a_window_has_the_mean_of_its_turns(memory):
    """R2: one turn of two makes half."""
    with memory.commit() as commit:
        commit.document("talk", ["tram", "tram"], speakers=("Ana", "Ben"))

    def raised(place: int, question: str) -> float:
        found = [recalled(memory, question=question, scoring=replace(LINEAR, speaker_weight=w)) for w in (0.0, 0.5)]
        kinds = [[one.kinds[kind] for kind in one.kind] for one in found]
        assert kinds[0] == kinds[1]
        places = sorted(range(len(found[0])), key=lambda row: (kinds[0][row] == "section", found[0].start[row]))
        scores = [one.score[places] for one in found]
        # The scale is the window's, which is the best by its words: undo it.
        return float(scores[1][place] / scores[1][2] * (1.0 + 0.5 * window(question)) - scores[0][place])

    def window(question: str) -> float:
        return 1.0 if "ben" in question else 0.5

    assert raised(0, "tram ana") == pytest.approx(0.5)
    assert raised(1, "tram ana") == pytest.approx(0.0)
    assert raised(2, "tram ana") == pytest.approx(0.25)
    assert raised(2, "tram ana ben") == pytest.approx(0.5)


def test_without_speakers_no_number_changes(memory):
    """R2: where nothing is said by anybody, or nobody is named, the weight is of no effect."""
    with memory.commit() as commit:
        commit.document("notes", ["Ana likes the tram", "Ben likes the ship", "bread"])
        commit.document("talk", ["Ana likes the tram", "Ben likes the ship"], "other", speakers=("Ana", "Ben"))
    for question, spaces in (("what tram does Ana like", ("main",)), ("which tram", ("main", "other"))):
        found = [
            facts(recalled(memory, question=question, spaces=spaces, scoring=Scoring(speaker_weight=weight)))
            for weight in (0.0, 0.5, 8.0)
        ]
        assert found[0] == found[1] == found[2]


def test_what_does_not_match_stays_out(memory):
    """R1: a name alone finds nothing; the words have to."""
    talk(memory, [("Ben", "the tram was red"), ("Ana", "bread")])
    assert len(recalled(memory, question="ana", expand_depth=0)) == 0
    assert ranked(memory, "tram ana") == [1.0]


def test_a_speaker_is_as_of_the_instant(memory):
    """R3: a turn that was ingested without its speaker has none in what was known then."""
    talk(memory, [("", "tram one"), ("", "tram two")])
    before = memory.tx
    then = ranked(memory, "tram ana")
    talk(memory, [("Ana", "tram one"), ("Ben", "tram two")])
    assert then == [1.0, 1.0]
    assert ranked(memory, "tram ana") == [1.0, 1.0 / 1.5]
    assert ranked(memory, "tram ana", tx_t=before, valid_t=before) == then


def test_a_vector_alone_names_nobody(memory):
    """R2: names are read from a question."""
    with memory.commit() as commit:
        commit.model("m", 2)
        nodes = commit.document("talk", ["tram", "tram"], speakers=("Ana", "Ben"))
        for node in nodes:
            commit.vector(node, [1.0, 0.0])
    found = [recalled(memory, vector=[1.0, 0.0], scoring=Scoring(speaker_weight=weight)) for weight in (0.0, 8.0)]
    assert facts(found[0]) == facts(found[1])


def test_what_is_kept_with_a_view_is_bounded(memory, monkeypatch):
    """R2: terms are forgotten when they take too much, and the scores stay."""
    with memory.commit() as commit:
        commit.document("talk", ["tram one", "tram two"], speakers=("Ana", "Ben"))
    columns = Columns(memory.store, 1 << 30)
    first = facts(recalled(memory, columns, question="tram ana"))
    monkeypatch.setattr(speakers, "_KEPT_BYTES", 0)
    for number in range(50):
        recalled(memory, columns, question=f"tram {number}")
    view = columns.at(memory.tenant, memory.tx).view(("main",), memory.tx, memory.tx)
    assert len(view.memo["speakers"].by_term) <= 2
    assert facts(recalled(memory, columns, question="tram ana")) == first

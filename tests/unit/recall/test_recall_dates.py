"""What began on other days than the question names, over small memories."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from recall_memory import Memory, facts, recalled, uid
from telha_planner.core.request import INT64_MIN
from telha_planner.recall.ports import Scoring

LINEAR = Scoring(context_weight=0.0, source_weight=0.0, sharpening=1, alpha=1.0, window_weight=1.0)


@pytest.fixture
def memory(tmp_path: Path):
    made = Memory(tmp_path)
    yield made
    made.close()


def instant(written: str) -> int:
    return int(datetime.fromisoformat(written).replace(tzinfo=UTC).timestamp()) * 1_000_000


def notes(memory: Memory, *begins: int) -> None:
    """One note of equal words for each instant."""
    with memory.commit() as commit:
        source = commit.source(uid("notes"), "main")
        commit.source_version(source, 1_000)
        for number, begin in enumerate(begins):
            span = commit.span(source, 10 * number, 10 * number + 9, "body", 3)
            commit.version(commit.node(uid("note", number), "main"), "the tram", "note", [span], begin)


def scores(memory: Memory, question: str, **changes) -> list[float]:
    found = recalled(memory, question=question, scoring=changes.pop("scoring", LINEAR), **changes)
    return [score for _, score in sorted(zip(found.start.tolist(), found.score.tolist(), strict=True))]


@pytest.mark.parametrize("question", ["tram on 8 May 2026", "8 de maio: tram", "5月8日の tram", "tram 2026-05-08"])
def test_what_began_on_other_days_counts_half(memory, question):
    """R2: from 14 hours before the day to a week and half a day after it."""
    begins = ("2026-05-07T09:59", "2026-05-07T10:00", "2026-05-08T12:00", "2026-05-16T11:59", "2026-05-16T12:00")
    notes(memory, *map(instant, begins))
    assert scores(memory, question) == [0.5, 1.0, 1.0, 1.0, 0.5]


def test_what_is_true_since_ever_has_no_other_day(memory):
    """R2: it is neither on these days nor on others."""
    notes(memory, instant("2026-05-08T12:00"), INT64_MIN, instant("2026-01-01"))
    assert scores(memory, "tram on 8 May 2026") == [1.0, 1.0, 0.5]


def test_days_on_which_nothing_began_change_nothing(memory):
    """R2: and neither does a question without a date, or a weight of 1."""
    notes(memory, instant("2026-05-08T12:00"), instant("2026-01-01"))
    for question in ("tram on 8 April 2026", "tram in 2020", "tram"):
        found = [facts(recalled(memory, question=question, scoring=Scoring(other_days_weight=w))) for w in (0.0, 0.5)]
        assert found[0] == found[1]
    assert scores(memory, "tram on 8 May 2026", scoring=Scoring(other_days_weight=1.0, sharpening=1)) == [1.0, 1.0]


def test_a_date_without_a_year_is_seen_from_the_instant_of_the_question(memory):
    """R3: the last May before valid_t."""
    notes(memory, instant("2024-05-08T12:00"), instant("2025-05-08T12:00"))
    assert scores(memory, "tram in May", valid_t=instant("2025-04-01")) == [1.0]
    assert scores(memory, "tram in May", valid_t=instant("2025-06-01")) == [0.5, 1.0]

"""Traces of released versions, replayed: those of this one are identical over every store, older scores are named."""

import json
from pathlib import Path

import pytest
from golden_traces import FOLDER, OLDER, read
from memory_builders import dump
from planner_parts import Parts, parts_over
from replays import causes, outcome, replayed
from store_corpus import stages
from telha_planner.core.plan import PLAN_MODEL, SCORE_MODEL
from telha_planner.memory import copying
from telha_planner.memory.store import Store
from telha_planner.trace.recorded import read_record

CURRENT = FOLDER / f"plan-{PLAN_MODEL}-score-{SCORE_MODEL}.json"


@pytest.fixture(scope="module")
def parts(lasting_store_url):
    """The memory that the traces were made over, on each engine in turn."""
    parts = parts_over(lasting_store_url)
    stages(parts)
    yield parts
    parts.close()


@pytest.mark.parametrize("name", read(CURRENT))
def test_a_committed_trace_is_identical(parts: Parts, name: str) -> None:
    """S13, X5, M6: on every engine, to the hash; whatever the version of the code, no other input differs."""
    record = read(CURRENT)[name]
    again = replayed(parts, record)
    assert outcome(parts, record) == "identical"
    assert set(causes(again)) <= {"CODE"}
    assert again.plan.plan_hash == read_record(record).plan_hash


def test_the_committed_traces_are_worth_replaying() -> None:
    """S13: of every kind, with spans, and each another plan."""
    records = [read_record(record) for record in read(CURRENT).values()]
    assert {record.kind for record in records} == {"plan", "context", "select"}
    assert len({record.plan_hash for record in records}) > len(records) - 3
    assert sum(bool(record.held) for record in records) > len(records) - 2


@pytest.mark.parametrize("score_model", OLDER)
def test_scores_of_before_are_named(parts: Parts, score_model: str) -> None:
    """S13: a trace of an older version of the scores is changed, and that version is the cause."""
    for record in read(FOLDER / f"plan-{PLAN_MODEL}-score-{score_model}.json").values():
        again = replayed(parts, record)
        assert outcome(parts, record) == "changed"
        assert causes(again)["SCORE_MODEL"] == (score_model, SCORE_MODEL)
        assert again.difference.reweighed
        assert (again.difference.gone, again.difference.new) == ((), ())


def test_each_file_says_of_which_versions_it_is() -> None:
    """S13: each record is of the versions that its file names."""
    files = sorted(FOLDER.glob("*.json"))
    assert CURRENT in files
    for path in files:
        head = json.loads(path.read_text(encoding="utf-8"))
        for record in map(read_record, read(path).values()):
            assert (record.plan_model, record.score_model) == (head["planModel"], head["scoreModel"])


@pytest.mark.parametrize("direction", ["out of SQLite", "out of PostgreSQL"])
def test_a_copy_replays_alike(direction: str, postgres_url: str, tmp_path: Path) -> None:
    """M6, X5: after `telha copy`, in either direction, every trace is identical."""
    source_url, target_url = f"sqlite:///{tmp_path / 'memory.db'}", postgres_url
    if direction == "out of PostgreSQL":
        source_url, target_url = target_url, source_url
    parts = parts_over(source_url)
    stages(parts)
    target = Store.open(target_url, busy_timeout_ms=10_000)
    copying.copy(parts.store, target, lambda *_: None)
    assert dump(target) == dump(parts.store)
    target.close()
    copied = parts_over(target_url, clock=parts.clock)
    copied.keys = parts.keys
    for record in read(CURRENT).values():
        assert outcome(copied, record) == "identical"
    copied.close()
    parts.close()

"""Both stores give the same plans, to the bit, and so does a copy of one in the other."""

import json
from pathlib import Path

import pytest
from golden.write import FOLDER
from memory_builders import dump
from planner_parts import parts_over
from store_corpus import ASKED, hashes, stages
from telha_planner.core.request import Window
from telha_planner.memory import copying, tables
from telha_planner.memory.store import Store

GOLDEN = json.loads((FOLDER / "store-plans.json").read_text(encoding="utf-8"))


def test_the_plans_are_the_committed_ones(store_url):
    """M6: with an injected clock both engines give the same hashes, as of now and as of every past stage."""
    parts = parts_over(store_url)
    assert stages(parts) == GOLDEN
    parts.close()


def test_the_corpus_tells_plans_apart():
    """M6: what is compared is worth comparing: stages, questions and what an erasure took differ."""
    assert len({plan for stage in GOLDEN.values() for plan in stage.values()}) > len(ASKED) * 3
    assert GOLDEN["changed"] != GOLDEN["changed, seen from the end"]
    assert GOLDEN["erased"] == GOLDEN["erased, seen from the end"]


@pytest.mark.parametrize("direction", ["out of SQLite", "out of PostgreSQL"])
def test_a_copy_gives_the_same_plans(direction: str, postgres_url: str, tmp_path: Path):
    """M6: after `telha copy` every row and every hash is as it was, and the two go on alike."""
    source_url, target_url = f"sqlite:///{tmp_path / 'memory.db'}", postgres_url
    if direction == "out of PostgreSQL":
        source_url, target_url = target_url, source_url
    parts = parts_over(source_url)
    stages(parts)
    target = Store.open(target_url, busy_timeout_ms=10_000)
    rows = copying.copy(parts.store, target, lambda *_: None)
    assert dump(target) == dump(parts.store)
    assert all(rows[table.name] for table in (tables.vector, tables.clarification, tables.erasure, tables.edge))
    target.close()
    copied = parts_over(target_url, clock=type(parts.clock)(parts.clock.now))
    copied.keys = parts.keys
    end = Window(parts.clock.now, parts.clock.now)
    assert hashes(copied, end) == hashes(parts, end) == GOLDEN["erased"]
    ids = [one.remember("next.md", "# Next\n\nThe next tram.\n") for one in (parts, copied)]
    assert ids[0] == ids[1]
    assert dump(copied.store) == dump(parts.store)
    parts.close()
    copied.close()

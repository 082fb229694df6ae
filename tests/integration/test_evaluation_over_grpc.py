"""`telha eval --remote` against a real listener: the same evidence, and nothing left behind."""

import json
from pathlib import Path

from labelled_sets import QUESTIONS, written
from planner_server import RealPlanner
from telha_planner.__main__ import main


def _report(work: Path, *options: str) -> dict:
    assert main(["eval", *options, f"--work={work}", f"--output={work}", "--budgets=60,400", "--repeats=1"]) == 0
    return json.loads((work / "report.json").read_text(encoding="utf-8"))["figures"]


def test_a_running_planner_finds_what_one_in_process_finds(tmp_path):
    """E1: the wire changes nothing but the time it takes; what was written is erased unless it shall stay."""
    # A running planner commits now, so a question of before, as of then, is left out.
    questions = [row for row in QUESTIONS if row["time"] is None]
    folder = written(tmp_path / "city", questions=questions)
    here = _report(tmp_path / "here", str(folder))
    (tmp_path / "planner").mkdir()
    with RealPlanner(tmp_path / "planner") as planner, planner.client() as client:
        remote = ("--remote", planner.address, "--key", planner.key())
        there = _report(tmp_path / "one", str(folder), *remote)
        assert not client.memory.sources(spaces=["*"]).items
        _report(tmp_path / "two", str(folder), "--keep", *remote)
        assert len(client.memory.sources(spaces=["*"]).items) == 4
    for part in ("answerable", "rejections"):
        ours = [system for system in here[part]["systems"] if system["system"] == "plan"]
        assert there[part]["systems"] == ours
    assert there["checks"] == here["checks"]

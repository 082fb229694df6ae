"""`telha eval` on a small set of our own: the real planner, a report, and again."""

import json
import re
from pathlib import Path

import pytest
from labelled_sets import QUESTIONS, SOURCES, gold, question, source, written
from telha_cli.main import main as telha
from telha_planner.__main__ import main
from telha_planner.evaluation.trial import Trial
from telha_planner.models.embedders.minilm import MiniLm

MILL = "The mill of Serrano grinds rye on Mondays."


def _report(capsys, folder: Path, work: Path, *options: str) -> dict:
    capsys.readouterr()
    assert main(["eval", str(folder), "--work", str(work), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def _without_latency(report: dict) -> dict:
    return report | {"figures": {name: part for name, part in report["figures"].items() if name != "latency"}}


@pytest.fixture
def folder(tmp_path) -> Path:
    return written(tmp_path / "city")


def test_evidence_is_found_as_then_and_now(folder, tmp_path, capsys):
    """E1: recall by budget, system and kind; a question's time is its valid time."""
    report = _report(capsys, folder, tmp_path / "work", "--budgets", "40,400", "--cap", "1")
    answerable = report["figures"]["answerable"]
    assert answerable["questions"] == 4
    plan, *peers = answerable["systems"]
    assert (plan["system"], plan["share"]) == ("plan", 1.0)
    assert plan["budgets"]["400"]["spanRecall"] == 1.0
    assert plan["budgets"]["40"]["tokens"] <= 40
    assert plan["kinds"]["temporal"] == {"questions": 1, "budgets": {"40": 1.0, "400": 1.0}}
    assert [peer["system"] for peer in peers] == ["top-k", "bm25"]
    assert report["figures"]["checks"] == {"plans": 10, "overBudget": {"sum": 0, "joined": 0}, "unstable": 0}


def test_nothing_relevant_is_counted_apart(folder, tmp_path, capsys):
    """E1: a rejection is measured by how little is returned."""
    rejections = _report(capsys, folder, tmp_path / "work")["figures"]["rejections"]
    assert rejections["questions"] == 1
    plan = rejections["systems"][0]
    assert plan["budgets"]["4000"] == {"tokens": 0.0, "spans": 0.0, "budgetShare": 0.0, "nothing": 1.0}
    assert plan["kinds"]["adversarial"] == {"questions": 1, "budgets": plan["budgets"]}
    open_door = _report(capsys, folder, tmp_path / "work", "--set", "planner.scoring.min_similarity=0")
    assert open_door["figures"]["rejections"]["systems"][0]["budgets"]["4000"]["nothing"] in {0.0, 1.0}


def test_a_report_is_a_function_of_set_and_settings(folder, tmp_path, capsys):
    """E1: two stores, two orders of questions, one report but for latencies."""
    first = _report(capsys, folder, tmp_path / "one")
    again = _report(capsys, written(tmp_path / "other" / "city"), tmp_path / "two")
    assert _without_latency(first) == _without_latency(again)
    changed = _report(capsys, folder, tmp_path / "one", "--set", "planner.scoring.sharpening=1")
    assert changed["run"]["settings changed"] == ["planner.scoring.sharpening=1"]


def test_a_stopped_run_goes_on(folder, tmp_path, capsys, monkeypatch):
    """E1: what was finished is not asked again, and the report is that of a run that was not stopped."""
    whole = _report(capsys, folder, tmp_path / "whole")
    asked: list[str] = []
    ask = Trial.result

    def stopping(self, question):
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(question.label)
        return ask(self, question)

    monkeypatch.setattr(Trial, "result", stopping)
    with pytest.raises(KeyboardInterrupt):
        main(["eval", str(folder), "--work", str(tmp_path / "work")])
    (kept,) = (tmp_path / "work").glob("*/*.jsonl")
    kept.write_bytes(kept.read_bytes() + b'{"id": "half-writt')
    asked.clear()
    monkeypatch.setattr(Trial, "result", lambda self, question: asked.append(question.label) or ask(self, question))
    assert _without_latency(_report(capsys, folder, tmp_path / "work")) == _without_latency(whole)
    assert len(asked) == len(QUESTIONS) - 2
    asked.clear()
    _report(capsys, folder, tmp_path / "work")
    assert not asked


def test_a_sample_is_the_same_everywhere(folder, tmp_path, capsys):
    """E1: drawn by seed and id, not by place."""
    one = _report(capsys, folder, tmp_path / "work", "--sample", "2", "--seed", "1")
    reversed_set = written(tmp_path / "reversed" / "city", questions=QUESTIONS[::-1])
    other = _report(capsys, reversed_set, tmp_path / "work", "--sample", "2", "--seed", "1")
    assert one["figures"]["answerable"] == other["figures"]["answerable"]
    assert one["run"]["questions"] == "2 of 5"
    home = _report(capsys, folder, tmp_path / "work", "--limit-scopes", "1")
    assert home["run"]["sources"] == "3 in 1 scopes"


def test_the_report_is_written_and_printed(folder, tmp_path, capfd):
    """A3, E1: `telha eval` prints Markdown, and writes it beside the JSON."""
    with pytest.raises(SystemExit) as ended:
        telha(["eval", str(folder), "--work", str(tmp_path / "work"), "--output", str(tmp_path / "out")])
    assert ended.value.code == 0
    out, err = capfd.readouterr()
    assert out == (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert re.search(r"^\| \*\*plan\*\*, at most 0\.4 per source \| \d\.\d{3} ± ", out, flags=re.MULTILINE)
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["run"]["set"] == "city"
    assert "ask ████" in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--set", "planner.nonsense=1"), "unknown key"),
        (("--set", "sharpening=1"), "--set sharpening=1: must be SECTION.KEY=VALUE"),
        (("--set", "planner.alpha"), "--set planner.alpha: must be SECTION.KEY=VALUE"),
        (("--set", "planner.alpha="), "--set planner.alpha=: must be SECTION.KEY=VALUE"),
        (("--set", "writer.store=x"), "--set writer.store=x: [writer] is no section of the planner"),
        (("--set", "planner.scoring.sharpening=3"), "planner.scoring.sharpening = 3"),
        (("--remote", "127.0.0.1:1"), "--remote needs an API key"),
        (("--remote", "127.0.0.1:1", "--key", "k"), "the planner at 127.0.0.1:1 answered UNAVAILABLE"),
    ],
)
def test_a_refusal_is_one_line(options, sentence, folder, tmp_path, capsys, monkeypatch):
    """E1: settings, keys and addresses that do not hold."""
    monkeypatch.delenv("TELHA_KEY", raising=False)
    assert main(["eval", str(folder), "--work", str(tmp_path), *options]) == 1
    assert sentence in capsys.readouterr().err


def test_a_faulty_set_is_refused_before_anything_is_written(tmp_path, capsys):
    """E1: with file, line and field."""
    folder = written(tmp_path / "set", sources=[SOURCES[0], {"source_id": "x"}])
    assert main(["eval", str(folder), "--work", str(tmp_path / "work")]) == 1
    assert capsys.readouterr().err == "sources.jsonl, line 2, name: is required\n"
    assert not (tmp_path / "work").exists()


def test_vectors_are_made_once_for_all_runs(folder, tmp_path, capsys, monkeypatch):
    """E1: with an embedder there is a semantic leg and a comparison by cosine, and no text is embedded twice."""
    work = tmp_path / "work"
    options = ("--embedder", "minilm", "--budgets", "60,400", "--cap", "1")
    report = _report(capsys, folder, work, *options)
    systems = report["figures"]["answerable"]["systems"]
    assert [system["system"] for system in systems] == ["plan", "top-k", "bm25", "cosine"]
    assert systems[0]["budgets"]["400"]["spanRecall"] == 1.0
    for store in work.glob("*/memory.db*"):
        store.unlink()
    for finished in work.glob("*/*.jsonl"):
        finished.unlink()
    (kept,) = (work / "vectors").iterdir()
    kept.write_bytes(kept.read_bytes() + b"half")
    monkeypatch.setattr(MiniLm, "passages", lambda *_: pytest.fail("a text was embedded again"))
    assert _without_latency(_report(capsys, folder, work, *options)) == _without_latency(report)


def test_another_sets_questions_are_asked_as_ones_without_an_answer(folder, tmp_path, capsys):
    """E1, R6: scopes take turns; what is returned is reported by kind; a set's own questions go to its other scopes."""
    strange = [
        question("grain", "Which mill grinds the rye?", gold("mill", MILL, MILL), scope="far"),
        question("moon", "Who walked on the moon?", scope="far"),
    ]
    other = written(tmp_path / "country", [source("mill", MILL, "far")], strange)
    options = ("--budgets", "400", "--cap", "1", "--negatives", str(other), "--negatives", str(folder))
    report = _report(capsys, folder, tmp_path / "work", *options)
    assert report["run"]["questions of other sets"] == "5"
    assert report["figures"]["answerable"]["questions"] == 4
    kinds = report["figures"]["rejections"]["systems"][0]["kinds"]
    assert {kind: part["questions"] for kind, part in kinds.items()} == {
        "adversarial": 1,
        "asked of country": 1,
        "asked of city": 4,
    }
    assert kinds["asked of country"]["budgets"]["400"] == {
        "tokens": 0.0,
        "spans": 0.0,
        "budgetShare": 0.0,
        "nothing": 1.0,
    }
    assert main(["eval", str(folder), "--work", str(tmp_path / "work"), *options]) == 0
    assert "## Nothing relevant, by kind" in capsys.readouterr().out


def test_a_set_of_one_scope_cannot_be_asked_of_itself(tmp_path, capsys):
    """E1: there is no scope that does not answer its questions."""
    sources = [source("mill", MILL, "far")]
    one = written(tmp_path / "one", sources, [question("q", "Which mill?", gold("mill", MILL, MILL), scope="far")])
    assert main(["eval", str(one), "--work", str(tmp_path / "work"), "--negatives", str(one)]) == 1
    assert "all of one scope: they cannot be asked of another" in capsys.readouterr().err


def test_what_is_wrong_with_an_option_is_told_as_of_telha_eval(tmp_path, capsys):
    """E1, A3: the usage is that of the command that people call."""
    for wrong in ("--budgets=ten", "--budgets=0", "--cap=2", "--cap=a", "--repeats=-1"):
        with pytest.raises(SystemExit):
            main(["eval", str(tmp_path), wrong])
        told = capsys.readouterr().err
        assert told.startswith("usage: telha eval ")
        assert "must be" in told

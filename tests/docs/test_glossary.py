"""docs/glossary.md: one word per thing."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
WORDS = re.findall(r"^\| \*\*(.+?)\*\*.* \| (.+) \|$", PAGE, flags=re.MULTILINE)


def test_a_word_has_one_meaning() -> None:
    """A9: no word is explained twice, none is without explanation."""
    words = [word for word, _ in WORDS]
    assert len(words) > 40
    assert len(words) == len(set(words))
    assert all(meaning.strip().endswith(".") for _, meaning in WORDS)


def test_outcomes_and_legs_are_those_of_the_contract() -> None:
    """A9: the words of the glossary are the words on the wire."""
    meanings = dict(WORDS)
    proto = (ROOT / "proto/telha/planner/v1/plan.proto").read_text(encoding="utf-8")
    for leg in re.findall(r"LEG_(STRUCTURED|SEMANTIC|LEXICAL) = ", proto):
        assert leg.lower() in meanings["leg"]
    for counter in ("deduped", "unpackable", "budget_skipped", "span_limit_skipped", "cap_skipped"):
        assert f" {counter} = " in proto
        assert counter.replace("_skipped", "-skipped").replace("_", "-") in meanings["outcome"]

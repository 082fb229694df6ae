"""Nothing that memory or a file name says is acted on by a terminal, whatever the form of the output."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telha_cli import output, problems
from telha_cli.escapes import escaped
from telha_cli.problems import Problem

HOSTILE = "a\x1b[31mred\x9b2J\x07\x08\x7f \u202egnp\u2066\u200f 漢字 👩‍👩‍👧 עברית\n"


def acted_on(text: str) -> list[str]:
    """Characters of *text* that are controls, turn the order, or cannot be written."""
    kinds = {char: (unicodedata.category(char), unicodedata.bidirectional(char)) for char in text if char not in "\n\t"}
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return [char for char, (category, order) in kinds.items() if category in ("Cc", "Cs") or order in turning]


@given(st.dictionaries(st.text(max_size=9), st.text(max_size=30), max_size=3))
def test_json_stays_the_same_document_and_holds_nothing_that_acts(answer: dict[str, str]) -> None:
    """A3: `--json` on a terminal is harmless, and means what it meant."""
    shown = escaped(json.dumps(answer, ensure_ascii=False))
    assert json.loads(shown) == answer
    assert acted_on(shown) == []
    shown.encode()


def test_answers_and_problems_are_written_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """A3: on both streams, in both forms; what is harmless stays as it is."""
    output.show({"text": HOSTILE}, lambda _: "", as_json=True)
    problem = Problem("NOT_FOUND", f"no {HOSTILE}", hint=f"look for {HOSTILE}", extra={"path": "bad\udcff.md"})
    problems.tell(problem, as_json=True)
    problems.tell(problem, as_json=False)
    written = capsys.readouterr()
    for text in written:
        assert acted_on(text) == []
        assert "漢字 👩‍👩‍👧 עברית" in text
    assert json.loads(written.out) == {"text": HOSTILE}

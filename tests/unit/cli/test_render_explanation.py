"""Verdicts as a person reads them: in words first, harmless, within the terminal."""

import io
from typing import Any

import pytest
from explanation_builders import explanation
from rich.cells import cell_len
from rich.console import Console
from telha_cli import render_explanation
from telha_client import as_json
from telha_client.explanation_answers import explanation as read

TOLD: dict[str, Any] = as_json(read(explanation()))


def _drawn(told: dict[str, Any], width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, markup=False).print(render_explanation.explanation(told))
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def test_an_explanation_is_drawn_so() -> None:
    """X6, A3: of each subject the verdict, the reason, its candidates and other nodes; then all candidates."""
    assert (
        _drawn(TOLD)
        == """\
Not in the plan: handbook.md > Refunds
  It was a candidate, and its source had no room left.
     density  weight  tokens  outcome              span
  2  0.00500   0.500     100  source cap: 350/400  [0:40] handbook.md
  … 4 more that are not in the plan; --json has them
  passage [100:140] true only from 2026-01-01
  … 7 more that were no candidates

Not known: 0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10 @1780315200000000 [7:9]
  It was a candidate, and its source had no room left.

5 candidates by density
   density  weight  tokens  outcome                   span
2  0.00500   0.500     100  source cap: 350/400       [0:40] handbook.md
   0.00500   0.500     100  duplicate: 75% of [0:40]  [10:60] handbook.md
… 3 more that are not in the plan; --json has them
"""
    )


def test_a_subject_with_a_packed_span_is_in_the_plan() -> None:
    """X6: the verdict is that of the best."""
    packed = {**TOLD["subjects"][0]["candidates"][0], "outcome": "packed"}
    told = {**TOLD, "subjects": [{**TOLD["subjects"][0], "candidates": [packed]}]}
    assert _drawn(told).startswith("In the plan: handbook.md > Refunds\n")


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_whatever_is_asked_about_stays_within_the_terminal(width: int) -> None:
    """A3: subjects and reasons in wide and right-to-left letters, with controls in them."""
    hostile = "政策\x1b[2J\u202eמדיניות " * 9
    subject = {**TOLD["subjects"][0], "subject": {"source": hostile, "section": hostile}, "because": hostile}
    subject["nodes"] = [{**subject["nodes"][0], "type": hostile, "because": hostile}]
    subject["candidates"] = [{**subject["candidates"][0], "sourceName": hostile, "outcome": hostile}]
    shown = _drawn({**TOLD, "subjects": [subject]}, width)
    assert max(map(cell_len, shown.splitlines())) <= width
    assert not set(shown) & {"\x1b", "\u202e"}


def test_an_unknown_name_is_told_how_sources_are_named() -> None:
    """X6: a hint where memory knows no such source; none of a span, of what is known, and of a caller's own pool."""
    named = {**TOLD["subjects"][1], "verdict": "unknown", "subject": {"source": "handbook"}}
    told = {**TOLD, "subjects": [named]}
    assert "named as `telha sources list` shows them" in _drawn(told)
    assert "sources list" not in _drawn(TOLD)
    for elsewhere in ({**told, "subjects": [{**named, "verdict": "candidate"}]}, {**told, "subjects": []}):
        assert "sources list" not in _drawn(elsewhere)
    out = io.StringIO()
    Console(file=out, width=200).print(render_explanation.explanation(told, of_memory=False))
    assert "Not known: handbook" in out.getvalue()
    assert "sources list" not in out.getvalue()


def test_words_of_a_newer_planner_are_shown() -> None:
    """X6: clients accept unknown values."""
    span = {**TOLD["spans"][0], "outcome": "unrecognized"}
    assert "unrecognized" in _drawn({**TOLD, "spans": [span], "subjects": []})
    assert "There was no candidate." in _drawn({**TOLD, "spans": [], "subjects": []})

"""Replays and differences as the terminal shows them."""

import io
from typing import Any

import pytest
from rich.console import Console, RenderableType
from telha_cli import tables_comparison

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
HASH = "b3:" + "0123456789abcdef" * 4
WINDOW = {"validTime": 0, "txTime": 0}
PLAN = {"traceId": SOURCE, "kind": "plan", "recorded": 0, "planHash": HASH, "window": WINDOW, "budget": 9, "used": 3}


def drawn(what: RenderableType) -> str:
    out = io.StringIO()
    Console(file=out, width=120, highlight=False, markup=False).print(what)
    return out.getvalue()


def held(weight: float, **name: str) -> dict[str, Any]:
    span = {"sourceId": SOURCE, "sourceVersionTx": 7, "start": 0, "end": 9}
    return {"span": span, "kind": "paragraph", "class": "truth", "weight": weight, "tokens": 5, **name}


DIFFERENCE = {
    "identical": False,
    "gone": [held(0.5, sourceName="\x1b[31mred\u202e.md")],
    "new": [held(0.25)],
    "reweighed": [{"span": held(0)["span"], "before": held(0.75), "after": held(1.0)}],
    "unchanged": 3,
    "changes": [{"input": "score_model", "before": "v2", "after": "v3"}, {"input": "code"}],
    "because": "The plans differ.",
}


def test_a_replay_says_first_what_it_found() -> None:
    """A3, X5: outcome, words, what was erased, inputs, spans, both hashes; a name cannot disturb the terminal."""
    erased = [{"sourceId": SOURCE, "erased": 1_000_000, "spans": 2}]
    answer = {
        "outcome": "erased",
        "recorded": PLAN,
        "plan": {"planHash": HASH[::-1]},
        "difference": DIFFERENCE,
        "erased": erased,
    }
    shown = drawn(tables_comparison.replay(answer))
    lines = shown.splitlines()
    assert lines[0].startswith("erased  plan of 1970-01-01T00:00:00")
    assert lines[1] == "The plans differ."
    assert SOURCE in lines[2]
    assert "1970-01-01T00:00:01" in lines[2]
    assert [line.split() for line in lines if "score model" in line] == [["score", "model", "v2", "v3"]]
    assert [line.split()[1:] for line in lines if line.startswith("code")] == [["not", "told", "not", "told"]]
    assert [line.split()[0] for line in lines if "paragraph" in line] == ["gone", "new", "before", "after"]
    assert HASH in shown
    assert HASH[::-1] in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (0.75, 1.0, ["0.7500", "1.000"]),
        (4.2e-05, 4.3e-05, ["4.200e-05", "4.300e-05"]),
        (0.000123456, 0.000123461, ["0.000123456", "0.000123461"]),
        (0.5, 0.5000000000000001, ["0.5000000000000000", "0.5000000000000001"]),
        (0.0, 1e-300, ["0.000", "1.000e-300"]),
    ],
)
def test_two_weights_that_differ_are_seen_to(before: float, after: float, shown: list[str]) -> None:
    """A3, X5: four significant digits, an exponent where it is small, and more digits where four are the same."""
    found = {**DIFFERENCE, "gone": [], "new": [], "reweighed": [{"before": held(before), "after": held(after)}]}
    answer = {"before": PLAN, "after": PLAN, "difference": found}
    lines = drawn(tables_comparison.difference(answer)).splitlines()
    weights = [line.split()[1] for line in lines if "paragraph" in line]
    assert weights == shown
    assert weights[0] != weights[1]


def test_a_difference_shows_both_sides() -> None:
    """A3, X5: words, inputs, spans, then both plans."""
    answer = {"before": PLAN, "after": {**PLAN, "kind": "context"}, "difference": DIFFERENCE}
    lines = drawn(tables_comparison.difference(answer)).splitlines()
    assert lines[0] == "The plans differ."
    assert [line.split()[:2] for line in lines if HASH in line] == [["before", "plan"], ["after", "context"]]

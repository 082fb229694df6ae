"""Answers as a person reads them: whole, aligned, harmless."""

import dataclasses
import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType
from telha_cli import render
from telha_client import (
    BudgetStats,
    Context,
    ContextStats,
    Item,
    ItemSource,
    LegCounts,
    OpenQuestion,
    PendingClarification,
    Plan,
    PlannedSpan,
    PlanStats,
    RecallStats,
    Span,
    ValidTime,
    Window,
    as_json,
)

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
HASH = "b3:" + "0123456789abcdef" * 4
PLAN_STATS = PlanStats(
    pool_spans=9,
    selected_spans=2,
    deduped=3,
    unpackable=0,
    budget_skipped=4,
    cap_skipped=0,
    span_limit_skipped=0,
    budget_stranded_by_cap=0,
    token_estimate=False,
    tokenizer="o200k_base",
    requested=9000,
    applied=8192,
    max_spans=64,
    max_frac_per_source=0.4,
    span_overhead_tokens=0,
    recall=None,
    plan_model="v1",
    score_model="v1",
    packed_weight=1.5,
    weight_upper_bound=1.6,
    weight_share=0.9375,
)
STATS = ContextStats(
    legs=LegCounts(query=0, vector=0, lexical=4, traversal=2),
    candidates=9,
    dedup_dropped=3,
    cap_skipped=0,
    budget_skipped=4,
    unpackable=0,
    span_limit_skipped=0,
    budget=BudgetStats(requested=9000, applied=8192, used=4096, stranded=1234),
    vector_leg_skipped="no embedder",
    token_estimate=False,
    tokenizer="o200k_base",
    plan=PLAN_STATS,
)


_EMPTY = Plan("v1", 0, 0, (), dataclasses.replace(PLAN_STATS, pool_spans=0), HASH, SOURCE, None)


def _item(text: str, name: str = "handbook.md", pending: PendingClarification | None = None) -> Item:
    source = ItemSource(SOURCE, 1_782_820_800_000_000, 120, 340, name)
    return Item(text, source, "paragraph", "truth", 0.93123456, ValidTime(1_782_820_800_000_000, None), pending)


def _context(*items: Item, questions: tuple[OpenQuestion, ...] = ()) -> dict[str, Any]:
    window = Window(1_782_820_800_000_000, 1_782_820_800_000_001)
    told: dict[str, Any] = as_json(Context(items, questions, STATS, SOURCE, HASH, window))
    return told


def _drawn(what: RenderableType, width: int = 80, *, color: bool = False) -> str:
    out = io.StringIO()
    Console(
        file=out,
        width=width,
        highlight=False,
        markup=False,
        force_terminal=color,
        color_system="standard" if color else None,
    ).print(what)
    return out.getvalue()


def test_an_item_shows_score_coordinates_source_and_text() -> None:
    """A3: score and coordinates per item."""
    shown = _drawn(render.context(_context(_item("Refunds are paid within 14 days."))))
    assert "0.931" in shown
    assert "handbook.md · paragraph · true from 2026-06-30T12:00:00Z" in shown
    assert f"{SOURCE} @1782820800000000 [120:340]" in shown
    assert "Refunds are paid within 14 days." in shown


def test_the_account_of_the_answer_is_shown() -> None:
    """C6: budget, clamping, what was left out, hash, trace, instants."""
    shown = _drawn(render.context(_context(_item("x"))))
    assert "███████████████░░░░░░░░░░░░░░░  4,096 of 8,192 tokens" in shown
    assert "asked 9,000, 1,234 stranded by the source cap, o200k_base" in shown
    assert "weight  93.7 % of an upper bound of what fits\n" in shown
    assert "9 spans = 2 packed + 3 duplicate + 4 over budget" in shown
    assert HASH in shown
    assert "true    at 2026-06-30T12:00:00Z\nknown   at 2026-06-30T12:00:00.000001Z" in shown


def test_a_cap_that_kept_the_best_out_is_told() -> None:
    """S5: budget that is stranded while the best did not fit says what to do."""
    poor = dataclasses.replace(STATS, plan=dataclasses.replace(PLAN_STATS, weight_share=0.0004))
    shown = _drawn(render.context({**_context(_item("x")), "stats": as_json(poor)}))
    assert "weight  0.0 % of an upper bound of what fits\n        raise --max-tokens or --max-frac-per-source" in shown


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (1.0, "1.00"),
        (0.0, "0.00"),
        (0.93123, "0.931"),
        (0.00012, "0.000120"),
        (0.00004, "4.00e-05"),
        (5e-324, "4.94e-324"),
        (12.5, "12.5"),
        (100.0, "100"),
    ],
)
def test_a_score_has_three_significant_digits(score: float, shown: str) -> None:
    """C4: one style, and 0 means 0."""
    assert render.number(score) == shown


def test_a_long_coordinate_fits_one_line_of_80_columns() -> None:
    """A3: what is copied from the terminal is whole."""
    source = ItemSource(SOURCE, 1_782_820_800_000_000, 12_345, 12_399, "x.md")
    item = Item("x", source, "paragraph", "truth", 5e-05, ValidTime(0, None), None)
    assert f"{SOURCE} @1782820800000000 [12345:12399]\n" in "\n".join(
        line.rstrip() for line in _drawn(render.context(_context(*[item] * 12))).splitlines()
    )


def test_open_questions_and_their_flags_are_shown() -> None:
    """C5: the question in words, and the item that it concerns."""
    pending = PendingClarification(SOURCE, "pending")
    shown = _drawn(
        render.context(
            _context(_item("x", pending=pending), questions=(OpenQuestion(SOURCE, "pending", "14 days or 30?"),))
        )
    )
    assert "handbook.md · paragraph · true from 2026-06-30T12:00:00Z  pending" in shown
    assert "pending: 14 days or 30?" in shown


def _empty_context(**counts: int) -> str:
    answer = _context()
    answer["stats"]["plan"] |= {"poolSpans": sum(counts.values()), "applied": 100, **counts}
    return " ".join(_drawn(render.context(answer)).split())


def test_nothing_relevant_is_said() -> None:
    """C7: an empty answer is an answer."""
    assert "Nothing in memory is relevant." in _empty_context()
    assert HASH in _empty_context()


def test_a_pool_of_which_nothing_fits_is_not_called_irrelevant() -> None:
    """C6, C7: which limit turned the spans away, its figures, and what to raise."""
    capped = _empty_context(capSkipped=60)
    assert "60 spans match, and none fits" in capped
    assert "60 are larger than the 40 of 100 tokens that one source may take" in capped
    assert "raise --max-tokens or --max-frac-per-source" in capped
    assert "relevant" not in capped
    large = _empty_context(unpackable=1)
    assert "1 span matches, and it does not fit" in large
    assert "1 is larger than the budget of 100 tokens: raise --max-tokens" in large


@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize(
    "text",
    [
        "退款会在收到退货后的十四天内支付。" * 12,
        "👩‍👩‍👧‍👦 " * 60,
        "שלום עולם " * 40,
        "word " * 100,
        "unbroken" * 60,
    ],
)
def test_no_line_is_wider_than_the_terminal(text: str, width: int) -> None:
    """A3: usable at 80 columns, wide characters counted as two."""
    shown = _drawn(render.context(_context(_item(text, name="政策/" + "很长的名字" * 20))), width)
    assert max(map(cell_len, shown.splitlines())) <= width


def test_wide_characters_keep_the_columns_aligned() -> None:
    """A3: the score stands in the same cell whatever the text is."""
    shown = _drawn(render.context(_context(_item("退款会在收到退货后支付。"), _item("Refunds are paid."))))
    places = {cell_len(line[: line.index("0.931")]) for line in shown.splitlines() if "0.931" in line}
    assert len(places) == 1


@pytest.mark.parametrize("hostile", ["\x1b[2J\x1b[31mred", "\x9b31m", "a\rb", "\x07", "\u202etxt.exe"])
def test_text_from_memory_cannot_command_the_terminal(hostile: str) -> None:
    """A3: a document is data: its controls are shown as marks, in text, names and questions alike."""
    answer = _context(_item(hostile, name=hostile), questions=(OpenQuestion(SOURCE, "pending", hostile),))
    shown = _drawn(render.context(answer))
    assert not set(shown) & {"\x1b", "\x9b", "\r", "\x07", "\u202e"}
    assert shown.count("�") >= 3


def test_text_from_memory_is_not_markup() -> None:
    """A3: a document is data: brackets stay brackets."""
    shown = _drawn(render.context(_context(_item("[bold]see[/bold] [/unmatched] :smile:"))))
    assert "[bold]see[/bold] [/unmatched] :smile:" in shown


def test_a_long_text_is_cut_and_says_so() -> None:
    """A3: an answer of many long items stays readable; --json has it all."""
    shown = _drawn(render.context(_context(_item("\n".join(f"line {number}" for number in range(20))))))
    assert "line 3" in shown
    assert "line 4" not in shown
    assert "… 16 more lines" in shown


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A3: NO_COLOR leaves the words and drops the colours."""
    assert "\x1b[" in _drawn(render.context(_context(_item("x"))), color=True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    render.console().print(render.context(_context(_item("x"))))
    out = capsys.readouterr().out
    assert "3" in out
    assert "\x1b[3" not in out.replace("\x1b[3m", "")


def test_a_plan_shows_its_spans_in_canonical_order() -> None:
    """S8: as they are hashed."""
    spans = tuple(
        PlannedSpan(Span(SOURCE, 1, start, start + 5), "paragraph", "truth", weight, 7, f"text {start}")
        for start, weight in ((0, 0.25), (10, 0.5))
    )
    shown = _drawn(render.plan(as_json(Plan("v1", 8192, 14, spans, PLAN_STATS, HASH, SOURCE, None))))
    assert shown.index("text 0") < shown.index("text 10")
    assert "0.250" in shown
    assert "paragraph · truth · 7 tokens" in shown
    assert "14 of 8,192 tokens" in shown


def test_an_estimate_is_flagged() -> None:
    """T3: a person sees that the count was an estimate."""
    stats = dataclasses.replace(PLAN_STATS, token_estimate=True, tokenizer="estimate", applied=0)
    shown = _drawn(render.plan(as_json(Plan("v1", 0, 0, (), stats, HASH, SOURCE, None))))
    assert "9 spans match, and none fits" in shown
    assert "the plan is empty." in _drawn(render.plan(as_json(_EMPTY)))
    assert "estimated" in shown
    assert "0 of 0 tokens" in shown


def test_words_alone_are_said_to_be_so() -> None:
    """C3: a question that was not asked by meaning is not shown as if it had been, in a context and in a plan."""
    assert "not by meaning: no embedder" in _drawn(render.context(_context(_item("x"))))
    counts = LegCounts(query=0, vector=0, lexical=4, traversal=2)
    recall = RecallStats(counts, 1, 0, 0, 0, 0, 0, "no\x1b embedder", 0.1, 3, 0.0625)
    stats = dataclasses.replace(PLAN_STATS, recall=recall)
    shown = _drawn(render.plan(as_json(dataclasses.replace(_EMPTY, stats=stats))))
    assert "not by meaning: no� embedder" in shown
    assert "3 found and left out as no evidence (best 0.06, floor 0.1)" in shown
    assert "meaning" not in _drawn(render.plan(as_json(_EMPTY)))

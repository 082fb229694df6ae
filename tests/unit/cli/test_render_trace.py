"""A trace as a picture of its plan: whole, aligned, harmless, whatever the names are and the width is."""

import io
from typing import Any

import pytest
from explained_trace import CJK, HASH, NAMES, RTL, TRACE, answer
from rich.cells import cell_len
from rich.console import Console
from telha_cli import recorded, render_trace

WHOLE = """\
question   何时退款？�[31m
spaces     main
true       at 2026-06-30T12:00:00Z
known      at 2026-06-30T12:00:00.000001Z
recorded   2026-06-30T12:00:00.000002Z (plan)

65 of 100 tokens used (2,000 asked); one source may take 40 (│)
███████████░░░░│░░░░░░░░░░░░░░░░░░░░░░   30   30.0 %  政策/退款和退货的全部规则…
█████████░░░░░░│░░░░░░░░░░░░░░░░░░░░░░   25   25.0 %  מדיניות החזרים�.md
████░░░░░░░░░░░│░░░░░░░░░░░░░░░░░░░░░░   10   10.0 %  docs/handbook.md
█████████████░░░░░░░░░░░░░░░░░░░░░░░░    35   35.0 %  unused

found      5 by meaning · 6 by words · 1 over edges
→ nodes    7 (2 more scored 0); left out: 3 below the floor of 0.09
→ spans    7 candidates
→ distinct 6; left out: 1 that repeats a heavier span
→ packed   3; left out: 1 did not fit what was left, 1 over the source cap, 1
           larger than the budget
weight     93.7 % of an upper bound of what fits

35 tokens are stranded: spans that still fitted were turned away because their
sources would have exceeded the 40 tokens (40 %) that one source may take. A
larger --max-frac-per-source, or a larger --max-tokens, lets more of these
sources in.

12 candidates by density
    density  weight  tokens  outcome                    span
1    0.0300   0.900      30  packed                     [0:120] …全部规则.md
2    0.0200   0.500      25  packed                     [40:90] … החזרים�.md
3    0.0133   0.200      15  source cap: 30/40          [130:190] …全部规则.md
4    0.0100   0.100      10  packed                     [7:99] cache
                                                        …handbook.md
5   0.00150   0.300     200  too large                  [100:900] …handbook.md
6  0.000280  0.0100      36  budget: 35 left            [900:990] …handbook.md
     0.0100   0.400      40  duplicate: 67% of [0:120]  [60:150] …全部规则.md
… 5 more that are not in the plan; --json has them

plan       b3:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
           verified: the record, hashed anew here, gives the same
trace      0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e19
"""


def _explained(**changed: Any) -> dict[str, Any]:
    told = answer(explained=True, **changed)
    return {**told, "explanation": recorded.explanation(told["record"])}


def _drawn(told: dict[str, Any], width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, markup=False).print(render_trace.trace(told))
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def test_a_trace_is_drawn_so() -> None:
    """X7, A3: question and instants, the budget by source under the cap line, the way to the plan, every candidate."""
    assert _drawn(_explained()) == WHOLE


@pytest.mark.parametrize("width", [36, 40, 50, 60, 80, 100, 110, 160, 400])
@pytest.mark.parametrize("explained", [True, False])
def test_no_line_is_wider_than_the_terminal(width: int, explained: bool) -> None:
    """A3: narrow and wide, names of wide characters counted as two cells."""
    shown = _drawn(_explained() if explained else answer(), width)
    assert max(map(cell_len, shown.splitlines())) <= width
    assert HASH in "".join(line.strip() for line in shown.splitlines())


def test_a_bar_and_its_figures_stand_in_the_same_cells_whatever_the_name_is() -> None:
    """A3: a name in Hebrew or Chinese moves nothing: it stands behind all that is drawn."""
    bars = [line for line in _drawn(answer()).splitlines() if " %  " in line]
    assert len(bars) == 4
    assert {cell_len(line[: line.index(" %  ")]) for line in bars} == {cell_len(bars[0][: bars[0].index(" %  ")])}
    assert len({line.index("│") for line in bars[:3]}) == 1
    assert "unused" in bars[3]


def test_names_and_questions_cannot_command_the_terminal() -> None:
    """A3: escapes and marks that turn text around are shown, not obeyed."""
    hostile = "\x1b[2J\u202e\u2067\x07"
    told = _explained()
    told["sources"] = [{"sourceId": source, "name": f"{hostile}{name}"} for source, name in NAMES.items()]
    told["record"]["request"] = {"question": hostile, "query": {"find": hostile}}
    told["record"]["error"] = hostile
    told["record"]["stats"]["recall"]["vectorLegSkipped"] = hostile
    for width in (40, 80, 160):
        assert not set(_drawn(told, width)) & set(hostile.replace("[2J", ""))


def test_a_wide_terminal_says_how_each_candidate_was_found() -> None:
    """X6: the legs and places, or the hops, and names in full."""
    shown = _drawn(_explained(), 140)
    assert "words 1, meaning 2  [0:120] 政策/退款和退货的全部规则.md" in shown
    assert "1 hop               [7:99] cache docs/handbook.md" in shown


def test_a_trace_without_explanation_shows_what_was_packed_and_says_so() -> None:
    """X7: nothing is made up: what was left out is not known."""
    shown = _drawn(answer())
    assert "3 packed, by density" in shown
    assert "source cap: " not in shown
    assert "--explain makes the plan anew and shows what was left out of it." in shown


def test_another_plan_is_said_to_be_another() -> None:
    """X7: what a plan that was made anew leaves out is not shown as if it were this one's."""
    told = answer(replay={"outcome": "changed", "because": "the configuration differs\x1b[2J"})
    shown = " ".join(_drawn(told).split())
    assert "Made anew, the plan is another one (changed), so that what it leaves out is not shown: the conf" in shown
    assert "\x1b" not in shown
    assert "Of the plan as it would be made now" not in shown
    same = _drawn(_explained(replay={"outcome": "identical", "because": ""}))
    assert "made anew at the same instants, it is the same plan" in same


@pytest.mark.parametrize("explained", [True, False])
def test_why_not_is_answered_of_another_plan_under_a_caveat(explained: bool) -> None:
    """X6, X7: subjects of the plan made now stand apart, behind what is the recorded plan's, and say whose they are."""
    subject = {
        "subject": {"source": "tea.md"},
        "verdict": "erased",
        "because": "it was erased",
        "candidates": [],
        "candidatesLeftOut": 0,
        "nodes": [],
        "nodesLeftOut": 0,
    }
    replay = {
        "outcome": "changed",
        "because": "a source was erased",
        "erased": [{"sourceId": CJK, "erased": 1_782_820_800_000_000, "spans": 1}],
        "ofAnotherPlan": {"planHash": HASH, "sourceCap": 40, "subjects": [subject]},
    }
    shown = " ".join(_drawn(_explained(replay=replay) if explained else answer(replay=replay)).split())
    caveat = (
        "Of the plan as it would be made now, which is not the recorded one; "
        f"{CJK} erased at 2026-06-30T12:00:00Z: Not in the plan: tea.md it was erased"
    )
    assert shown.index("by density") < shown.index(caveat) < shown.index("verified: the record")
    assert ("12 candidates by density" in shown) == explained


def test_a_long_list_shows_what_is_packed_and_the_first_of_the_others() -> None:
    """A3: readable with a pool of thousands; what is not shown is counted."""
    told = _explained()
    (packed,) = (row for row in told["explanation"]["spans"] if row["rank"] == 1)
    others = [{**packed, "rank": rank, "outcome": "budget"} for rank in range(2, 300)]
    told["explanation"]["spans"] = [packed, *others, {**packed, "rank": 300}]
    shown = _drawn(told)
    assert shown.count("budget: 100 left") == 40
    assert shown.count("      30  packed  ") == 2
    assert "305 candidates by density" in shown
    assert "… 263 more that are not in the plan; --json has them" in shown


def test_many_sources_are_summed() -> None:
    """A3: twelve bars, and one for the others; together they are what was used."""
    told = answer(budget=1000, used=200)
    told["record"]["item_coords"] = [[f"{CJK[:-2]}{n:02}", 1, 0, 9] for n in range(20)]
    told["record"]["item_facts"] = [["paragraph", 0, 0.5, 10]] * 20
    told["record"]["budget"] |= {"applied": 1000}
    bars = [line for line in _drawn(told).splitlines() if " %  " in line]
    assert len(bars) == 14
    assert bars[12].endswith("80    8.0 %  8 more sources")
    assert bars[13].endswith("800   80.0 %  unused")


def test_the_overhead_counts_where_the_budget_is_spent() -> None:
    """S4: a source takes tokens with what the caller wraps around each span."""
    record = answer()["record"]
    record["budget"]["spanOverheadTokens"] = 5
    assert recorded.spent(record)[0] == (CJK, 1_782_820_800_000_000, 35)
    assert recorded.packed(record)[0]["density"] == 0.9 / 35


@pytest.mark.parametrize(
    ("verified", "words"),
    [(True, "verified: the record"), (False, "NOT VERIFIED"), (None, "cannot be verified")],
)
def test_whether_the_hash_holds_is_said_in_words(verified: bool | None, words: str) -> None:
    """S9: not by a colour alone."""
    assert words in _drawn(answer(verified=verified))


def test_a_record_of_an_unknown_kind_is_shown_as_far_as_it_goes() -> None:
    """X4: unknown kinds are decoded generically."""
    told = answer(kind="future", record={}, sources=[], spaces=[], stranded=0, used=0, budget=0, verified=None)
    shown = _drawn(told)
    assert "(future)" in shown
    assert "No span was packed." in shown
    assert "0 of 0 tokens used" in shown
    assert TRACE in shown


def test_a_refused_call_is_shown_as_such() -> None:
    """R6: its trace says what was tried."""
    told = answer(used=0, items=0, stranded=0)
    told["record"] |= {"item_coords": [], "item_facts": [], "error": "INSUFFICIENT_EVIDENCE"}
    shown = _drawn(told)
    assert "error      INSUFFICIENT_EVIDENCE" in shown
    assert "No span was packed." in shown


def test_what_the_record_explains_has_the_shape_of_an_answer() -> None:
    """X6: numbers that JSON could not hold are read back, words of a newer planner are kept."""
    told = answer(explained=True)["record"]
    told["explained"]["rows"][0][1] = str(2**60)
    told["explained"]["rows"][0][8] = "eaten"
    explained = recorded.explanation(told)
    told["explained"]["rows"][0][1], told["explained"]["rows"][0][8] = 1_782_820_800_000_000, "packed"
    assert explained is not None
    first, *_, last = explained["spans"]
    assert first["span"] == {"sourceId": CJK, "sourceVersionTx": 2**60, "start": 0, "end": 120}
    assert (first["outcome"], first["score"]["legs"][0]) == ("eaten", {"leg": "lexical", "rank": 1})
    assert last["duplicate"]["of"]["end"] == 120
    assert explained["spans"][3]["class"] == "cache"
    assert recorded.explanation({}) is None
    assert RTL in {row["span"]["sourceId"] for row in recorded.packed(answer()["record"])}

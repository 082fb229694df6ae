"""The rules of selection, one by one, on pools small enough to check by hand; both implementations must follow."""

import dataclasses

import pytest
from pools import pool_of
from telha_planner.core import reference, selection
from telha_planner.core.model import Candidate, Outcome, PackingRule, SpanClass, SpanRef

A, B = b"a" * 16, b"b" * 16
RULE = PackingRule(budget=100, max_frac_per_source=1.0, dedup_overlap=0.8)


def span(
    start: int, end: int, weight: float, tokens: int, source: bytes = A, version: int = 1, **more: object
) -> Candidate:
    candidate = Candidate(SpanRef(source, version, start, end), "body", SpanClass.TRUTH, weight, tokens)
    return dataclasses.replace(candidate, **more)


def collapsed(candidates: list[Candidate]) -> list[Candidate]:
    """What stays after S2, by both implementations."""
    plain = reference.collapse(candidates)
    assert [candidates[row] for row in selection.collapse(pool_of(candidates))] == plain
    return plain


def outcomes(candidates: list[Candidate], **changes: float) -> list[str]:
    """The outcome of each candidate in the order given; coordinates are distinct."""
    rule = dataclasses.replace(RULE, **changes)
    plain = collapsed(candidates)
    chosen = selection.select(pool_of(plain), rule)
    assert chosen.outcome.tolist() == reference.select(plain, rule).outcome.tolist()
    return [Outcome(chosen.outcome[plain.index(candidate)]).name for candidate in candidates]


def stranded(candidates: list[Candidate], **changes: float) -> tuple[int, int]:
    """Tokens used, and budget stranded by the cap."""
    rule = dataclasses.replace(RULE, **changes)
    chosen = selection.select(pool_of(collapsed(candidates)), rule)
    return chosen.used, chosen.stranded_by_cap


@pytest.mark.parametrize(
    ("stays", "goes"),
    [
        ({"weight": 0.6, "span_class": SpanClass.CACHE}, {"weight": 0.5}),
        ({}, {"span_class": SpanClass.CACHE}),
        ({"kind": "cell"}, {"kind": "code"}),
        ({"kind": "z"}, {"kind": "é"}),
        ({"kind": "\uffff"}, {"kind": "😀"}),
        ({"tokens": 4}, {"tokens": 5}),
        ({"text": "a"}, {"text": "b"}),
        ({"text": ""}, {"text": "a"}),
        ({"text": "\uffff"}, {"text": "😀"}),
    ],
)
def test_one_of_each_coordinate_stays(stays: dict, goes: dict):
    """S2: weight desc, truth before cache, kind (UTF-8 bytes), tokens asc, text bytes; in no counter."""
    base = span(0, 9, 0.5, 5)
    winner, loser = dataclasses.replace(base, **stays), dataclasses.replace(base, **goes)
    for order in ([winner, loser], [loser, winner]):
        assert collapsed(order) == [winner]
    assert outcomes([winner]) == ["PACKED"]


def test_the_first_of_wholly_equal_candidates_stays():
    """S2: rows that agree in everything stand for one another; the first one is taken."""
    twin = span(0, 9, 0.5, 5, text="same")
    assert selection.collapse(pool_of([span(9, 10, 0.1, 1), twin, twin, twin])).tolist() == [1, 0]


def test_another_version_or_source_is_another_coordinate():
    """S2: S3: offsets compare within one version of one source only."""
    pool = [span(0, 9, 0.5, 5), span(0, 9, 0.5, 5, version=2), span(0, 9, 0.5, 5, source=B)]
    assert outcomes(pool) == ["PACKED"] * 3


def test_overlap_must_exceed_the_threshold():
    """S3: exactly 0.8 stays, one byte more goes; the shorter span is the measure."""
    heavy = span(0, 100, 0.9, 5)
    assert outcomes([heavy, span(20, 120, 0.5, 5)]) == ["PACKED", "PACKED"]
    assert outcomes([heavy, span(19, 119, 0.5, 5)]) == ["PACKED", "DEDUPED"]
    assert outcomes([heavy, span(91, 101, 0.5, 5)]) == ["PACKED", "DEDUPED"]
    assert outcomes([heavy, span(92, 102, 0.5, 5)]) == ["PACKED", "PACKED"]


def test_the_heavier_stays_wherever_it_stands():
    """S3: S7: by weight, and by coordinate among equals; +0.0 before −0.0."""
    assert outcomes([span(0, 100, 0.4, 5), span(10, 110, 0.5, 5)]) == ["DEDUPED", "PACKED"]
    assert outcomes([span(0, 100, 0.5, 5), span(10, 110, 0.5, 5)]) == ["PACKED", "DEDUPED"]
    assert outcomes([span(0, 100, -0.0, 5), span(10, 110, 0.0, 5)]) == ["DEDUPED", "PACKED"]


def test_containment_is_always_a_duplicate():
    """S3: q == 1.0, also at the threshold 1.0, whichever of the two is heavier; near-containment is not."""
    assert outcomes([span(0, 100, 0.9, 5), span(40, 50, 0.5, 5)], dedup_overlap=1.0) == ["PACKED", "DEDUPED"]
    assert outcomes([span(0, 100, 0.5, 5), span(40, 50, 0.9, 5)], dedup_overlap=1.0) == ["DEDUPED", "PACKED"]
    assert outcomes([span(0, 100, 0.9, 5), span(1, 101, 0.5, 5)], dedup_overlap=1.0) == ["PACKED", "PACKED"]


def test_the_largest_lengths_keep_their_last_byte():
    """S3: (n − 1) / n is below 1.0 in float64 for every length there is."""
    top = 2**53 - 1
    pool = [span(0, top - 1, 0.9, 5), span(1, top, 0.5, 5)]
    assert outcomes(pool, dedup_overlap=1.0) == ["PACKED", "PACKED"]
    assert outcomes(pool, dedup_overlap=0.9999999999999999) == ["PACKED", "PACKED"]
    assert outcomes(pool, dedup_overlap=0.9999999999999998) == ["PACKED", "DEDUPED"]


def test_a_dropped_span_drops_nobody():
    """S3: only kept spans count, so a chain of overlaps loses every second link."""
    chain = [span(10 * link, 10 * link + 100, 0.9 - link / 10, 5) for link in range(5)]
    assert outcomes(chain) == ["PACKED", "DEDUPED", "PACKED", "DEDUPED", "PACKED"]


def test_density_decides_and_a_zero_counts_as_one_token():
    """S4: w / max(1, t): 0.5 over 0 tokens is 0.5, less dense than 0.9 over 1."""
    pool = [span(0, 9, 0.5, 0), span(10, 19, 0.9, 1), span(20, 29, 1.0, 100)]
    assert outcomes(pool, max_spans=1) == ["SPAN_LIMIT_SKIPPED", "PACKED", "BUDGET_SKIPPED"]


def test_equal_densities_go_by_weight_then_by_place():
    """S4: the heavier of two equally dense spans first; then canonical order."""
    assert outcomes([span(0, 9, 0.25, 10), span(10, 19, 0.5, 20)], max_spans=1) == ["SPAN_LIMIT_SKIPPED", "PACKED"]
    assert outcomes([span(10, 19, 0.5, 20), span(0, 9, 0.5, 20)], max_spans=1) == ["SPAN_LIMIT_SKIPPED", "PACKED"]


def test_what_does_not_fit_never_blocks_what_does():
    """S4: unpackable, budget-skipped, and a smaller span after them still packed."""
    pool = [span(0, 9, 3.0, 101), span(10, 19, 0.9, 60), span(20, 29, 0.5, 50), span(30, 39, 0.1, 40)]
    assert outcomes(pool) == ["UNPACKABLE", "PACKED", "BUDGET_SKIPPED", "PACKED"]


def test_the_overhead_counts_everywhere_but_in_the_plan():
    """S4: in density, fit, cap and used."""
    pool = [span(0, 9, 2.0, 60), span(10, 19, 0.5, 30)]
    assert stranded(pool, span_overhead_tokens=5) == (100, 0)
    assert outcomes(pool, span_overhead_tokens=6) == ["PACKED", "BUDGET_SKIPPED"]
    assert outcomes(pool, span_overhead_tokens=41) == ["UNPACKABLE", "PACKED"]
    # Bare, the short span is the denser; with an overhead the heavy one is.
    short, heavy = span(0, 9, 0.2, 1), span(10, 19, 0.9, 10)
    assert outcomes([short, heavy], max_spans=1) == ["PACKED", "SPAN_LIMIT_SKIPPED"]
    assert outcomes([short, heavy], max_spans=1, span_overhead_tokens=9) == ["SPAN_LIMIT_SKIPPED", "PACKED"]


def test_the_reasons_are_tried_in_their_order():
    """S4: budget before span limit, span limit before cap."""
    first = span(0, 9, 0.9, 60)
    rest = [span(10, 19, 0.2, 50), span(20, 29, 0.1, 30)]
    assert outcomes([first, *rest], max_frac_per_source=0.6) == ["PACKED", "BUDGET_SKIPPED", "CAP_SKIPPED"]
    limited = outcomes([first, *rest], max_frac_per_source=0.6, max_spans=1)
    assert limited == ["PACKED", "BUDGET_SKIPPED", "SPAN_LIMIT_SKIPPED"]


def test_the_cap_never_relaxes_and_says_what_it_strands():
    """S5: 40 of 100 tokens from one source, all versions together, and the rest of the budget is reported."""
    pool = [span(0, 9, 0.9, 30), span(10, 19, 0.8, 30), span(0, 9, 0.5, 10, version=2), span(0, 9, 0.1, 20, source=B)]
    assert outcomes(pool, max_frac_per_source=0.4) == ["PACKED", "CAP_SKIPPED", "PACKED", "PACKED"]
    assert stranded(pool, max_frac_per_source=0.4) == (60, 40)


def test_no_budget_is_stranded_when_the_cap_turned_nothing_away_that_fitted():
    """S5: 0 where spans were too large or the pool ran out."""
    assert stranded([span(0, 9, 0.9, 30)], max_frac_per_source=0.4) == (30, 0)
    assert stranded([span(0, 9, 0.9, 101)], max_frac_per_source=0.4) == (0, 0)


def test_a_tiny_budget_caps_everything():
    """S5: floor(0.4 × 2) = 0: nothing packs but what costs nothing, and the stats say so."""
    pool = [span(0, 9, 0.9, 1), span(10, 19, 0.5, 0)]
    assert outcomes(pool, budget=2, max_frac_per_source=0.4) == ["CAP_SKIPPED", "PACKED"]
    assert stranded(pool, budget=2, max_frac_per_source=0.4) == (0, 2)


def test_the_cap_is_rounded_down_in_float64():
    """S4: floor(0.29 × 100) is 28 in float64, since 0.29 × 100 is 28.999999999999996."""
    assert outcomes([span(0, 9, 0.9, 29)], max_frac_per_source=0.29) == ["CAP_SKIPPED"]
    assert outcomes([span(0, 9, 0.9, 28)], max_frac_per_source=0.29) == ["PACKED"]


def test_a_budget_of_zero_is_legal():
    """S4: T4: only what costs nothing packs."""
    assert outcomes([span(0, 9, 0.9, 1), span(10, 19, 0.5, 0)], budget=0) == ["UNPACKABLE", "PACKED"]


def test_an_empty_pool_gives_an_empty_selection():
    """S4: S9: no rows, nothing used."""
    assert outcomes([]) == []
    assert stranded([]) == (0, 0)


def test_a_pool_without_texts_is_selected_alike():
    """S2: texts only break ties; a plan's pool has none."""
    candidates = [span(0, 9, 0.5, 5, text="b"), span(0, 9, 0.5, 5, text="a"), span(20, 29, 0.4, 5)]
    without = pool_of(candidates, texts=False)
    rows = selection.collapse(without)
    assert rows.tolist() == [0, 2]
    assert selection.take(without, rows).texts is None
    assert selection.select(selection.take(without, rows), RULE).used == 10

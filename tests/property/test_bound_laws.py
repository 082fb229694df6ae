"""The bound that a plan is held against: nothing beats it, and it cuts where a knapsack may."""

import itertools
import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pools import CLEAN_WEIGHTS, candidate_lists, pool_of, rules
from telha_planner.core import selection
from telha_planner.core.bound import Optimality, optimality
from telha_planner.core.model import Candidate, Outcome, PackingRule, Pool, Selection, SpanClass, SpanRef


def selected(candidates: list[Candidate], rule: PackingRule) -> tuple[Pool, Selection]:
    pool = pool_of(candidates)
    pool = selection.take(pool, selection.collapse(pool))
    return pool, selection.select(pool, rule)


@settings(max_examples=150, deadline=None)
@given(candidate_lists(CLEAN_WEIGHTS), rules())
def test_no_selection_beats_the_bound(candidates: list[Candidate], rule: PackingRule):
    """S4: the bound holds for the best of all selections under budget and cap, whatever the span limit."""
    pool, chosen = selected(candidates, rule)
    found = optimality(pool, chosen, rule)
    rows = [row for row in range(len(pool)) if chosen.outcome[row] not in (Outcome.DEDUPED, Outcome.UNPACKABLE)][:9]
    cap = math.floor(rule.max_frac_per_source * rule.budget)
    best = 0.0
    for size in range(len(rows) + 1):
        for some in itertools.combinations(rows, size):
            spent: dict[tuple[int, int], int] = {}
            for row in some:
                source = pool.source_hi[row].item(), pool.source_lo[row].item()
                spent[source] = spent.get(source, 0) + pool.tokens[row].item() + rule.span_overhead_tokens
            if sum(spent.values()) <= rule.budget and all(total <= cap for total in spent.values()):
                best = max(best, math.fsum(pool.weight[row].item() for row in some))
    assert best <= found.upper_bound * (1 + 1e-12)
    assert 0.0 <= found.share <= 1.0
    assert math.isclose(found.packed_weight, math.fsum(pool.weight[chosen.packed].tolist()), rel_tol=1e-15)


@settings(max_examples=100, deadline=None)
@given(candidate_lists(CLEAN_WEIGHTS), rules(), st.integers(1, 50))
def test_what_exceeds_the_cap_of_its_source_counts_in_no_bound(
    candidates: list[Candidate], rule: PackingRule, excess: int
):
    """S4: however heavy a span is that no plan can hold, the share is the same with it."""
    cap = math.floor(rule.max_frac_per_source * rule.budget)
    span = SpanRef(b"\xff" * 16, 9, 0, 5)
    never = Candidate(span, "body", SpanClass.TRUTH, 1e6, tokens=cap + excess)
    with_it, without = (optimality(*selected(some, rule), rule) for some in ([*candidates, never], candidates))
    assert with_it == without


def test_a_heavy_span_beyond_the_cap_does_not_spoil_the_share():
    """S4: 60 tokens under a cap of 24 cannot be packed, so what was packed is all that could be."""
    spans = [SpanRef(bytes(16), 0, start, start + 5) for start in (0, 5)]
    candidates = [
        Candidate(span, "body", SpanClass.TRUTH, weight, tokens=tokens)
        for span, weight, tokens in zip(spans, (1.0, 1e-4), (60, 20), strict=True)
    ]
    rule = PackingRule(budget=60, max_frac_per_source=0.4, dedup_overlap=0.8)
    assert optimality(*selected(candidates, rule), rule) == Optimality(1e-4, 1e-4, 1.0)


def test_weights_at_the_end_of_the_range_still_have_a_share():
    """S10: sums of finite weights that float64 cannot hold end at its greatest value, and the share stays right."""
    spans = [SpanRef(bytes(16), 0, start, start + 5) for start in range(0, 40, 10)]
    candidates = [Candidate(span, "body", SpanClass.TRUTH, 1.7e308, tokens=10) for span in spans]
    rule = PackingRule(budget=20, max_frac_per_source=1.0, dedup_overlap=0.8, max_spans=1)
    found = optimality(*selected(candidates, rule), rule)
    assert found == Optimality(1.7e308, sys.float_info.max, 0.5)


@pytest.mark.parametrize(
    ("budget", "fraction", "bound"),
    [
        (10, 1.0, 10.0),
        (15, 1.0, 12.5),
        (20, 1.0, 15.0),
        (20, 0.5, 10.0),
        (30, 0.5, 12.5),
        (9, 1.0, 0.0),
        (20, 0.45, 0.0),
    ],
)
def test_the_bound_cuts_the_span_that_does_not_fit(budget: int, fraction: float, bound: float):
    """S4: two spans of one source, 10 tokens each, weights 10 and 5; what exceeds budget or cap alone is left out."""
    spans = [SpanRef(bytes(16), 0, start, start + 5) for start in (0, 5)]
    candidates = [
        Candidate(span, "body", SpanClass.TRUTH, weight, tokens=10)
        for span, weight in zip(spans, (10.0, 5.0), strict=True)
    ]
    rule = PackingRule(budget=budget, max_frac_per_source=fraction, dedup_overlap=0.8)
    pool, chosen = selected(candidates, rule)
    found = optimality(pool, chosen, rule)
    assert found.upper_bound == bound
    assert found.share == (found.packed_weight / bound if bound else 1.0)

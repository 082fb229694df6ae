"""Laws of what a plan says about itself: causes that add up to the outcomes, and a bound that nothing beats."""

import itertools
import math
import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pools import ANY_WEIGHTS, CLEAN_WEIGHTS, candidate_lists, pool_of, rules
from telha_planner.core import selection
from telha_planner.core.bound import Optimality, optimality
from telha_planner.core.explanation import Causes, explain
from telha_planner.core.model import Candidate, Outcome, PackingRule, Pool, Selection, SpanClass, SpanRef


def selected(candidates: list[Candidate], rule: PackingRule) -> tuple[Pool, Selection]:
    pool = pool_of(candidates)
    pool = selection.take(pool, selection.collapse(pool))
    return pool, selection.select(pool, rule)


def explained(candidates: list[Candidate], rule: PackingRule) -> tuple[Pool, Selection, Causes]:
    pool, chosen = selected(candidates, rule)
    return pool, chosen, explain(pool, chosen, rule)


@settings(max_examples=200, deadline=None)
@given(candidate_lists(ANY_WEIGHTS), rules())
def test_what_was_left_at_that_moment_decides_each_outcome(candidates: list[Candidate], rule: PackingRule):
    """X6: S4: from the numbers of its row alone, and the rule, anybody can tell why a span was packed or not."""
    pool, chosen, why = explained(candidates, rule)
    packed_before = 0
    for row in sorted(range(len(pool)), key=lambda row: why.rank[row]):
        cost = pool.tokens[row].item() + rule.span_overhead_tokens
        if why.duplicate_of[row] >= 0:
            expected = Outcome.DEDUPED
        elif cost > rule.budget:
            expected = Outcome.UNPACKABLE
        elif cost > why.left[row]:
            expected = Outcome.BUDGET_SKIPPED
        elif rule.max_spans and packed_before == rule.max_spans:
            expected = Outcome.SPAN_LIMIT_SKIPPED
        elif why.spent[row] + cost > why.cap:
            expected = Outcome.CAP_SKIPPED
        else:
            expected = Outcome.PACKED
            packed_before += 1
        assert chosen.outcome[row] == expected
    ranks = sorted(why.rank[why.rank > 0].tolist())
    assert ranks == list(range(1, len(pool) - chosen.count(Outcome.DEDUPED) + 1))


@settings(max_examples=200, deadline=None)
@given(candidate_lists(ANY_WEIGHTS), rules())
def test_a_duplicate_names_a_kept_span_that_it_repeats_most(candidates: list[Candidate], rule: PackingRule):
    """X6: S3: no span kept before the duplicate overlaps it more than the one that is named."""
    pool, chosen, why = explained(candidates, rule)
    key = selection.descending_key(pool.weight)
    kept = [row for row in range(len(pool)) if chosen.outcome[row] != Outcome.DEDUPED]

    def quotient(row: int, other: int) -> float:
        same = all(column[row] == column[other] for column in (pool.source_hi, pool.source_lo, pool.version))
        shared = min(pool.end[row], pool.end[other]) - max(pool.start[row], pool.start[other])
        shorter = min(pool.end[row] - pool.start[row], pool.end[other] - pool.start[other])
        return float(shared / shorter) if same and shared > 0 else 0.0

    for row in range(len(pool)):
        if chosen.outcome[row] != Outcome.DEDUPED:
            assert (why.duplicate_of[row], why.overlap[row]) == (-1, 0.0)
            continue
        named = why.duplicate_of[row].item()
        assert named in kept
        assert why.overlap[row] == quotient(row, named)
        assert why.overlap[row] > rule.dedup_overlap or why.overlap[row] == 1.0
        earlier = [other for other in kept if (key[other], other) < (key[row], row)]
        assert why.overlap[row] == max(quotient(row, other) for other in earlier)


@settings(max_examples=150, deadline=None)
@given(candidate_lists(ANY_WEIGHTS), rules(), st.randoms(use_true_random=False))
def test_the_order_of_the_pool_never_matters_to_the_causes(
    candidates: list[Candidate], rule: PackingRule, shuffler: random.Random
):
    """S7: X6: equal causes under any permutation."""
    _, _, why = explained(candidates, rule)
    shuffled = list(candidates)
    shuffler.shuffle(shuffled)
    _, _, other = explained(shuffled, rule)
    for name in ("rank", "duplicate_of", "overlap", "left", "spent"):
        assert getattr(other, name).tolist() == getattr(why, name).tolist()
    assert other.density.tobytes() == why.density.tobytes()


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


def test_weights_at_the_end_of_the_range_still_have_a_share():
    """S10: sums of finite weights that float64 cannot hold end at its greatest value, and the share stays right."""
    spans = [SpanRef(bytes(16), 0, start, start + 5) for start in range(0, 40, 10)]
    candidates = [Candidate(span, "body", SpanClass.TRUTH, 1.7e308, tokens=10) for span in spans]
    rule = PackingRule(budget=20, max_frac_per_source=1.0, dedup_overlap=0.8, max_spans=1)
    found = optimality(*selected(candidates, rule), rule)
    assert found == Optimality(1.7e308, sys.float_info.max, 0.5)


@pytest.mark.parametrize(
    ("budget", "fraction", "bound"), [(10, 1.0, 10.0), (15, 1.0, 12.5), (20, 1.0, 15.0), (20, 0.5, 10.0), (9, 1.0, 0.0)]
)
def test_the_bound_cuts_the_span_that_does_not_fit(budget: int, fraction: float, bound: float):
    """S4: two spans of one source, 10 tokens each, weights 10 and 5; what exceeds the budget alone is left out."""
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

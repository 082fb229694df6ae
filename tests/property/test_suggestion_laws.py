"""The least budget that packs what weighs enough, against trying every budget; and what each doubling adds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pools import CLEAN_WEIGHTS, candidate_lists, pool_of, rules, spans
from telha_planner.core import selection, suggestion
from telha_planner.core.bound import optimality
from telha_planner.core.model import MAX_OFFSET, Candidate, Outcome, PackingRule, SpanClass, SpanRef
from telha_planner.core.suggestion import MOST_DOUBLINGS, suggest

few = st.lists(
    st.builds(
        Candidate,
        span=spans(),
        kind=st.just("body"),
        span_class=st.just(SpanClass.TRUTH),
        weight=st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 1.0]),
        tokens=st.integers(0, 9),
    ),
    max_size=9,
)
limits = st.builds(
    PackingRule,
    budget=st.integers(0, 40),
    max_frac_per_source=st.sampled_from([1.0, 0.5, 0.4, 0.3]),
    dedup_overlap=st.sampled_from([0.8, 1.0]),
    max_spans=st.sampled_from([0, 0, 1, 2, 3, 5]),
    span_overhead_tokens=st.sampled_from([0, 2]),
)


def selected(candidates: list[Candidate], rule: PackingRule):
    pool = pool_of(candidates)
    pool = selection.take(pool, selection.collapse(pool))
    return pool, selection.select(pool, rule)


def wanted_rows(pool, chosen, share: float) -> set[int]:
    least = share * float(pool.weight.max(initial=0.0))
    return {row for row in range(len(pool)) if chosen.outcome[row] != Outcome.DEDUPED and pool.weight[row] >= least}


@settings(max_examples=200, deadline=None)
@given(few, limits, st.sampled_from([0.05, 0.1, 0.3, 0.5, 1.0]))
def test_the_least_budget_is_the_least_of_all(candidates: list[Candidate], rule: PackingRule, share: float):
    """S4: The smallest budget that packs every wanted span; none where a span limit keeps every budget from it."""
    pool, chosen = selected(candidates, rule)
    found = suggest(pool, chosen, rule, share)
    wanted = wanted_rows(pool, chosen, share)
    everything = math.ceil(int(pool.tokens.sum() + len(pool) * rule.span_overhead_tokens) / rule.max_frac_per_source)
    best = None
    for budget in range(everything + 2):
        packed = selection.select(pool, replace(rule, budget=budget)).packed
        if wanted and wanted <= set(packed.tolist()):
            best = budget
            break
    assert (found.smallest, found.exact) == (best, True)
    assert found.wanted == len(wanted)
    if not rule.max_spans and wanted:
        assert found.smallest is not None


@settings(max_examples=150, deadline=None)
@given(candidate_lists(CLEAN_WEIGHTS), rules(), st.floats(0, 1, exclude_min=True))
def test_a_suggestion_can_be_relied_on(candidates: list[Candidate], rule: PackingRule, share: float):
    """S4: over all ranges: at the suggested budget all that is wanted is packed; steps are what Phase B would do."""
    pool, chosen = selected(candidates, rule)
    found = suggest(pool, chosen, rule, share)
    if found.smallest is not None:
        assert 0 <= found.smallest <= MAX_OFFSET
        packed = selection.select(pool, replace(rule, budget=found.smallest)).packed
        assert wanted_rows(pool, chosen, share) <= set(packed.tolist())
    budget = max(1, rule.budget)
    for step in found.steps:
        budget = min(2 * budget, MAX_OFFSET)
        other = replace(rule, budget=budget)
        again = selection.select(pool, other)
        reached = optimality(pool, again, other)
        assert step == (
            suggestion.BudgetStep(budget, again.used, len(again.packed), reached.packed_weight, reached.share)
        )
    survivors = int(np.count_nonzero(chosen.outcome != Outcome.DEDUPED))
    ends = [len(chosen.packed), *(step.spans for step in found.steps)]
    assert all(count < survivors for count in ends[:-1])
    assert ends[-1] == survivors or len(found.steps) == MOST_DOUBLINGS or budget == MAX_OFFSET


@settings(max_examples=100, deadline=None)
@given(candidate_lists(), rules(), rules())
def test_packing_again_is_packing(candidates: list[Candidate], rule: PackingRule, other: PackingRule):
    """S4: under other limits, what deduplication left gives what selecting anew gives."""
    other = replace(other, dedup_overlap=rule.dedup_overlap)
    pool, chosen = selected(candidates, rule)
    again, anew = selection.repack(pool, chosen, other), selection.select(pool, other)
    assert again.outcome.tolist() == anew.outcome.tolist()
    assert again.packed.tolist() == anew.packed.tolist()
    assert (again.used, again.stranded_by_cap) == (anew.used, anew.stranded_by_cap)


def a_candidate(number: int, weight: float, tokens: int) -> Candidate:
    source = number.to_bytes(16, "big")
    return Candidate(SpanRef(source, 1, 0, 9), "body", SpanClass.TRUTH, weight, tokens)


def test_more_budget_may_pack_less():
    """S4: Why every breakpoint is looked at: 4 packs both that are wanted, 5 lets in what takes their place."""
    candidates = [a_candidate(1, 0.9, 3), a_candidate(2, 0.25, 1), a_candidate(3, 2.0, 5)]
    rule = PackingRule(4, 1.0, 0.8)
    pool, chosen = selected(candidates, rule)
    assert suggest(pool, chosen, rule, 0.45).smallest == 8
    packed = {budget: len(selection.select(pool, replace(rule, budget=budget)).packed) for budget in (4, 5, 8, 9)}
    assert packed == {4: 2, 5: 1, 8: 2, 9: 3}


def test_where_the_search_ends_early_the_budget_still_suffices(monkeypatch: pytest.MonkeyPatch):
    """S4: It says that a smaller one may do; with a span limit nothing is sure."""
    monkeypatch.setattr(suggestion, "MOST_LOOKS", 3)
    candidates = [a_candidate(number, 1.0 - number / 100, 5 + number) for number in range(20)]
    candidates.append(a_candidate(50, 30.0, 200))
    candidates.append(a_candidate(51, 3.0, 400))
    rule = PackingRule(10, 1.0, 0.8)
    pool, chosen = selected(candidates, rule)
    found = suggest(pool, chosen, rule, 0.1)
    exact = _without_bound(pool, chosen, rule)
    assert (found.exact, exact.exact) == (False, True)
    assert found.smallest >= exact.smallest
    packed = selection.select(pool, replace(rule, budget=found.smallest)).packed
    assert wanted_rows(pool, chosen, 0.1) <= set(packed.tolist())
    limited = replace(rule, max_spans=5)
    pool, chosen = selected(candidates, limited)
    assert suggest(pool, chosen, limited, 0.1).smallest is None


def _without_bound(pool, chosen, rule):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suggestion, "MOST_LOOKS", 10**6)
        return suggest(pool, chosen, rule, 0.1)

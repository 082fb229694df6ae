"""From a selection to the plan: spans, counters, hash."""

import numpy as np
from hypothesis import given, settings
from pools import CLEAN_WEIGHTS, candidate_lists, pool_of, rules
from telha_planner.core import selection
from telha_planner.core.bound import optimality
from telha_planner.core.budget import Budget
from telha_planner.core.model import Candidate, PackingRule
from telha_planner.core.plan import PLAN_MODEL, SCORE_MODEL, PlannedSpan, account, assemble, plan_hash, planned_spans


def decided(item: Candidate | PlannedSpan) -> tuple:
    """What a candidate and a planned span have in common, the weight by its bits."""
    return item.span, item.kind, item.span_class, np.float64(item.weight).tobytes(), item.tokens, item.text


@settings(max_examples=100, deadline=None)
@given(candidate_lists(CLEAN_WEIGHTS), rules())
def test_a_plan_shows_its_candidates_and_accounts_for_all_others(candidates: list[Candidate], rule: PackingRule):
    """S4: S8: S12: S13: the counters add up, the spans are the packed candidates, in canonical order."""
    pool = selection.take(pool_of(candidates), selection.collapse(pool_of(candidates)))
    chosen = selection.select(pool, rule)
    spans = planned_spans(pool, chosen.packed, [pool.texts[row] for row in chosen.packed])
    stats = account(
        pool, chosen, rule, Budget(rule.budget + 5, rule.budget), token_estimate=True, tokenizer="estimate", recall=None
    )
    plan = assemble(chosen.used, spans, stats)

    assert {decided(s) for s in spans} <= {decided(c) for c in candidates}
    assert [s.span for s in spans] == sorted({s.span for s in spans})

    outcomes = ("deduped", "unpackable", "budget_skipped", "span_limit_skipped", "cap_skipped", "selected_spans")
    assert stats.pool_spans == len({c.span for c in candidates}) == sum(getattr(stats, name) for name in outcomes)
    assert stats.selected_spans == len(plan.spans)
    assert stats.optimality == optimality(pool, chosen, rule)
    assert (stats.requested, stats.applied, plan.budget) == (rule.budget + 5, rule.budget, rule.budget)
    assert (stats.max_spans, stats.max_frac_per_source) == (rule.max_spans, rule.max_frac_per_source)
    assert stats.span_overhead_tokens == rule.span_overhead_tokens
    assert (plan.plan_model, stats.plan_model, stats.score_model) == (PLAN_MODEL, PLAN_MODEL, SCORE_MODEL)
    assert plan.plan_hash == plan_hash(rule.budget, plan.used, plan.spans)

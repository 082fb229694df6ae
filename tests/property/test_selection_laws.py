"""The laws of Phase B that a user of plans relies on."""

import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from pools import ANY_WEIGHTS, CLEAN_WEIGHTS, candidate_lists, pool_of, rules
from telha_planner.core import selection, tokens
from telha_planner.core.budget import resolve
from telha_planner.core.model import Candidate, Outcome, PackingRule, Pool, Selection, SpanClass, SpanRef
from telha_planner.core.plan import plan_hash, planned_spans


def run(candidates: list[Candidate], rule: PackingRule) -> tuple[Pool, Selection, str]:
    """The collapsed pool, its selection and the plan's hash."""
    pool = pool_of(candidates)
    pool = selection.take(pool, selection.collapse(pool))
    chosen = selection.select(pool, rule)
    spans = planned_spans(pool, chosen.packed, [pool.texts[row] for row in chosen.packed])
    return pool, chosen, plan_hash(rule.budget, chosen.used, spans)


def cost(pool: Pool, rows: list[int], rule: PackingRule) -> list[int]:
    return [pool.tokens[row].item() + rule.span_overhead_tokens for row in rows]


@settings(max_examples=150, deadline=None)
@given(candidate_lists(ANY_WEIGHTS), rules(), st.randoms(use_true_random=False))
def test_the_order_of_the_pool_never_matters(candidates: list[Candidate], rule: PackingRule, shuffler: random.Random):
    """S7: equal hash, equal texts and equal outcomes under any permutation."""
    pool, chosen, digest = run(candidates, rule)
    shuffled = list(candidates)
    shuffler.shuffle(shuffled)
    other_pool, other, other_digest = run(shuffled, rule)
    assert other_digest == digest
    assert other_pool.texts == pool.texts
    assert other.outcome.tolist() == chosen.outcome.tolist()
    assert (other.used, other.stranded_by_cap) == (chosen.used, chosen.stranded_by_cap)


@settings(max_examples=150, deadline=None)
@given(candidate_lists(ANY_WEIGHTS), rules())
def test_budget_and_cap_always_hold(candidates: list[Candidate], rule: PackingRule):
    """S5: S8: used ≤ B and is the sum of what is packed; no source takes more than floor(share × B)."""
    pool, chosen, _ = run(candidates, rule)
    packed = chosen.packed.tolist()
    costs = cost(pool, packed, rule)
    assert chosen.used == sum(costs) <= rule.budget
    spent: dict[tuple[int, int], int] = {}
    for row, tokens_of_row in zip(packed, costs, strict=True):
        source = pool.source_hi[row].item(), pool.source_lo[row].item()
        spent[source] = spent.get(source, 0) + tokens_of_row
    assert all(total <= math.floor(rule.max_frac_per_source * rule.budget) for total in spent.values())


@settings(max_examples=150, deadline=None)
@given(candidate_lists(ANY_WEIGHTS), rules())
def test_every_span_has_one_outcome_and_stranding_is_told(candidates: list[Candidate], rule: PackingRule):
    """S4: S5: the counters add up to the pool; budget is stranded only where the cap turned a fitting span away."""
    pool, chosen, _ = run(candidates, rule)
    assert sum(chosen.count(outcome) for outcome in Outcome) == len(pool)
    assert chosen.count(Outcome.PACKED) == len(chosen.packed)
    stranded = rule.budget - chosen.used if chosen.count(Outcome.CAP_SKIPPED) else 0
    assert chosen.stranded_by_cap == stranded


@settings(max_examples=100, deadline=None)
@given(candidate_lists(CLEAN_WEIGHTS), rules(), st.integers(1, 5))
def test_a_span_limit_keeps_the_first_of_the_unlimited_plan(candidates: list[Candidate], rule: PackingRule, limit: int):
    """S6: the first N in packing order, never a later top-N."""
    base = {"budget": rule.budget, "max_frac_per_source": rule.max_frac_per_source, "dedup_overlap": rule.dedup_overlap}
    pool, unlimited, _ = run(candidates, PackingRule(**base))
    _, limited, _ = run(candidates, PackingRule(**base, max_spans=limit))

    def packing_order(row: int) -> tuple[float, float, int]:
        return (-pool.weight[row] / max(1, pool.tokens[row]), -pool.weight[row], row)

    first = sorted(unlimited.packed.tolist(), key=packing_order)[:limit]
    assert limited.packed.tolist() == sorted(first)


@settings(max_examples=100, deadline=None)
@given(candidate_lists(ANY_WEIGHTS), rules(), rules())
def test_deduplication_knows_nothing_of_the_budget(candidates: list[Candidate], rule: PackingRule, other: PackingRule):
    """S3: which spans are duplicates depends on the pool and the threshold alone."""
    same_threshold = PackingRule(other.budget, other.max_frac_per_source, rule.dedup_overlap, other.max_spans)
    _, one, _ = run(candidates, rule)
    _, two, _ = run(candidates, same_threshold)
    deduped = [outcome.tolist() for outcome in (one.outcome == Outcome.DEDUPED, two.outcome == Outcome.DEDUPED)]
    assert deduped[0] == deduped[1]


SCRIPTS = [
    "退货后十四天内退款。退货时必须出示原始收据。",
    "記憶はスパンごとに数えられる。",
    "👩‍👩‍👧 família 🏳️‍🌈 reúne-se às 9h 🎁",
    "الاسترداد خلال أربعة عشر يومًا من الإرجاع",
    "ההחזר משולם תוך ארבעה עשר יום",
    "Refunds are paid within 14 days of the return.",
]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(SCRIPTS), st.integers(1, 12), st.integers(0, 3), st.floats(0, 1)), max_size=30),
    st.integers(1, 400),
    st.integers(0, 20),
)
def test_an_estimated_budget_holds_in_every_script(rows: list, requested: int, overhead: int):
    """S8: T1: T3: T4: estimates stay within floor(0.9 × request), also in CJK, emoji and right-to-left text."""
    candidates = [
        Candidate(
            SpanRef(bytes([source]) * 16, 1, 1000 * index, 1000 * index + len((text * times).encode())),
            "paragraph",
            SpanClass.TRUTH,
            score,
            tokens.estimate(*tokens.estimate_inputs(text * times)),
            text * times,
        )
        for index, (text, times, source, score) in enumerate(rows)
    ]
    budget = resolve(requested, 6000, None, None, estimate=True)
    pool, chosen, _ = run(candidates, PackingRule(budget.applied, 0.4, 0.8, span_overhead_tokens=overhead))
    assert budget.applied == math.floor(requested * 0.9)
    shown = [pool.texts[row] for row in chosen.packed]
    total = sum(
        math.ceil(sum(c < "\x80" for c in text) / 3.6 + sum(c >= "\x80" for c in text)) + overhead for text in shown
    )
    assert total == chosen.used <= budget.applied <= requested

"""
What another budget would have done with the same pool: the least that packs all that weighs enough, and each doubling.

Packing is not monotone in the budget: a larger one may let in a dense, large span, and that takes the place of others.
So the least budget is searched for from one at which a decision changes to the next. Let B be a budget at which some
wanted span is not packed, and w the first such in the packing order. Of the spans before w, those that were packed stay
so at any larger budget while nothing else before them changes; each of the others is packed from a budget on that can
be computed (what was used plus its tokens, and where its source's share reaches that far). Below the least of these
budgets nothing up to w changes, and w is not packed; so the search goes on there, and misses nothing.
Rule: it never decides about a plan; deduplication does not depend on the budget, and is taken as it was decided.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .bound import optimality
from .model import MAX_OFFSET, Outcome, PackingRule, Pool, Selection
from .selection import packing_order, repack

DEFAULT_WEIGHT_SHARE = 0.1
MOST_DOUBLINGS = 8
MOST_LOOKS = 50_000
"""Spans that the search looks at before it is content with a budget that suffices."""
_HALVINGS = 12
"""Then it halves at most so often what lies between a budget that does not suffice and one that does."""


@dataclass(frozen=True, slots=True)
class BudgetStep:
    """
    What a budget would have packed.

    Attributes:
        budget: B, tokens.
        used: Tokens used.
        spans: Spans packed.
        packed_weight: Sum of their weights.
        share_of_bound: Of the weight that any selection under this budget could have, as in `bound`.
    """

    budget: int
    used: int
    spans: int
    packed_weight: float
    share_of_bound: float


@dataclass(frozen=True, slots=True)
class Suggestion:
    """
    What another budget would have done.

    Attributes:
        weight_share: Of the greatest weight, what a span must weigh to be wanted; (0, 1].
        wanted: Spans that deduplication left and that weigh as much.
        smallest: The least budget that packs them all; None where nothing is wanted or no budget does.
        exact: Whether *smallest* is the least; else it suffices, and a smaller one may.
        steps: The budget doubled, and doubled again, until all that deduplication left is packed.
    """

    weight_share: float
    wanted: int
    smallest: int | None
    exact: bool
    steps: tuple[BudgetStep, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """A span in the packing order: its tokens, overhead included, its source, and whether it is wanted."""

    cost: int
    source: tuple[int, int]
    wanted: bool


def suggest(pool: Pool, selection: Selection, rule: PackingRule, weight_share: float) -> Suggestion:
    """
    Say what other budgets than *rule*'s would have packed of *pool*; all other limits stay.

    Args:
        pool: As it was selected from.
        selection: What was decided.
        rule: What it was decided by.
        weight_share: (0, 1].
    """
    rows = np.flatnonzero(selection.outcome != Outcome.DEDUPED)
    order = packing_order(pool, rows, rule.span_overhead_tokens)
    wanted = pool.weight[order] >= weight_share * float(pool.weight.max(initial=0.0))
    last = int(np.flatnonzero(wanted)[-1]) + 1 if wanted.any() else 0
    order, wanted = order[:last], wanted[:last]
    columns = (
        (pool.tokens[order] + rule.span_overhead_tokens).tolist(),
        zip(pool.source_hi[order].tolist(), pool.source_lo[order].tolist(), strict=True),
        wanted.tolist(),
    )
    smallest, exact = _smallest([_Row(*row) for row in zip(*columns, strict=True)], rule)
    steps = _steps(pool, selection, rule, len(rows))
    return Suggestion(weight_share, int(np.count_nonzero(wanted)), smallest, exact, steps)


def _steps(pool: Pool, selection: Selection, rule: PackingRule, survivors: int) -> tuple[BudgetStep, ...]:
    steps: list[BudgetStep] = []
    budget, packed = max(1, rule.budget), len(selection.packed)
    while packed < survivors and len(steps) < MOST_DOUBLINGS and budget < MAX_OFFSET:
        budget = min(2 * budget, MAX_OFFSET)
        other = PackingRule(
            budget, rule.max_frac_per_source, rule.dedup_overlap, rule.max_spans, rule.span_overhead_tokens
        )
        chosen = repack(pool, selection, other)
        packed = len(chosen.packed)
        reached = optimality(pool, chosen, other)
        steps.append(BudgetStep(budget, chosen.used, packed, reached.packed_weight, reached.share))
    return tuple(steps)


def _smallest(rows: Sequence[_Row], rule: PackingRule) -> tuple[int | None, bool]:
    """The least budget that packs every wanted one of *rows*, of which the last is wanted; and whether it is that."""
    if not rows:
        return None, True
    limit = rule.max_spans or len(rows)
    looks = 0
    budget: int | None = _holding([row for row in rows if row.wanted], rule)
    while budget is not None and budget <= MAX_OFFSET:
        if looks > MOST_LOOKS:
            return _sufficient(rows, rule, limit, budget - 1), False
        looked, change = _scan(rows, rule, limit, budget)
        if looked is None:
            return budget, True
        looks, budget = looks + looked, change
    return None, True


def _sufficient(rows: Sequence[_Row], rule: PackingRule, limit: int, short: int) -> int | None:
    """A budget that packs every wanted one of *rows*, if one is known, near the least; *short* does not."""
    enough = _holding(rows, rule)
    if len(rows) > limit or enough > MAX_OFFSET:
        return None
    for _ in range(min(_HALVINGS, MOST_LOOKS // len(rows))):
        middle = (short + enough) // 2
        if _scan(rows, rule, limit, middle)[0] is None:
            enough = middle
        else:
            short = middle
    return enough


def _scan(rows: Sequence[_Row], rule: PackingRule, limit: int, budget: int) -> tuple[int | None, int | None]:
    """
    Pack *rows* into *budget*, up to the first wanted one that is not packed.

    Returns:
        How many were looked at, None if all that is wanted is packed; and the least budget at which a decision about
        those changes, None if there is none.
    """
    cap = math.floor(rule.max_frac_per_source * budget)
    used = packed = 0
    spent: dict[tuple[int, int], int] = {}
    change: int | None = None
    for number, row in enumerate(rows, 1):
        total = spent.get(row.source, 0) + row.cost
        if packed < limit and used + row.cost <= budget and total <= cap:
            spent[row.source] = total
            used += row.cost
            packed += 1
            continue
        if packed < limit:
            needed = used + row.cost
            if total > cap:
                needed = max(needed, _granting(total, rule.max_frac_per_source))
            change = needed if change is None else min(change, needed)
        if row.wanted:
            return number, change
    return None, None


def _holding(rows: Sequence[_Row], rule: PackingRule) -> int:
    """The least budget whose cap and whole hold all of *rows*; above `MAX_OFFSET` if none does."""
    total, by_source = 0, dict[tuple[int, int], int]()
    for row in rows:
        total += row.cost
        by_source[row.source] = by_source.get(row.source, 0) + row.cost
    return max(total, _granting(max(by_source.values(), default=0), rule.max_frac_per_source))


def _granting(tokens: int, share: float) -> int:
    """The least budget of which one source may take *tokens*; above `MAX_OFFSET` if none grants it."""
    budget = int(min(tokens / share, MAX_OFFSET + 1))
    while budget > 0 and math.floor(share * (budget - 1)) >= tokens:
        budget -= 1
    while budget <= MAX_OFFSET and math.floor(share * budget) < tokens:
        budget += 1
    return budget

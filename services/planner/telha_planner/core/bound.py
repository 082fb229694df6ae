"""
What greedy costs: an upper bound on the weight that any selection could have packed.

The bound is the fractional knapsack's: of the spans that fit the budget and the cap of their source alone, each may be
cut, and both limits hold. They are nested (a source's cap inside the budget), so taking by density is optimal for it,
and every plan weighs at most as much.
"""

import math
import sys
from dataclasses import dataclass

import numpy as np

from .model import Int64, Outcome, PackingRule, Pool, Selection
from .ordering import descending_key

_BLOCK = 512
"""Spans that are turned into Python's numbers at once: mostly the budget is used up long before the last."""

_GREATEST_EXPONENT = 1000
"""Of weights that can be added by the million as they are."""


@dataclass(frozen=True, slots=True)
class Optimality:
    """
    How near a plan is to the best that there could be.

    Attributes:
        packed_weight: Sum of the weights of the packed spans.
        upper_bound: No selection of these spans under this budget and cap weighs more; ≥ *packed_weight*.
        share: *packed_weight* / *upper_bound*, in [0, 1]; 1 where the bound is 0.
    """

    packed_weight: float
    upper_bound: float
    share: float


EMPTY = Optimality(0.0, 0.0, 1.0)
"""Of a plan that nothing was there for."""


def optimality(pool: Pool, selection: Selection, rule: PackingRule) -> Optimality:
    """
    Hold the packed spans of *selection* against the bound.

    The spans considered are those that deduplication left and that fit the budget and the cap of their source alone:
    what no selection can hold would only make the bound looser. The span limit is ignored, so that the share also shows
    what the limit costs.

    Args:
        pool: As it was selected from, with finite weights ≥ 0.
        rule: What it was selected by.
    """
    outcome = selection.outcome
    rows = np.flatnonzero((outcome != Outcome.DEDUPED) & (outcome != Outcome.UNPACKABLE))
    cap = math.floor(rule.max_frac_per_source * rule.budget)
    rows = rows[pool.tokens[rows] + rule.span_overhead_tokens <= cap]
    # Sums of the greatest weights there are would leave the range of float64: these are scaled by a power of two first.
    scale = max(0, math.frexp(float(pool.weight.max(initial=0.0)))[1] - _GREATEST_EXPONENT)
    packed = math.fsum(np.ldexp(pool.weight[selection.packed], -scale).tolist())
    bound = max(packed, _fractional(pool, rows, rule, cap, scale))
    return Optimality(_unscaled(packed, scale), _unscaled(bound, scale), packed / bound if bound > 0 else 1.0)


def _unscaled(total: float, scale: int) -> float:
    """*total* × 2^*scale*, or the greatest float64 there is."""
    try:
        return math.ldexp(total, scale)
    except OverflowError:
        return sys.float_info.max


def _fractional(pool: Pool, rows: Int64, rule: PackingRule, cap: int, scale: int) -> float:
    """The weight of *rows* that a knapsack holds which may cut spans, divided by 2^*scale*."""
    tokens = pool.tokens[rows] + rule.span_overhead_tokens
    free = tokens == 0
    held: list[float] = np.ldexp(pool.weight[rows[free]], -scale).tolist()
    rows, tokens = rows[~free], tokens[~free]
    order = np.argsort(descending_key(pool.weight[rows] / tokens), kind="stable")

    left = rule.budget
    spent: dict[tuple[int, int], int] = {}
    for begin in range(0, len(order), _BLOCK):
        if not left:
            break
        block = order[begin : begin + _BLOCK]
        some = rows[block]
        sources = zip(pool.source_hi[some].tolist(), pool.source_lo[some].tolist(), strict=True)
        weights = np.ldexp(pool.weight[some], -scale).tolist()
        for source, cost, weight in zip(sources, tokens[block].tolist(), weights, strict=True):
            before = spent.get(source, 0)
            taken = min(cost, cap - before, left)
            if taken > 0:
                held.append(weight * (taken / cost))
                spent[source] = before + taken
                left -= taken
    return math.fsum(held)

"""
Why each span of a pool is in the plan or out of it, in numbers.

`selection.py` decides; this module says afterwards what each decision rested on: the span that a duplicate repeats,
the place in the packing order, the budget and the source's share that were left at that moment. It is asked for by
`explain` alone, so it is written to be read, and costs as much as the decision did.
Rule: it never decides; where it goes through the steps again, it follows the outcomes.
"""

import math
from dataclasses import dataclass

import numpy as np

from .model import Float64, Int64, Outcome, PackingRule, Pool, Selection
from .neighbours import NONE, RowSet
from .ordering import descending_key


@dataclass(frozen=True, slots=True)
class Causes:
    """
    One row per row of the pool.

    Attributes:
        rank: Place in the packing order, from 1, of what deduplication left; 0 for duplicates.
        density: Weight per token, overhead included, float64.
        duplicate_of: Row of the kept span that the duplicate repeats: of those kept before it, the one that it overlaps
            the most, the earlier of two; −1 for all others.
        overlap: |∩| / min(lengths) with that span, in (0, 1]; 0 for all others.
        left: Budget left when the row was looked at, tokens; 0 for duplicates.
        spent: What the row's source had taken at that moment, tokens; 0 for duplicates.
        cap: What a source may take, tokens.
    """

    rank: Int64
    density: Float64
    duplicate_of: Int64
    overlap: Float64
    left: Int64
    spent: Int64
    cap: int


def explain(pool: Pool, selection: Selection, rule: PackingRule) -> Causes:
    """
    Say what the outcomes of *selection* rested on.

    Args:
        pool: As it was selected from.
        rule: What it was selected by.
    """
    weight_key = descending_key(pool.weight)
    duplicate_of, overlap = _repeated(pool, selection, weight_key)
    tokens = pool.tokens + rule.span_overhead_tokens
    with np.errstate(all="ignore"):
        density = pool.weight / np.maximum(tokens, 1)

    rank, left, spent = (np.zeros(len(pool), dtype=np.int64) for _ in range(3))
    rows = np.flatnonzero(selection.outcome != Outcome.DEDUPED)
    order = rows[np.lexsort((weight_key[rows], descending_key(density[rows])))]
    sources = zip(pool.source_hi[order].tolist(), pool.source_lo[order].tolist(), strict=True)
    packed = (selection.outcome[order] == Outcome.PACKED).tolist()
    remaining, taken = rule.budget, dict[tuple[int, int], int]()
    looked_at: list[tuple[int, int]] = []
    for source, cost, is_packed in zip(sources, tokens[order].tolist(), packed, strict=True):
        before = taken.get(source, 0)
        looked_at.append((remaining, before))
        if is_packed:
            remaining -= cost
            taken[source] = before + cost
    if looked_at:
        rank[order] = np.arange(1, len(order) + 1)
        left[order], spent[order] = np.array(looked_at, dtype=np.int64).T
    cap = math.floor(rule.max_frac_per_source * rule.budget)
    return Causes(rank, density, duplicate_of, overlap, left, spent, cap)


def _repeated(pool: Pool, selection: Selection, weight_key: Int64) -> tuple[Int64, Float64]:
    """Of each duplicate the kept row that it repeats, and the overlap; by fact 2 of `deduplication` two look-ups do."""
    duplicate_of, overlap = np.full(len(pool), NONE, dtype=np.int64), np.zeros(len(pool), dtype=np.float64)
    is_duplicate = selection.outcome == Outcome.DEDUPED
    version = list(zip(pool.source_hi.tolist(), pool.source_lo.tolist(), pool.version.tolist(), strict=True))
    start, end = pool.start.tolist(), pool.end.tolist()
    kept = RowSet(len(pool))
    for row in np.argsort(weight_key, kind="stable").tolist():
        if not is_duplicate[row]:
            kept.add(row)
            continue
        for near in (kept.before(row), kept.after(row)):
            if near != NONE and version[near] == version[row]:
                shared = min(end[row], end[near]) - max(start[row], start[near])
                quotient = shared / min(end[row] - start[row], end[near] - start[near])
                if quotient > overlap[row]:
                    duplicate_of[row], overlap[row] = near, quotient
    return duplicate_of, overlap

"""
Phase B, the implementation that serves: collapse, deduplicate, pack; over columns.

`reference.py` says the same in plain Python, and both agree bit for bit. The flow: `collapse` finds one row per
coordinate in canonical order, `take` makes these a pool, `select` decides about each of its rows.
Rule 1: nothing depends on the order of the input, on threads, locale, hash seed or processor. Rule 2: every float
comparison goes through the total order. Rule 3: every row gets exactly one outcome.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from .deduplication import deduplicate
from .model import Int64, Outcome, PackingRule, Pool, Selection
from .ordering import descending_key

Bool = npt.NDArray[np.bool_]

_BLOCK = 2048
"""Rows of the packing order that are tested together against what is left of the budget."""


def collapse(pool: Pool) -> Int64:
    """
    Find one row per exact coordinate, in canonical order (source, version, start, end).

    Of equal coordinates the heaviest row stays; then truth before cache, the smaller kind (UTF-8 bytes), the fewer
    tokens, the smaller text (bytes); and of rows equal in all of that, the first of the input.
    """
    order = np.lexsort((pool.end, pool.start, pool.version, pool.source_lo, pool.source_hi))
    columns = (pool.source_hi, pool.source_lo, pool.version, pool.start, pool.end)
    leads = _changes(*(column[order] for column in columns))
    if leads.all():
        return order
    return _heaviest(pool, order, leads)


def take(pool: Pool, rows: Int64) -> Pool:
    """Make a pool of *rows*, in that order."""
    texts = pool.texts
    return Pool(
        source_hi=pool.source_hi[rows],
        source_lo=pool.source_lo[rows],
        version=pool.version[rows],
        start=pool.start[rows],
        end=pool.end[rows],
        kind=pool.kind[rows],
        kinds=pool.kinds,
        span_class=pool.span_class[rows],
        weight=pool.weight[rows],
        tokens=pool.tokens[rows],
        texts=None if texts is None else [texts[row] for row in rows.tolist()],
    )


def select(pool: Pool, rule: PackingRule) -> Selection:
    """
    Decide about every row of *pool*.

    Args:
        pool: Collapsed and in canonical order, as `take(pool, collapse(pool))` gives it. Row numbers then order as
            coordinates do, and stand for them in every tie.
        rule: The limits.
    """
    if not len(pool):
        return Selection(np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64), used=0, stranded_by_cap=0)
    source_starts = _changes(pool.source_hi, pool.source_lo)
    version_starts = source_starts | _changes(pool.version)
    weight_key = descending_key(pool.weight)
    kept = deduplicate(pool, version_starts, weight_key, rule.dedup_overlap)
    return _pack(pool, np.cumsum(source_starts), kept, rule)


def repack(pool: Pool, selection: Selection, rule: PackingRule) -> Selection:
    """
    Decide as `select` does, under other limits but the same threshold of overlap.

    What deduplication left depends on none of the limits, so it is taken from *selection*.
    """
    if not len(pool):
        return selection
    source_starts = _changes(pool.source_hi, pool.source_lo)
    return _pack(pool, np.cumsum(source_starts), selection.outcome != Outcome.DEDUPED, rule)


def packing_order(pool: Pool, rows: Int64, span_overhead_tokens: int) -> Int64:
    """The ascending *rows* in the order in which they are packed: by density, then weight, then coordinate."""
    with np.errstate(all="ignore"):
        density = pool.weight[rows] / np.maximum(pool.tokens[rows] + span_overhead_tokens, 1)
    return rows[np.lexsort((descending_key(pool.weight[rows]), descending_key(density)))]


def _changes(*columns: npt.NDArray[np.generic]) -> Bool:
    """Whether each row differs from the row before it in any column; the first row does."""
    changed = np.zeros(len(columns[0]), dtype=np.bool_)
    changed[:1] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


def _heaviest(pool: Pool, order: Int64, leads: Bool) -> Int64:
    """Of each run of *order* that *leads* opens, all of one coordinate, the row that stays."""
    contested = ~leads
    contested[:-1] |= ~leads[1:]
    rows, coordinate = order[contested], (np.cumsum(leads) - 1)[contested]
    texts = pool.texts
    keys: list[Callable[[Int64], npt.NDArray[np.integer]]] = [
        lambda rows: descending_key(pool.weight[rows]),
        lambda rows: pool.span_class[rows],
        lambda rows: _ranks(pool.kinds)[pool.kind[rows]],
        lambda rows: pool.tokens[rows],
    ]
    if texts is not None:
        keys.append(lambda rows: _ranks([texts[row] for row in rows.tolist()]))
    for key in keys:
        values = key(rows)
        opens = np.flatnonzero(_changes(coordinate))
        least = np.minimum.reduceat(values, opens)
        best = values == np.repeat(least, np.diff(opens, append=len(rows)))
        rows, coordinate = rows[best], coordinate[best]
    # Sorting was stable, so of what is equal in every key the first row of the input still stands first.
    opens = np.flatnonzero(_changes(coordinate))
    survivors = order[leads]
    survivors[coordinate[opens]] = rows[opens]
    return survivors


def _ranks(texts: Sequence[str]) -> Int64:
    """The rank of each text by code points, which is the order of the UTF-8 bytes; equal texts rank equal."""
    rank = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.fromiter((rank[text] for text in texts), dtype=np.int64, count=len(texts))


def _pack(pool: Pool, source: Int64, kept: Bool, rule: PackingRule) -> Selection:
    """Scan the kept rows by density and give every row its outcome."""
    tokens = pool.tokens + rule.span_overhead_tokens
    outcome = np.where(kept, np.uint8(Outcome.BUDGET_SKIPPED), np.uint8(Outcome.DEDUPED))
    oversized = tokens > rule.budget
    outcome[kept & oversized] = Outcome.UNPACKABLE
    order = packing_order(pool, np.flatnonzero(kept & ~oversized), rule.span_overhead_tokens)

    left = rule.budget
    cap = math.floor(rule.max_frac_per_source * rule.budget)
    limit = rule.max_spans or len(order)
    spent: dict[int, int] = {}
    packed: list[int] = []
    beyond_limit: list[int] = []
    capped: list[int] = []
    for begin in range(0, len(order), _BLOCK):
        block = order[begin : begin + _BLOCK]
        # What does not fit now never will, since the rest only shrinks; such rows are budget-skipped already.
        block = block[tokens[block] <= left]
        for row, cost, owner in zip(block.tolist(), tokens[block].tolist(), source[block].tolist(), strict=True):
            if cost > left:
                continue
            total = spent.get(owner, 0) + cost
            if len(packed) == limit:
                beyond_limit.append(row)
            elif total > cap:
                capped.append(row)
            else:
                packed.append(row)
                spent[owner] = total
                left -= cost
    outcome[packed] = Outcome.PACKED
    outcome[beyond_limit] = Outcome.SPAN_LIMIT_SKIPPED
    outcome[capped] = Outcome.CAP_SKIPPED
    packed.sort()
    return Selection(
        outcome=outcome,
        packed=np.array(packed, dtype=np.int64),
        used=rule.budget - left,
        stranded_by_cap=left if capped else 0,
    )

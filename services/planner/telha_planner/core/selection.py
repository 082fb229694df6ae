"""
Phase B, the implementation that serves: collapse, deduplicate, pack; over columns.

`reference.py` says the same in plain Python, and both agree bit for bit. The flow: `collapse` finds one row per
coordinate in canonical order, `take` makes these a pool, `select` decides about each of its rows.
Rule 1: nothing depends on the order of the input, on threads, locale, hash seed or processor. Rule 2: every float
comparison goes through the total order. Rule 3: every row gets exactly one outcome.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .model import Int64, Outcome, PackingRule, Pool, Selection
from .neighbours import NONE, RowSet
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
    source_starts = _changes(pool.source_hi, pool.source_lo)
    version_starts = source_starts | _changes(pool.version)
    weight_key = descending_key(pool.weight)
    kept = _deduplicate(pool, version_starts, weight_key, rule.dedup_overlap)
    return _pack(pool, np.cumsum(source_starts), weight_key, kept, rule)


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
    rows = order[contested]
    coordinate = (np.cumsum(leads) - 1)[contested]
    keys: list[npt.NDArray[np.generic]] = [
        pool.tokens[rows],
        _ranks(pool.kinds)[pool.kind[rows]],
        pool.span_class[rows],
        descending_key(pool.weight[rows]),
        coordinate,
    ]
    if pool.texts is not None:
        keys.insert(0, _ranks([pool.texts[row] for row in rows.tolist()]))
    # Both sorts are stable, so what is equal in every key is still in the order of the input.
    best_first = np.lexsort(keys)
    survivors = order[leads]
    opens = _changes(coordinate)  # `coordinate` ascends already: sorting by it moves no boundary
    survivors[coordinate[opens]] = rows[best_first[opens]]
    return survivors


def _ranks(texts: Sequence[str]) -> Int64:
    """The rank of each text by code points, which is the order of the UTF-8 bytes; equal texts rank equal."""
    rank = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.fromiter((rank[text] for text in texts), dtype=np.int64, count=len(texts))


def _deduplicate(pool: Pool, version_starts: Bool, weight_key: Int64, overlap: float) -> Bool:
    """
    Whether each row is kept.

    Rows are visited by weight, and a row is dropped against a kept row of its version if q = |∩| / min(lengths) is
    above *overlap* or 1.0. Only two kept rows need to be asked, the nearest before and the nearest after:

    - Kept rows of a version never nest (nested means q = 1), so ordered by start they are ordered by end too.
    - Let [s, e) be the visited row and [a, b) a kept one with a ≤ s. The intersection is min(b, e) − s. A later kept
      row has greater a and b. If some b ≥ e, the nearest has b ≥ e as well, and it contains the row: q = 1, the
      maximum. Otherwise q is the greater of (b − s) / (e − s), which grows with b, and (b − s) / (b − a), which grows
      with a and with b. So no kept row before has a greater q than the nearest. After it, the mirror image holds.
    - Lengths are integers below 2⁵³, hence exact, and IEEE division rounds monotonically: what is greatest before
      rounding is greatest after it. For the same reason q rounds to 1.0 only if it is 1.
    """
    cluster_starts = _cluster_starts(pool, version_starts)
    alone = cluster_starts.copy()
    alone[:-1] &= cluster_starts[1:]
    if alone.all():
        return alone
    kept = alone
    members = np.flatnonzero(~alone)
    cluster = np.cumsum(cluster_starts)[members].tolist()
    start, end = pool.start[members].tolist(), pool.end[members].tolist()
    length = (pool.end[members] - pool.start[members]).tolist()
    survivors = RowSet(len(members))
    dropped: list[int] = []
    for row in np.argsort(weight_key[members], kind="stable").tolist():
        for near in (survivors.before(row), survivors.after(row)):
            if near != NONE and cluster[near] == cluster[row]:
                shared = min(end[row], end[near]) - max(start[row], start[near])
                quotient = shared / min(length[row], length[near])
                if quotient > overlap or quotient == 1.0:
                    dropped.append(row)
                    break
        else:
            survivors.add(row)
    kept[members] = True
    kept[members[dropped]] = False
    return kept


def _cluster_starts(pool: Pool, version_starts: Bool) -> Bool:
    """Whether each row opens a cluster: no row before it, of its version, reaches beyond its start."""
    size = len(pool)
    by_end = np.argsort(pool.end, kind="stable")
    rank = np.empty(size, dtype=np.int64)
    rank[by_end] = np.arange(size)
    # A running maximum of the ends that begins anew with each version: ranks are small enough to carry the version
    # above them, which ends up to 2⁵³ are not.
    reach = np.maximum.accumulate(np.cumsum(version_starts) * size + rank)
    furthest = pool.end[by_end[reach % max(size, 1)]]
    starts = version_starts.copy()
    starts[1:] |= pool.start[1:] >= furthest[:-1]
    return starts


def _pack(pool: Pool, source: Int64, weight_key: Int64, kept: Bool, rule: PackingRule) -> Selection:
    """Scan the kept rows by density and give every row its outcome."""
    tokens = pool.tokens + rule.span_overhead_tokens
    outcome = np.where(kept, np.uint8(Outcome.BUDGET_SKIPPED), np.uint8(Outcome.DEDUPED))
    oversized = tokens > rule.budget
    outcome[kept & oversized] = Outcome.UNPACKABLE
    rows = np.flatnonzero(kept & ~oversized)
    with np.errstate(all="ignore"):
        density = pool.weight[rows] / np.maximum(tokens[rows], 1)
    order = rows[np.lexsort((weight_key[rows], descending_key(density)))]

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

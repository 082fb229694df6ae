"""
Phase B, its second step: which rows a heavier row of the same source version makes redundant.

Rows are visited by (weight desc, canonical order). A row is dropped if, against a row already kept, the float64
quotient q = |∩| / min(lengths) is above the threshold or 1.0 (`least_overlap`). Two facts keep this from being
quadratic. Call rows *aligned* if none of them contains another, so that ordered by start they are ordered by end too.

Fact 1: among aligned rows, none has a greater q against a given span than its nearest before or its nearest after.
    Let [s, e) be the span, [a, b) an aligned row with a ≤ s; the intersection is min(b, e) − s, and later rows have
    greater a and b. If any has b ≥ e, so has the nearest, which contains the span: q = 1, the maximum. Otherwise q is
    the greater of (b − s) / (e − s), which grows with b, and (b − s) / (b − a), which grows with a and with b. After
    the span, the mirror image holds. Lengths are integers below 2⁵³, hence exact, and IEEE division rounds
    monotonically, so the greatest stays the greatest when rounded; for the same reason q rounds to 1.0 only if it is 1.
Fact 2: kept rows are aligned, since containment means q = 1. So two look-ups decide a row.
"""

import math
from array import array

import numpy as np
import numpy.typing as npt

from .model import Int64, Pool
from .neighbours import RowSet

Bool = npt.NDArray[np.bool_]

_FEW = 12
"""Rows of a group up to which each is compared with every survivor; measured with windows over their passages."""


def least_overlap(overlap: float) -> float:
    """
    The least quotient that makes two spans duplicates of each other.

    What is above the threshold *overlap*, in (0.5, 1], is a duplicate, and 1.0 is at every threshold.
    """
    return min(1.0, math.nextafter(overlap, math.inf))


def deduplicate(pool: Pool, version_starts: Bool, weight_key: Int64, overlap: float) -> Bool:
    """
    Decide which rows are kept.

    Args:
        pool: Collapsed and in canonical order, not empty.
        version_starts: Whether a row is the first of its source version.
        weight_key: Descending keys of the weights.
        overlap: The threshold, in (0.5, 1].
    """
    least = least_overlap(overlap)
    starts = _group_starts(pool, version_starts, least)
    opens = np.flatnonzero(starts)
    sizes = np.diff(opens, append=len(pool))
    kept = np.ones(len(pool), dtype=np.bool_)
    # Two rows that share a group are duplicates of each other; of equal weights the first in canonical order stays.
    first = opens[sizes == 2]
    kept[np.where(weight_key[first + 1] < weight_key[first], first, first + 1)] = False
    group = np.repeat(opens, sizes)
    for visit, some in ((_visit_few, (sizes > 2) & (sizes <= _FEW)), (_visit_many, sizes > _FEW)):
        if some.any():
            visit(pool, group, np.repeat(some, sizes), weight_key, least, kept)
    return kept


def _group_starts(pool: Pool, version_starts: Bool, least: float) -> Bool:
    """
    Whether each row opens a group; rows of different groups are never duplicates of each other.

    Rows chained by overlap are one group, unless they are aligned: then they part wherever two neighbours are no
    duplicates, since by fact 1 no rows further apart can be.
    """
    start, end = pool.start, pool.end
    chain_starts = _chain_starts(pool, version_starts)
    shared = np.minimum(end[:-1], end[1:]) - start[1:]
    quotient = shared / np.minimum(end[:-1] - start[:-1], end[1:] - start[1:])
    contains = np.zeros(len(pool), dtype=np.bool_)
    contains[1:] = (quotient == 1.0) & ~version_starts[1:]
    opens = np.flatnonzero(chain_starts)
    aligned = ~np.logical_or.reduceat(contains, opens)
    chain_starts[1:] |= (quotient < least) & np.repeat(aligned, np.diff(opens, append=len(pool)))[1:]
    return chain_starts


def _chain_starts(pool: Pool, version_starts: Bool) -> Bool:
    """Whether each row opens a chain: no row before it, of its version, reaches beyond its start."""
    size = len(pool)
    by_end = np.argsort(pool.end, kind="stable")
    rank = np.empty(size, dtype=np.int64)
    rank[by_end] = np.arange(size)
    # A running maximum of the ends that begins anew with each version: ranks are small enough to carry the version
    # above them, which ends up to 2⁵³ are not.
    reach = np.maximum.accumulate(np.cumsum(version_starts) * size + rank)
    furthest = pool.end[by_end[reach % size]]
    starts = version_starts.copy()
    starts[1:] |= pool.start[1:] >= furthest[:-1]
    return starts


def _in_turn(group: Int64, contested: Bool, weight_key: Int64) -> Int64:
    """The rows of *contested* in the order of their visit: groups never meet, so one after another, each by weight."""
    rows = np.flatnonzero(contested)
    return rows[np.lexsort((weight_key[rows], group[rows]))]


def _visit_few(pool: Pool, group: Int64, contested: Bool, weight_key: Int64, least: float, kept: Bool) -> None:
    """As `_visit_many`, for groups so small that comparing with every survivor is less work than looking two up."""
    rows = _in_turn(group, contested, weight_key)
    visited = (column[rows].tolist() for column in (group, pool.start, pool.end))
    survivors: list[tuple[int, int]] = []
    opened = -1
    dropped: list[int] = []
    for row, first, start, end in zip(rows.tolist(), *visited, strict=True):
        if first != opened:
            opened, survivors = first, []
        for other_start, other_end in survivors:
            shared = min(end, other_end) - max(start, other_start)
            if shared > 0:
                quotient = shared / min(end - start, other_end - other_start)
                if quotient >= least:
                    dropped.append(row)
                    break
        else:
            survivors.append((start, end))
    kept[dropped] = False


def _visit_many(pool: Pool, group: Int64, contested: Bool, weight_key: Int64, least: float, kept: Bool) -> None:
    """Decide the rows of *contested* one by one and note in *kept* which are dropped; *group* is each row's first."""
    # While a group is visited no survivor stands beyond it, and one that stands before it has a lower number than
    # `first`.
    rows = _in_turn(group, contested, weight_key)
    visited = (column[rows].tolist() for column in (group, pool.start, pool.end))
    starts, ends = array("q", pool.start.tobytes()), array("q", pool.end.tobytes())
    survivors = RowSet(len(pool))
    dropped: list[int] = []
    for row, first, start, end in zip(rows.tolist(), *visited, strict=True):
        for near in (survivors.before(row), survivors.after(row)):
            if near >= first:
                shared = min(end, ends[near]) - max(start, starts[near])
                quotient = shared / min(end - start, ends[near] - starts[near])
                if quotient >= least:
                    dropped.append(row)
                    break
        else:
            survivors.add(row)
    kept[dropped] = False

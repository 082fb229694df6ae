"""
Pools to measure Phase B with: one like those that recall makes, and those that an adversary would send.

Needs nothing but the planner, so that tests can read it too.
"""

from collections.abc import Callable

import numpy as np
from telha_planner.core.model import Int64, Pool

KINDS = ("paragraph", "section", "heading", "cell")


def typical(size: int) -> Pool:
    """20 spans per source; 15 % repeat a coordinate, 15 % are near duplicates; 60 distinct weights, so many ties."""
    random = np.random.default_rng(size)
    sources = max(1, size // 20)
    source = random.integers(1, sources, size, endpoint=True)
    start = random.integers(0, 20, size) * 400
    end = start + 400
    model, lot = random.integers(0, size, size), random.random(size)
    repeated, near = lot < 0.15, (lot >= 0.15) & (lot < 0.3)
    for rows in (repeated, near):
        source[rows], start[rows], end[rows] = source[model[rows]], start[model[rows]], end[model[rows]]
    start[near] += 10
    end[near] += 5
    return _pool(source, start, end, random)


def nested(size: int) -> Pool:
    """Each span holds all that follow it."""
    row = np.arange(size)
    return _one_source(row, 4 * size - row)


def staggered(size: int) -> Pool:
    """Five deep, each overlapping the next by exactly 0.8: at a threshold of 0.8 all are kept."""
    row = np.arange(size)
    return _one_source(20 * row, 20 * row + 100)


def covered(size: int) -> Pool:
    """The same under one light span that holds them all, so that they cannot be told apart in advance."""
    row = np.arange(size)
    start, end = 20 * row, 20 * row + 100
    start[-1], end[-1] = 0, 20 * size + 100
    pool = _one_source(start, end)
    pool.weight[np.argmax(pool.end - pool.start)] = 0.0
    return pool


def crowded(size: int) -> Pool:
    """A thousand deep: at 0.8 nearly all are dropped, at 1.0 all are kept."""
    row = np.arange(size)
    return _one_source(row, row + 1000)


def disjoint(size: int) -> Pool:
    """Nothing overlaps, and the cap of the one source turns nearly all away."""
    row = np.arange(size)
    return _one_source(10 * row, 10 * row + 10)


ADVERSARIAL: tuple[tuple[str, Callable[[int], Pool], float], ...] = (
    ("nested", nested, 0.8),
    ("staggered, all kept", staggered, 0.8),
    ("staggered under a cover, all kept", covered, 0.8),
    ("crowded, nearly all dropped", crowded, 0.8),
    ("crowded, threshold 1.0, all kept", crowded, 1.0),
    ("disjoint, capped", disjoint, 0.8),
)
"""Name, pool by size, and dedup threshold."""


def _one_source(start: Int64, end: Int64) -> Pool:
    return _pool(np.ones(len(start), dtype=np.int64), start, end, np.random.default_rng(len(start)))


def _pool(source: Int64, start: Int64, end: Int64, random: np.random.Generator) -> Pool:
    """A pool in the order of a shuffled recall."""
    size = len(source)
    order = random.permutation(size)
    return Pool(
        # Odd multiplier: a bijection on 64 bits, so that sources do not lie in the order of their numbers.
        source_hi=source[order].astype(np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15),
        source_lo=source[order].astype(np.uint64),
        version=np.full(size, 1_780_272_000_000_000),
        start=start[order],
        end=end[order],
        kind=random.integers(0, len(KINDS), size).astype(np.int32),
        kinds=KINDS,
        span_class=np.zeros(size, dtype=np.uint8),
        weight=random.integers(1, 60, size, endpoint=True) / 60.0,
        tokens=random.integers(5, 200, size),
    )

"""The k best of many, the same whatever the order they are stored in; and unions of ascending rows."""

import numpy as np
import numpy.typing as npt

from telha_planner.core.model import Int64, UInt64


def best(values: npt.NDArray[np.floating], k: int, hi: UInt64, lo: UInt64, *, positive: bool = False) -> Int64:
    """
    The *k* greatest *values*, ties by lower id.

    Returns:
        Their indices, in that order; with *positive* only of values above 0.
    """
    bound = _kth_greatest(values, k) if len(values) > 4 * k else -np.inf
    candidates = np.flatnonzero(values > 0.0 if positive and bound <= 0.0 else values >= bound)
    chosen = values[candidates]
    order = np.lexsort((lo[candidates], hi[candidates], -chosen))
    return candidates[order[:k]]


def _kth_greatest(values: npt.NDArray[np.floating], k: int) -> float:
    """A bound that at least *k* values reach, close to the k-th greatest."""
    stride = len(values) // 4096
    if stride > 1:
        # Twice as deep in a sample as its share asks for: nearly always enough, and checked.
        sample = values[::stride]
        depth = min(len(sample), 2 * (k // stride) + 8)
        bound = np.partition(sample, len(sample) - depth)[len(sample) - depth]
        if np.count_nonzero(values >= bound) >= k:
            return float(bound)
    return float(np.partition(values, len(values) - k)[len(values) - k])


def union(*parts: Int64) -> Int64:
    """Every number in *parts* once, ascending; much cheaper than `np.unique` for the few hundred that a pool has."""
    merged = np.sort(np.concatenate(parts))
    if len(merged) < 2:
        return merged
    return merged[np.concatenate(([True], merged[1:] != merged[:-1]))]

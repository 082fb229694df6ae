"""
The weight of a span: `S(node) × kind prior`, then `× cache discount` if the span is of class cache.

Rule: float64 and this association order, always; the plan hash covers the bits of the result. A kind without prior
counts fully.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from .model import Float64, Int32, SpanClass, UInt8

NEUTRAL_PRIOR = 1.0
"""Prior of a kind that the configuration does not name."""


def weigh(
    scores: Float64,
    kind: Int32,
    kinds: Sequence[str],
    span_class: UInt8,
    *,
    kind_priors: Mapping[str, float],
    cache_discount: float,
) -> Float64:
    """
    Weigh spans as columns.

    Args:
        scores: S(node) of each row; each span of a node takes it undivided.
        kind: Index into *kinds* of each row.
        kinds: Distinct kinds.
        span_class: Values of `SpanClass`.
        kind_priors: In (0, 1] each.
        cache_discount: In (0, 1).
    """
    priors = np.array([kind_priors.get(name, NEUTRAL_PRIOR) for name in kinds], dtype=np.float64)
    weights = scores * priors[kind] if len(kinds) else scores * NEUTRAL_PRIOR
    return np.where(span_class == SpanClass.CACHE, weights * cache_discount, weights)


def weigh_one(
    score: float, kind: str, span_class: SpanClass, *, kind_priors: Mapping[str, float], cache_discount: float
) -> float:
    """Weigh one span; bit-equal to `weigh`."""
    weight = score * kind_priors.get(kind, NEUTRAL_PRIOR)
    return weight * cache_discount if span_class is SpanClass.CACHE else weight

"""Weights: one product, one association order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.core.model import SpanClass
from telha_planner.core.weighing import weigh, weigh_one

PRIORS = {"paragraph": 1.0, "heading": 0.6, "cell": 0.8, "code": 0.9, "body": 1.0}
KINDS = ("paragraph", "heading", "cell", "code", "body", "section", "目录")


@pytest.mark.parametrize(
    ("kind", "prior"),
    [
        ("paragraph", 1.0),
        ("heading", 0.6),
        ("cell", 0.8),
        ("code", 0.9),
        ("body", 1.0),
        ("section", 1.0),
        ("目录", 1.0),
    ],
)
def test_a_truth_span_weighs_score_times_prior(kind: str, prior: float):
    """S1: `S × kind_prior`; a kind without prior counts fully."""
    assert weigh_one(0.7, kind, SpanClass.TRUTH, kind_priors=PRIORS, cache_discount=0.5) == 0.7 * prior


def test_the_discount_comes_after_the_prior():
    """S1: `(S × prior) × discount`, in that association order, which here differs in the last bit from the other."""
    score, discount = 0.1, 0.7
    assert (score * 0.6) * discount != score * (0.6 * discount)
    weight = weigh_one(score, "heading", SpanClass.CACHE, kind_priors=PRIORS, cache_discount=discount)
    assert weight == (score * 0.6) * discount


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, len(KINDS) - 1), st.sampled_from(SpanClass)),
        max_size=30,
    ),
    st.floats(0, 1, exclude_min=True, exclude_max=True),
)
def test_columns_weigh_as_single_spans_do(rows: list, discount: float):
    """S1: S7: bit for bit."""
    scores = np.array([row[0] for row in rows], dtype=np.float64)
    kind = np.array([row[1] for row in rows], dtype=np.int32)
    span_class = np.array([row[2] for row in rows], dtype=np.uint8)
    together = weigh(scores, kind, KINDS, span_class, kind_priors=PRIORS, cache_discount=discount)
    one_by_one = [
        weigh_one(score, KINDS[code], each, kind_priors=PRIORS, cache_discount=discount) for score, code, each in rows
    ]
    assert together.view(np.int64).tolist() == np.array(one_by_one, dtype=np.float64).view(np.int64).tolist()


def test_an_empty_pool_has_no_weights():
    """S1: no rows, no kinds, no fault."""
    empty = np.empty(0)
    weights = weigh(empty, empty.astype(np.int32), (), empty.astype(np.uint8), kind_priors=PRIORS, cache_discount=0.5)
    assert weights.shape == (0,)
    assert weights.dtype == np.float64

"""The fuse of similarity and decay."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.core.fusion import fuse, fuse_one

UNIT = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 5e-324, 1 - 2**-53, 2**-32]))
ALPHA = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 5e-324, 0.1]))


def exact_power(base: float, exponent: Decimal) -> Decimal:
    with localcontext(prec=60):
        return (Decimal(base).ln() * exponent).exp()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(UNIT, UNIT), max_size=10), ALPHA)
def test_columns_fuse_as_single_pairs_do(pairs: list[tuple[float, float]], alpha: float):
    """R2: S7: bit for bit, at every α."""
    similarity = np.array([pair[0] for pair in pairs], dtype=np.float64)
    decay = np.array([pair[1] for pair in pairs], dtype=np.float64)
    assert fuse(similarity, decay, alpha).tolist() == [fuse_one(*pair, alpha) for pair in pairs]


def test_the_ends_of_alpha_are_exact():
    """R2: α = 0 is the decay alone and α = 1 the similarity alone, even where the other is 0."""
    assert fuse_one(0.0, 0.3, 0.0) == 0.3
    assert fuse_one(0.3, 0.0, 1.0) == 0.3


def test_one_half_is_two_roots_and_one_product():
    """R2: √sim × √decay, each rounded, then one product; not the root of the product."""
    similarity, decay = 0.4, 0.5
    assert math.sqrt(similarity) * math.sqrt(decay) != math.sqrt(similarity * decay)
    assert fuse_one(similarity, decay, 0.5) == math.sqrt(similarity) * math.sqrt(decay)


@settings(max_examples=150, deadline=None)
@given(st.floats(1e-290, 1), st.floats(0.001, 0.999).filter(lambda alpha: alpha != 0.5))
def test_a_power_is_the_true_one_to_thirty_significant_bits(base: float, alpha: float):
    """R2: α is a real power; its relative error is the rounding to 30 bits and nothing more."""
    power = fuse_one(base, 1.0, alpha)
    true = exact_power(base, Decimal(alpha))
    assert abs(Decimal(power) - true) <= true * Decimal(2) ** -30
    mantissa, _ = math.frexp(power)
    assert (mantissa * 2**30).is_integer()


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.6, 0.9])
def test_a_fused_score_stays_in_its_range(alpha: float):
    """R2: S is in [0, 1], with both ends reached exactly."""
    assert fuse_one(1.0, 1.0, alpha) == 1.0
    assert fuse_one(0.0, 1.0, alpha) == 0.0
    assert fuse_one(1 - 2**-53, 1.0, alpha) <= 1.0


def test_fusing_leaves_the_inputs_alone():
    """R2: what comes back can be written to without changing what went in."""
    similarity, decay = np.array([0.25]), np.array([0.5])
    for alpha in (0.0, 0.3, 0.5, 1.0):
        fuse(similarity, decay, alpha)[0] = 9.0
    assert (similarity[0], decay[0]) == (0.25, 0.5)

"""
S(n) from similarity and path decay: `fuse(sim, decay, α) = sim^α × decay^(1−α)`.

The plan hash covers what comes out of here, so a score may not depend on a machine's `pow`, which differs in the
last bit between C libraries. Rule: only +, −, ×, ÷ and √ are used, which IEEE-754 fixes to the bit. α = 0 and 1 are
exact, α = 0.5 is two square roots and one product; every other power is a product of repeated square roots, rounded
to 30 significant bits.
"""

import math

import numpy as np

from .model import Float64

_SIGNIFICANT = 2.0**30
# After 60 halvings what is left of the exponent moves no power of a float64 by 2⁻⁵⁰ of its value.
_HALVINGS = 60


def fuse(similarity: Float64, decay: Float64, alpha: float) -> Float64:
    """
    Fuse columns of equal length.

    Args:
        similarity: In [0, 1].
        decay: In [0, 1]; 1 for roots.
        alpha: α in [0, 1]; 1 means similarity alone.

    Returns:
        S, in [0, 1].
    """
    if alpha == 0.0:
        return decay.copy()
    if alpha == 1.0:
        return similarity.copy()
    if alpha == 0.5:
        return np.sqrt(similarity) * np.sqrt(decay)
    return _power(similarity, alpha) * _power(decay, 1.0 - alpha)


def fuse_one(similarity: float, decay: float, alpha: float) -> float:
    """Fuse one pair; bit-equal to `fuse`."""
    if alpha == 0.0:
        return decay
    if alpha == 1.0:
        return similarity
    if alpha == 0.5:
        return math.sqrt(similarity) * math.sqrt(decay)
    return _power_one(similarity, alpha) * _power_one(decay, 1.0 - alpha)


def sharpened(values: Float64, power: int) -> Float64:
    """*values* to a power of two, by squaring."""
    while power > 1:
        values = values * values
        power //= 2
    return values


def _power(base: Float64, exponent: float) -> Float64:
    """`base^exponent` for an exponent in (0, 1): the binary digits of the exponent choose among the roots."""
    root, product = base, np.ones_like(base)
    for digit in _binary_digits(exponent):
        root = np.sqrt(root)
        if digit:
            product = product * root
    mantissa, power_of_two = np.frexp(product)
    return np.ldexp(np.rint(mantissa * _SIGNIFICANT) / _SIGNIFICANT, power_of_two)


def _power_one(base: float, exponent: float) -> float:
    root, product = base, 1.0
    for digit in _binary_digits(exponent):
        root = math.sqrt(root)
        if digit:
            product *= root
    mantissa, power_of_two = math.frexp(product)
    return math.ldexp(round(mantissa * _SIGNIFICANT) / _SIGNIFICANT, power_of_two)


def _binary_digits(fraction: float) -> list[bool]:
    """The digits after the point; doubling a float and subtracting 1 from it are exact here."""
    digits: list[bool] = []
    while fraction and len(digits) < _HALVINGS:
        fraction *= 2.0
        digits.append(fraction >= 1.0)
        if fraction >= 1.0:
            fraction -= 1.0
    return digits

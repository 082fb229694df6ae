"""
One total order for floats: IEEE-754 `totalOrder`, as Rust's `f64::total_cmp`.

Every comparison of weights and densities goes through these keys, so that no NaN, signed zero or infinity can make
two machines sort differently: −NaN < −∞ < … < −0.0 < +0.0 < … < +∞ < +NaN.
Rule: a key is an int64 and orders as the float does; equal keys mean equal bits.
"""

import struct

import numpy as np

from .model import Float64, Int64

_MAGNITUDE = 2**63 - 1


def total_order_key(values: Float64) -> Int64:
    """Keys that ascend as *values* do."""
    bits = values.view(np.int64)
    # Negative floats grow in magnitude as their bits do; turning all but the sign puts them right.
    return bits ^ ((bits >> 63) & _MAGNITUDE)


def descending_key(values: Float64) -> Int64:
    """Keys that ascend as *values* descend; bitwise complement reverses int64 without overflow."""
    return ~total_order_key(values)


def total_order_key_of(value: float) -> int:
    """The key of one float, equal to `total_order_key`."""
    bits = int.from_bytes(struct.pack(">d", value), "big", signed=True)
    return bits ^ _MAGNITUDE if bits < 0 else bits


def descending_key_of(value: float) -> int:
    """The descending key of one float, equal to `descending_key`."""
    return ~total_order_key_of(value)

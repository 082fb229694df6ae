"""One total order for floats."""

import math
import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.core import ordering


def float_of(bits: int) -> float:
    (value,) = struct.unpack(">d", bits.to_bytes(8, "big"))
    return value


ASCENDING = [
    float_of(0xFFF8_0000_0000_0001),  # −NaN with the greater payload comes first
    float_of(0xFFF8_0000_0000_0000),
    -math.inf,
    -1.7976931348623157e308,
    -1.0,
    -5e-324,
    -0.0,
    0.0,
    5e-324,
    2.2250738585072014e-308,
    1.0,
    math.nextafter(1.0, 2.0),
    math.inf,
    float_of(0x7FF8_0000_0000_0000),
    float_of(0x7FF8_0000_0000_0001),
]


def test_the_order_is_that_of_ieee_754():
    """S7: −NaN < −∞ < … < −0.0 < +0.0 < … < +∞ < +NaN."""
    keys = [ordering.total_order_key_of(value) for value in ASCENDING]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    descending = [ordering.descending_key_of(value) for value in ASCENDING]
    assert descending == sorted(descending, reverse=True)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1).map(float_of), max_size=20))
def test_columns_and_scalars_have_equal_keys(values: list[float]):
    """S7: one key for a float, however it is computed."""
    column = np.array(values, dtype=np.float64)
    assert ordering.total_order_key(column).tolist() == [ordering.total_order_key_of(value) for value in values]
    assert ordering.descending_key(column).tolist() == [ordering.descending_key_of(value) for value in values]


def test_a_strided_column_is_read_as_it_stands():
    """S7: a column cut out of a wider table has the keys of its own values."""
    table = np.array([[1.0, -2.0], [0.0, -0.0], [-np.inf, 3.0]])
    expected = [ordering.total_order_key_of(value) for value in (-2.0, -0.0, 3.0)]
    assert ordering.total_order_key(table[:, 1]).tolist() == expected

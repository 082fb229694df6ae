import math

import pytest
from google.protobuf import struct_pb2
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_gateway.dto.properties import ROOM_FOR_PROPERTIES, object_of, struct_of
from telha_gateway.faults import RequestFault

exact = st.integers(-(2**53) + 1, 2**53 - 1)
values = st.recursive(
    st.none() | st.booleans() | exact | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), values, max_size=4))
def test_what_goes_in_comes_out(properties):
    """A2: what goes in comes out."""
    sent = struct_pb2.Struct.FromString(struct_of(properties, "").SerializeToString())
    assert object_of(sent) == properties


def test_whole_numbers_come_back_as_integers():
    """A2: whole numbers come back as integers."""
    given_ = {"a": 3, "b": 0.5, "c": True, "d": 2.0**60}
    back = object_of(struct_of(given_, ""))
    assert [type(back[name]) for name in "abcd"] == [int, float, bool, float]


@pytest.mark.parametrize(
    ("value", "pointer", "rule"),
    [
        ({"a": 2**53}, "/p/a", "±(2^53 - 1)"),
        ({"a": [1, -(2**53)]}, "/p/a/1", "±(2^53 - 1)"),
        ({"a/b": math.inf}, "/p/a~1b", "finite"),
    ],
)
def test_what_a_double_cannot_hold_is_refused(value, pointer, rule):
    """A2: what a double cannot hold is refused."""
    with pytest.raises(RequestFault) as refused:
        struct_of(value, "/p")
    assert refused.value.pointer == pointer
    assert rule in refused.value.rule


def test_the_deepest_object_that_is_taken_survives_the_wire():
    """A2: the deepest object that is taken survives the wire."""

    def nested(levels):
        return {} if levels == 0 else {"a": nested(levels - 1)}

    levels = ROOM_FOR_PROPERTIES // 3
    deepest = nested(levels)
    message = struct_of(deepest, "")
    assert object_of(struct_pb2.Struct.FromString(message.SerializeToString())) == deepest
    with pytest.raises(RequestFault, match="nested so deep"):
        struct_of(nested(levels + 1), "")

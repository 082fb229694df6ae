"""Rules of the in-process door that no wire can break."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.core.request import Fragment, PlanRequest, SelectRequest

GREATEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize("source_id", [b"", b"a" * 15, b"a" * 17, b"a" * 32])
def test_an_id_is_sixteen_bytes(source_id):
    """S10: an id of another length is refused with its place; two of them might else be read as two others."""
    good = Fragment(SpanRef(bytes(16), 1, 0, 1), tokens=1, score=1.0)
    bad = Fragment(SpanRef(source_id, 1, 0, 1), tokens=1, score=1.0)
    with pytest.raises(RequestInvalid) as refused:
        SelectRequest(pool=[good, bad])
    assert refused.value.field == "pool[1].span.source_id"


@given(value=st.floats() | st.floats(1e38, 1e39) | st.floats(0, 1e-44))
def test_a_vector_is_what_it_becomes_in_32_bits(value):
    """S10: no infinity and no zero vector arises from rounding."""
    with np.errstate(over="ignore"):
        rounded = float(np.float32(value))
    refused = refused_at(value)
    if rounded == 0:
        assert refused == "vector.values"
    elif math.isfinite(rounded) and abs(value) <= GREATEST:
        assert refused is None
    else:  # a little above the greatest 32-bit float, rounding would still lead down to it; it is refused as well
        assert refused == "vector.values[0]"


def refused_at(value: float) -> str | None:
    """The field that is refused of a request with *value* in its vector."""
    try:
        PlanRequest(vector=(value, 0.0))
    except RequestInvalid as refusal:
        return refusal.field
    return None

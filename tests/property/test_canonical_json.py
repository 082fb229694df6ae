"""The fast canonical JSON says what the yardstick says."""

import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st
from telha_planner.trace import canonical_json
from telha_planner.trace.record import exact_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=20)


@given(VALUES)
@settings(max_examples=100, deadline=None)
@example({"\U0001f9d1": 1, "\ufb33": 2, "שלום": 3, "你好": 4, 'a\x7f\x00"\\/\n\u2028': "\x1f\b\f\t"})
@example([1e-7, 1e-6, 1e-5, 1e-4, 1e15, 1e16, 1e21, 1e22, 5e-324, -0.0, 0.0, 1.0, 2.0**53, 1.7976931348623157e308])
@example([2**53 - 1, 2**53, -(2**53), True, 0])
def test_the_fast_canonical_json_is_rfc_8785(value):
    """X1: the request hash is over RFC 8785 JSON."""
    assert canonical_json.dumps(value) == rfc8785.dumps(exact_json(value))

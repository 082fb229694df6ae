import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_gateway.faults import MAX_POINTER_CHARS, RequestFault
from telha_gateway.strict_json import decode


@pytest.mark.parametrize(
    ("raw", "pointer", "rule"),
    [
        (b"", "", "must be a JSON object, not empty"),
        (b" \n", "", "must be a JSON object, not empty"),
        (b"{", "", "must be JSON"),
        (b'{"a":1,}', "", "must be JSON"),
        (b"{'a':1}", "", "must be JSON"),
        (b'{"a":1} {}', "", "must be JSON"),
        (b"\xef\xbb\xbf{}", "", "must be JSON"),
        (b'{"question":"\xff"}', "", "must be UTF-8; byte 13 is not"),
        (b'{"question":"\xed\xa0\x80"}', "", "must be UTF-8"),
        ('{"a":1}'.encode("utf-16"), "", "must be"),
        (b'{"question":"a","question":"b"}', "/question", "must not be given twice"),
        (b'{"budget":{"maxTokens":1,"maxTokens":1}}', "/budget/maxTokens", "must not be given twice"),
        (b'{"a/b":{"~":1,"~":1}}', "/a~1b/~0", "must not be given twice"),
        (b'{"x":[1,NaN]}', "/x/1", "must be a finite number"),
        (b'{"x":Infinity}', "/x", "must be a finite number"),
        (b'{"x":{"y":-Infinity}}', "/x/y", "must be a finite number"),
        (b'{"question":"\\ud800"}', "/question", "must not contain lone surrogates"),
        (b'{"x":["a","\\uDFFF b"]}', "/x/1", "must not contain lone surrogates"),
        (b'{"\\ud800":1}', "", "must not have a name with lone surrogates"),
        (b'{"x":' + b"9" * 5000 + b"}", "/x", "must fit a 64-bit number"),
        (b"[" * 100_000 + b"]" * 100_000, "", "must not be nested so deep"),
        (b'{"a":' * 960 + b"NaN" + b"}" * 960, None, ""),
        (b'{"x":"tab\there"}', "", "must be JSON"),
    ],
)
def test_what_two_readers_could_read_differently_is_refused_with_its_place(raw, pointer, rule):
    """C7: bad JSON is refused with a pointer and the rule."""
    with pytest.raises(RequestFault) as refused:
        decode(raw)
    assert rule in refused.value.rule
    if pointer is not None:
        assert refused.value.pointer == pointer


def test_an_escaped_pair_is_one_character():
    """A2: an escaped pair is one character."""
    assert decode(b'{"q":"\\ud83d\\ude80"}') == {"q": "🚀"}


def test_a_long_name_is_shortened_in_the_pointer():
    """A2: a long name is shortened in the pointer."""
    raw = b'{"' + b"k" * 100_000 + b'":1,"' + b"k" * 100_000 + b'":2}'
    with pytest.raises(RequestFault) as refused:
        decode(raw)
    assert len(refused.value.pointer) == MAX_POINTER_CHARS + 1


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(json_values, st.booleans())
def test_strict_json_is_read_as_the_standard_library_reads_it(value, ascii_only):
    """A2: strict JSON is read as the standard library reads it."""
    assert decode(json.dumps(value, ensure_ascii=ascii_only).encode()) == value

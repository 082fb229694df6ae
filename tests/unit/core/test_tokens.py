"""The estimate of tokens."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.core import tokens


@pytest.mark.parametrize(
    ("text", "inputs", "estimate"),
    [
        ("", (0, 0), 0),
        ("a", (1, 0), 1),
        ("abc", (3, 0), 1),
        ("abcd", (4, 0), 2),
        ("x" * 36, (36, 0), 10),
        ("x" * 37, (37, 0), 11),
        ("\x7f\x80", (1, 1), 2),
        ("记忆规划器", (0, 5), 5),
        ("o café", (5, 1), 3),
        ("👩‍👩‍👧", (0, 5), 5),
        ("שלום עולם", (1, 8), 9),
    ],
)
def test_the_estimate_counts_scripts_apart(text: str, inputs: tuple[int, int], estimate: int):
    """T1: `ceil(ascii_bytes / 3.6 + non_ascii_chars × 1.0)`, non-ASCII from U+0080 on."""
    assert tokens.estimate_inputs(text) == inputs
    assert tokens.estimate(*inputs) == estimate


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)), max_size=20))
def test_columns_are_estimated_as_single_texts_are(pairs: list[tuple[int, int]]):
    """T1: equal row by row."""
    ascii_bytes = np.array([pair[0] for pair in pairs], dtype=np.int64)
    other_chars = np.array([pair[1] for pair in pairs], dtype=np.int64)
    assert tokens.estimate_columns(ascii_bytes, other_chars).tolist() == [tokens.estimate(*pair) for pair in pairs]


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_every_character_is_counted_once(text: str):
    """T1: ASCII and the rest partition the code points of any text."""
    inputs = tokens.estimate_inputs(text)
    assert inputs == (sum(ord(c) < 0x80 for c in text), sum(ord(c) >= 0x80 for c in text))

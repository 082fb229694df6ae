"""Lists, the term dictionary, vectors and the choice of the best, each against the obvious way."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.columns import vectors
from telha_planner.columns.lists import Lists
from telha_planner.columns.postings import Dictionary
from telha_planner.columns.ranking import best


@settings(max_examples=60, deadline=None)
@given(batches=st.lists(st.lists(st.integers(0, 6), max_size=12), max_size=14))
def test_lists_hold_what_was_appended_whatever_the_segments(batches):
    """R3: sorted base plus tail; loading at once or piece by piece is the same."""
    piecewise, expected, row = Lists(), {}, 0
    for keys in batches:
        rows = list(range(row, row + len(keys)))
        piecewise.append(keys, rows, [r * 2 for r in rows])
        for key, r in zip(keys, rows, strict=True):
            expected.setdefault(key, []).append(r)
        row += len(keys)
    for key in range(8):
        pieces = piecewise.find(key)
        assert [r for rows, _ in pieces for r in rows.tolist()] == expected.get(key, [])
        assert [c for _, counts in pieces for c in counts.tolist()] == [2 * r for r in expected.get(key, [])]
    wanted = [3, 0, 7, 3]
    owner, rows, counts = piecewise.gather_counts(wanted)
    assert (counts == 2 * rows).all()
    for index, key in enumerate(wanted):
        assert rows[owner == index].tolist() == expected.get(key, [])


@settings(max_examples=40, deadline=None)
@given(batches=st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), min_size=1, max_size=20), max_size=9))
def test_a_term_keeps_its_code_for_ever(batches):
    """R3: codes survive the folding of new terms into the dictionary."""
    dictionary, told = Dictionary(), {}
    for terms in batches:
        for term, code in zip(terms, dictionary.codes(np.array(terms, np.uint64)).tolist(), strict=True):
            assert told.setdefault(term, code) == code
    assert len(set(told.values())) == len(told)
    assert all(dictionary.code(term) == code for term, code in told.items())
    assert dictionary.code(12345678901234567) is None


@pytest.mark.parametrize("size", [0, 1, 50, 20_000])
@pytest.mark.parametrize("distinct", [2, 40, 10_000])
@pytest.mark.parametrize("positive", [False, True])
def test_best_is_the_sorted_beginning(size, distinct, positive):
    """R1: by value descending, ties by node id, also when nearly all values tie."""
    dice = random.Random(size * distinct)
    values = np.array([max(0, dice.randrange(distinct) - distinct // 2) / distinct for _ in range(size)])
    hi = np.array([dice.randrange(9) for _ in range(size)], np.uint64)
    lo = np.array([dice.getrandbits(64) for _ in range(size)], np.uint64)
    order = sorted(range(size), key=lambda index: (-values[index], int(hi[index]), int(lo[index])))
    expected = [index for index in order if values[index] > 0 or not positive]
    for k in (1, 64):
        assert best(values, k, hi, lo, positive=positive).tolist() == expected[:k]


@pytest.mark.parametrize("dimensions", [1, 3, 384, 1024, 1025, 4096])
def test_integer_dots_are_exact_with_and_without_the_accelerator(dimensions):
    """R8: integer products are exact, so both ways give the same bits."""
    dice = np.random.default_rng(dimensions)
    small = dice.integers(-127, 128, (40, dimensions)).astype(np.int8)
    small[0] = 127
    query = np.full(dimensions, 127, np.int8)
    query[::3] = dice.integers(-127, 128, len(query[::3]))
    exact = (small.astype(np.int64) @ query.astype(np.int64)).tolist()
    assert vectors.integer_dots(small, query).tolist() == exact
    assert vectors.integer_dots_by_numpy(small, query).tolist() == exact


def test_tree_sum_adds_halves_and_carries_an_odd_last_value():
    """R8: docs/scoring.md section 3."""
    row = [1e16, 1.0, -1e16, 1.0, 3.0]
    assert vectors.tree_sum(np.array([row]))[0] == ((1e16 + -1e16) + (1.0 + 1.0)) + 3.0


def test_quantisation_is_by_the_greatest_magnitude():
    """R8."""
    values = np.array([[0.5, -1.0, 0.0], [0.0, 0.0, 0.0], [1e-38, 0.0, -1e-39]], np.float32)
    assert vectors.quantised(values).tolist() == [[64, -127, 0], [0, 0, 0], [127, 0, -13]]

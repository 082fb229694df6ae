"""What earlier plans gave, against a literal comparison of every pair."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from telha_planner.core.exclusion import Exclusions
from telha_planner.core.model import MAX_OFFSET, PackingRule, Pool, SpanRef
from telha_planner.core.neighbours import NONE
from telha_planner.core.selection import select

SOURCES = (bytes(16), bytes(15) + b"\1", b"\1" + bytes(15), b"\xff" * 16)
OVERLAPS = st.sampled_from([0.5000001, 0.6, 0.75, 0.8, 0.9, 1.0])


@st.composite
def spans(draw: st.DrawFn, greatest: int = 24) -> SpanRef:
    start = draw(st.integers(0, greatest - 1))
    end = draw(st.integers(start + 1, greatest))
    return SpanRef(draw(st.sampled_from(SOURCES)), draw(st.sampled_from((-1, 0, 7, 2**62))), start, end)


def overlap(one: SpanRef, other: SpanRef) -> float:
    if one[:2] != other[:2]:
        return 0.0
    shared = max(0, min(one.end, other.end) - max(one.start, other.start))
    return shared / min(one.end - one.start, other.end - other.start)


def columns(rows: list[SpanRef]):
    halves = np.frombuffer(b"".join(row.source_id for row in rows), dtype=">u8").reshape(-1, 2).astype(np.uint64)
    numbers = np.array([row[1:] for row in rows], dtype=np.int64).reshape(-1, 3)
    return halves[:, 0], halves[:, 1], *numbers.T


@settings(max_examples=250, deadline=None)
@given(st.lists(spans(), max_size=14), st.lists(spans(), max_size=14), OVERLAPS)
@example([SpanRef(SOURCES[0], 0, 0, 10)], [SpanRef(SOURCES[0], 0, 1, 12)], 0.9)
def test_a_row_repeats_the_given_span_that_it_overlaps_most(earlier: list[SpanRef], rows: list[SpanRef], least: float):
    """C11: equal to, or an S3-duplicate of, one that was given: nested or staggered, in whatever order it was told."""
    exclusions = Exclusions(earlier, least)
    assert exclusions.spans == tuple(sorted(set(earlier)))
    for row, repeated in zip(rows, exclusions.repeated(*columns(rows)).tolist(), strict=True):
        quotients = [overlap(row, spot) for spot in exclusions.spans]
        duplicated = [quotient for quotient in quotients if quotient > least or quotient == 1.0]
        assert (repeated == NONE) == (not duplicated)
        assert not duplicated or quotients[repeated] == max(duplicated)


@settings(max_examples=200, deadline=None)
@given(spans(), spans(), st.sampled_from([1, 3, 2**48 + 1]), OVERLAPS)
def test_left_out_is_what_deduplication_would_drop(one: SpanRef, other: SpanRef, scale: int, least: float):
    """C11, S3: one rule: of two spans the lighter is dropped exactly if it is left out once the other was given."""
    given_before = SpanRef(SOURCES[0], 5, one.start * scale, one.end * scale)
    asked = SpanRef(SOURCES[0], 5, other.start * scale, other.end * scale)
    if given_before == asked:
        return
    rows = sorted([given_before, asked])
    hi, lo, version, begin, end = columns(rows)
    weight = np.array([2.0 if row == given_before else 1.0 for row in rows])
    zeros = np.zeros(2, dtype=np.int64)
    kind, span_class = zeros.astype(np.int32), zeros.astype(np.uint8)
    pool = Pool(hi, lo, version, begin, end, kind, ("body",), span_class, weight, zeros, None)
    rule = PackingRule(budget=10, max_frac_per_source=1.0, dedup_overlap=least)
    dropped = len(select(pool, rule).packed) == 1
    left_out = Exclusions([given_before], least).repeated(*columns([asked])).tolist() == [0]
    assert left_out == dropped


def test_the_longest_offsets_are_told_apart():
    """C11, S10: one byte decides at the end of the range too."""
    exclusions = Exclusions([SpanRef(SOURCES[3], -(2**63), MAX_OFFSET - 10, MAX_OFFSET)], 0.8)
    rows = [SpanRef(SOURCES[3], -(2**63), MAX_OFFSET - cut - 10, MAX_OFFSET - cut) for cut in (1, 2, 0)]
    assert exclusions.repeated(*columns(rows)).tolist() == [0, NONE, 0]


def test_nothing_given_leaves_nothing_out():
    """C11: and there may be no rows."""
    assert Exclusions([], 0.8).repeated(*columns([SpanRef(SOURCES[0], 1, 0, 1)])).tolist() == [NONE]
    assert Exclusions([SpanRef(SOURCES[0], 1, 0, 1)], 0.8).repeated(*columns([])).tolist() == []

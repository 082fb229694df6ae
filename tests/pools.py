"""Pools for tests: from candidates to columns and back, hypothesis strategies, and the shapes that hurt."""

import struct
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from telha_planner.core.model import MAX_OFFSET, Candidate, PackingRule, Pool, SpanClass, SpanRef

CLEAN_WEIGHTS = st.one_of(st.sampled_from([0.0, 5e-324, 0.25, 0.5, 0.5, 1.0, 1e300]), st.floats(0, 1, allow_nan=False))
ANY_WEIGHTS = st.one_of(
    CLEAN_WEIGHTS,
    st.sampled_from([-0.0, float("inf"), float("-inf"), float("nan"), -float("nan"), -1.5]),
    st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack(">d", bits.to_bytes(8, "big"))[0]),
)
KINDS = st.sampled_from(["paragraph", "heading", "código", "代码", "👩‍👩‍👧", "שלום", ""])
TEXTS = st.sampled_from(["", "plain", "不可变的记忆", "👩‍👩‍👧 zwj", "שלום עולם", "é", "e\u0301"])
TOKENS = st.one_of(st.integers(0, 12), st.integers(0, 60), st.sampled_from([0, 1, MAX_OFFSET]))


def pool_of(candidates: Sequence[Candidate], *, texts: bool = True) -> Pool:
    """The columns that mean the same as *candidates*."""
    kinds = tuple(dict.fromkeys(candidate.kind for candidate in candidates))[::-1]

    def column(values: list, dtype: type) -> np.ndarray:
        return np.array(values, dtype=dtype)

    return Pool(
        source_hi=column([int.from_bytes(c.span.source_id[:8], "big") for c in candidates], np.uint64),
        source_lo=column([int.from_bytes(c.span.source_id[8:], "big") for c in candidates], np.uint64),
        version=column([c.span.source_version_tx for c in candidates], np.int64),
        start=column([c.span.start for c in candidates], np.int64),
        end=column([c.span.end for c in candidates], np.int64),
        kind=column([kinds.index(c.kind) for c in candidates], np.int32),
        kinds=kinds,
        span_class=column([c.span_class for c in candidates], np.uint8),
        weight=column([c.weight for c in candidates], np.float64),
        tokens=column([c.tokens for c in candidates], np.int64),
        texts=[c.text for c in candidates] if texts else None,
    )


@st.composite
def spans(draw: st.DrawFn) -> SpanRef:
    """Coordinates that collide, nest and overlap often; also the largest offsets there are."""
    source = draw(st.sampled_from([bytes(16), bytes(15) + b"\1", b"\xff" * 16, b"\x80" + bytes(15)]))
    version = draw(st.sampled_from([-(2**63), -1, 0, 1_751_500_000_000_000, 2**63 - 1]))
    start = draw(st.integers(0, 24))
    length = draw(st.integers(1, 24))
    shift = draw(st.sampled_from([0, 0, 0, MAX_OFFSET - 48]))
    return SpanRef(source, version, start + shift, start + shift + length)


def candidates(weights: st.SearchStrategy[float] = ANY_WEIGHTS) -> st.SearchStrategy[Candidate]:
    """Candidates with heavy ties in everything."""
    return st.builds(
        Candidate,
        span=spans(),
        kind=KINDS,
        span_class=st.sampled_from(SpanClass),
        weight=weights,
        tokens=TOKENS,
        text=TEXTS,
    )


def candidate_lists(weights: st.SearchStrategy[float] = ANY_WEIGHTS) -> st.SearchStrategy[list[Candidate]]:
    """Up to 40 candidates."""
    return st.lists(candidates(weights), max_size=40)


def rules() -> st.SearchStrategy[PackingRule]:
    """Rules over their whole ranges."""
    return st.builds(
        PackingRule,
        budget=st.one_of(st.integers(0, 200), st.sampled_from([0, 1, MAX_OFFSET])),
        max_frac_per_source=st.one_of(st.sampled_from([1.0, 0.4, 0.1, 5e-324]), st.floats(0.01, 1.0)),
        dedup_overlap=st.one_of(st.sampled_from([0.8, 1.0, 0.75, 2 / 3]), st.floats(0.5, 1.0, exclude_min=True)),
        max_spans=st.integers(0, 6),
        span_overhead_tokens=st.sampled_from([0, 0, 1, 7, 1_000_000]),
    )

"""
The nouns of Phase B: a span's coordinate, a candidate, a pool of candidates.

A candidate exists in two forms. `Candidate` is one Python object, for the reference implementation and for people;
`Pool` holds the same facts as columns, for the implementation that serves. Both mean exactly the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MAX_OFFSET = 2**53 - 1
"""Largest byte offset and token count: exact as an IEEE-754 double, hence the same number in every JSON parser."""

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Float64 = npt.NDArray[np.float64]
UInt8 = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class SpanClass(IntEnum):
    """Whether a span is verbatim evidence; the value is the byte that the plan hash covers."""

    TRUTH = 0
    CACHE = 1


class SpanRef(NamedTuple):
    """
    One verbatim span of one version of one source; sorts in canonical order.

    Attributes:
        source_id: The 16 bytes of the UUID.
        source_version_tx: Commit that wrote the version, µs since 1970 UTC, int64.
        start: First byte in the UTF-8 canonical text.
        end: First byte after; `start < end <= MAX_OFFSET`.
    """

    source_id: bytes
    source_version_tx: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """
    One weighed span.

    Attributes:
        weight: `S(node) × kind prior [× cache discount]`, float64.
        tokens: Tokens of the text alone, without overhead, 0..MAX_OFFSET.
        text: The verbatim text; decides nothing but a tie between otherwise equal candidates.
    """

    span: SpanRef
    kind: str
    span_class: SpanClass
    weight: float
    tokens: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Pool:
    """
    Candidates as columns of equal length n.

    Attributes:
        source_hi, source_lo: The UUID's 16 bytes as two big-endian halves.
        kind: Index into *kinds*.
        kinds: Distinct kinds, in any order.
        span_class: Values of `SpanClass`.
        texts: One text per row, or None where the texts are not at hand.
    """

    source_hi: UInt64
    source_lo: UInt64
    version: Int64
    start: Int64
    end: Int64
    kind: Int32
    kinds: tuple[str, ...]
    span_class: UInt8
    weight: Float64
    tokens: Int64
    texts: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.weight)


@dataclass(frozen=True, slots=True)
class PackingRule:
    """
    The limits of one selection, already resolved.

    Attributes:
        budget: B, tokens, ≥ 0.
        max_frac_per_source: Share of B that one source may take, in (0, 1].
        dedup_overlap: Overlap above which the lighter of two spans is dropped, in (0.5, 1].
        max_spans: Span limit; 0 means none.
        span_overhead_tokens: Added to each span's tokens in density, fit, cap and used.
    """

    budget: int
    max_frac_per_source: float
    dedup_overlap: float
    max_spans: int = 0
    span_overhead_tokens: int = 0


class Outcome(IntEnum):
    """What became of a span of the pool; every span has exactly one."""

    PACKED = 0
    DEDUPED = 1
    UNPACKABLE = 2
    BUDGET_SKIPPED = 3
    SPAN_LIMIT_SKIPPED = 4
    CAP_SKIPPED = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """
    The outcome of Phase B over a pool in canonical order.

    Attributes:
        outcome: One `Outcome` per row of the pool.
        packed: Rows that are packed, in canonical order.
        used: Tokens used, overhead included, ≤ the budget.
        stranded_by_cap: `budget − used` if the cap turned away a span that fitted at that moment, else 0.
    """

    outcome: UInt8
    packed: Int64
    used: int
    stranded_by_cap: int

    def count(self, outcome: Outcome) -> int:
        """How many rows had *outcome*."""
        return int(np.count_nonzero(self.outcome == outcome))

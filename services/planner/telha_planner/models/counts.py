"""
What is counted of a text, once, at ingest: its tokens and its terms.

Both travel with the span or node they belong to; a plan only adds them up.
"""

import sys
from array import array
from collections.abc import Mapping
from typing import NamedTuple

_NOBODY: Mapping[int, int] = {}


class TokenCounts(NamedTuple):
    """
    All that token accounting needs to know of a text.

    Attributes:
        ascii_bytes: Code points below U+0080, an input of the estimate.
        other_chars: Code points from U+0080 on, the other input.
        cl100k_base, o200k_base: Exact counts.
    """

    ascii_bytes: int
    other_chars: int
    cl100k_base: int
    o200k_base: int


class Terms(NamedTuple):
    """
    What a node is found by: its analysed text, for BM25, and who speaks.

    Attributes:
        ids: Term ids, uint64 little-endian, ascending and distinct.
        counts: Occurrences, uint32 little-endian, beside *ids*.
        total: Sum of the occurrences of what stands in the text, hence without *speaker* of `of`.
    """

    ids: bytes
    counts: bytes
    total: int

    @classmethod
    def of(cls, counted: Mapping[int, int], speaker: Mapping[int, int] = _NOBODY) -> "Terms":
        """The packed form of *counted*, term id → occurrences, and of `speakers.name_ids`."""
        every = {**counted, **speaker}
        ids = sorted(every)
        return cls(
            ids=_little_endian(array("Q", ids)),
            counts=_little_endian(array("I", [every[term] for term in ids])),
            total=sum(counted.values()),
        )


def _little_endian(values: "array[int]") -> bytes:
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()

"""The arithmetic of the recall oracle: docs/scoring.md in plain Python floats, one function for each formula."""

import math
import struct
from collections.abc import Iterable
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

from telha_planner.core.tokens import estimate

HOUR = 3_600_000_000
"""In µs."""


def idf_of(documents: int, df: int) -> float:
    """Inverse document frequency of a term that *df* of *documents* nodes have, to 30 binary places."""
    return max(2**-30, round(math.log(1.0 + ((documents - df) + 0.5) / (df + 0.5)) * 2**30) / 2**30)


def midnight(day: date) -> int:
    """When *day* begins, µs UTC."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1_000_000


def tree(values: list[float]) -> float:
    """The sum of *values*, halves first."""
    while len(values) > 1:
        half = len(values) // 2
        tail = values[2 * half :]
        values = [one + two for one, two in zip(values[:half], values[half : 2 * half], strict=True)] + tail
    return values[0]


def dot(one: Iterable[float], two: Iterable[float]) -> float:
    """The inner product, summed by `tree`."""
    return tree([x * y for x, y in zip(one, two, strict=True)])


def quantised(values: list[float]) -> list[int]:
    """A vector in whole numbers of at most 127."""
    greatest = max(abs(value) for value in values)
    return [round(value * (127.0 / greatest)) if greatest > 0 else 0 for value in values]


def rounded(value: float) -> Fraction:
    """*value* to 30 binary places, exactly."""
    return Fraction(round(value * 2**30), 2**30)


def terms_of(row: Any) -> dict[int, int]:
    """How often a node version has each term."""
    count = len(row.term_ids) // 8
    ids = struct.unpack(f"<{count}Q", row.term_ids)
    return dict(zip(ids, struct.unpack(f"<{count}I", row.term_counts), strict=True))


def tokens_of(span: Any, encoding: str) -> int:
    """Tokens of a stored span."""
    if encoding == "estimate":
        return estimate(span.ascii_bytes, span.other_chars)
    return int(getattr(span, encoding, -1))


def overlap(one: Any, two: Any) -> bool:
    """Whether two spans share a byte."""
    same = (one.source_no, one.version_tx) == (two.source_no, two.version_tx)
    return same and one.start < two.end and two.start < one.end

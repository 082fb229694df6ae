"""
The measure: how much of a question's gold lies inside what was returned.

A gold span is found if all of it but white space is covered by the union of the returned spans of its source; so a
sentence that two neighbouring spans share counts as found. Bytes are counted without white space for the same reason:
then a span is found if and only if all of its bytes are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from telha_planner.core.model import Int64
from telha_planner.ingest.document import WHITE_SPACE

from .dataset import GoldSpan

_WHITE = np.frombuffer("".join(filter(str.isascii, WHITE_SPACE)).encode(), np.uint8)
_WIDE_WHITE = [character.encode() for character in WHITE_SPACE if not character.isascii()]

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Coverage:
    """
    What one answer covers of one question's gold, in bytes that are not white space.

    Attributes:
        found: Gold spans that are wholly covered.
        gold: Gold spans.
    """

    found: int
    gold: int
    covered_bytes: int
    gold_bytes: int
    returned_bytes: int


class Inked:
    """A text's bytes that are not white space, counted in any interval at once."""

    def __init__(self, content: bytes) -> None:
        raw = np.frombuffer(content, np.uint8)
        ink = ~np.isin(raw, _WHITE)
        if not content.isascii():
            for encoded in _WIDE_WHITE:
                at = content.find(encoded)
                while at >= 0:
                    ink[at : at + len(encoded)] = False
                    at = content.find(encoded, at + len(encoded))
        self._before: Int64 = np.concatenate(([0], np.cumsum(ink, dtype=np.int64)))

    def count(self, start: int, end: int) -> int:
        """Bytes in [start, end) that are not white space."""
        return int(self._before[end] - self._before[start])


def coverage(gold: Sequence[GoldSpan], returned: Iterable[GoldSpan], texts: Sequence[Inked]) -> Coverage:
    """
    Measure an answer.

    Args:
        gold: The question's evidence.
        returned: The answer's spans, in any order; they may overlap.
        texts: By source index.
    """
    covered = merged(returned)
    wanted = merged(gold)
    found = sum(
        _shared([(one.start, one.end)], covered.get(one.source, ()), texts[one.source])
        == texts[one.source].count(one.start, one.end)
        for one in gold
    )
    return Coverage(
        found=found,
        gold=len(gold),
        covered_bytes=sum(_shared(some, covered.get(source, ()), texts[source]) for source, some in wanted.items()),
        gold_bytes=_bytes(wanted, texts),
        returned_bytes=_bytes(covered, texts),
    )


def merged(spans: Iterable[GoldSpan]) -> dict[int, list[Interval]]:
    """The union of *spans* per source: disjoint intervals, ascending."""
    union: dict[int, list[Interval]] = {}
    for one in sorted(spans, key=lambda span: (span.source, span.start, span.end)):
        intervals = union.setdefault(one.source, [])
        if intervals and one.start <= intervals[-1][1]:
            intervals[-1] = (intervals[-1][0], max(one.end, intervals[-1][1]))
        else:
            intervals.append((one.start, one.end))
    return union


def _shared(some: Sequence[Interval], others: Sequence[Interval], text: Inked) -> int:
    return sum(
        text.count(max(start, begin), min(end, stop))
        for start, end in some
        for begin, stop in others
        if max(start, begin) < min(end, stop)
    )


def _bytes(union: dict[int, list[Interval]], texts: Sequence[Inked]) -> int:
    return sum(texts[source].count(start, end) for source, some in union.items() for start, end in some)

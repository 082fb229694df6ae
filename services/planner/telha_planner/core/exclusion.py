"""
What earlier plans gave, so that a new one gives something else.

A span is left out if it equals a span that was given, or is a duplicate of one by the rule of `deduplication`: same
version of the same source, and an overlap of at least `least_overlap`. Spans of another version never meet.
The given spans are held in layers whose spans are aligned, in that module's sense, so by its fact 1 two look-ups decide
a row against a layer. The spans of one plan and version are aligned already, hence there are never more layers than
plans.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .deduplication import least_overlap
from .model import Float64, Int64, SpanRef, UInt64
from .neighbours import NONE


@dataclass(frozen=True, slots=True)
class _Layer:
    """Aligned given spans: their numbers, and for each its version and start as one ascending key."""

    number: Int64
    key: Int64


class Exclusions:
    """
    Given spans.

    Args:
        spans: In any order; repetitions change nothing.
        dedup_overlap: The threshold of deduplication, in (0.5, 1].

    Attributes:
        spans: Distinct, in canonical order.
    """

    def __init__(self, spans: Iterable[SpanRef], dedup_overlap: float) -> None:
        self.spans = tuple(sorted(set(spans)))
        self._least = least_overlap(dedup_overlap)
        halves = np.frombuffer(b"".join(span.source_id for span in self.spans), dtype=">u8").reshape(-1, 2)
        version = np.array([span.source_version_tx for span in self.spans], dtype=np.int64)
        self._start = np.array([span.start for span in self.spans], dtype=np.int64)
        self._end = np.array([span.end for span in self.spans], dtype=np.int64)
        self._his, self._los = np.unique(halves[:, 0].astype(np.uint64)), np.unique(halves[:, 1].astype(np.uint64))
        self._versions, self._starts = np.unique(version), np.unique(self._start)
        self._texts = np.unique(self._text(halves[:, 0], halves[:, 1], version))
        text = np.searchsorted(self._texts, self._text(halves[:, 0], halves[:, 1], version))
        self._stride = len(self._starts) + 1
        key = text * self._stride + np.searchsorted(self._starts, self._start, side="right")
        self._layers = [_Layer(rows, key[rows]) for rows in self._aligned(text)]

    def __len__(self) -> int:
        return len(self.spans)

    def repeated(self, source_hi: UInt64, source_lo: UInt64, version: Int64, start: Int64, end: Int64) -> Int64:
        """
        Which given span each row repeats.

        Args:
            source_hi, source_lo, version, start, end: Coordinates of the rows, as in `Pool`.

        Returns:
            The number in `spans` of one that the row overlaps the most, always the same of several; `NONE` for rows
            that repeat none.
        """
        repeats = np.full(len(start), NONE, dtype=np.int64)
        if not self.spans or not len(start):
            return repeats
        wanted = self._text(source_hi, source_lo, version)
        text = np.searchsorted(self._texts, wanted)
        text[self._texts[np.minimum(text, len(self._texts) - 1)] != wanted] = NONE
        rows = np.flatnonzero(text != NONE)
        text, start, end = text[rows], start[rows], end[rows]
        key = text * self._stride + np.searchsorted(self._starts, start, side="right")
        best, greatest = repeats[rows], np.zeros(len(rows), dtype=np.float64)
        for layer in self._layers:
            after = np.searchsorted(layer.key, key, side="right")
            for near in (after - 1, after):
                self._compare(layer, near, text, start, end, best, greatest)
        repeats[rows] = np.where(greatest >= self._least, best, NONE)
        return repeats

    def _compare(
        self, layer: _Layer, near: Int64, text: Int64, start: Int64, end: Int64, best: Int64, greatest: Float64
    ) -> None:
        """Note in *best* and *greatest* where the rows of *layer* at *near* overlap more than what was met before."""
        inside = np.clip(near, 0, len(layer.key) - 1)
        same = (near == inside) & (layer.key[inside] // self._stride == text)
        number = layer.number[inside]
        given_start, given_end = self._start[number], self._end[number]
        shared = np.minimum(end, given_end) - np.maximum(start, given_start)
        quotient = shared / np.minimum(end - start, given_end - given_start)
        better = same & (quotient > greatest)
        best[better], greatest[better] = number[better], quotient[better]

    def _text(self, source_hi: UInt64, source_lo: UInt64, version: Int64) -> Int64:
        """A number for each (source, version) that was given; for any other a number that none of those has."""
        hi, lo, at = _code(self._his, source_hi), _code(self._los, source_lo), _code(self._versions, version)
        code = (hi * len(self._los) + lo) * len(self._versions) + at
        return np.where((hi == NONE) | (lo == NONE) | (at == NONE), NONE, code)

    def _aligned(self, text: Int64) -> list[Int64]:
        """The given spans by number, in as few layers as it takes for each to be aligned."""
        layers: list[list[int]] = []
        order = np.lexsort((-self._end, self._start, text))
        opened, tops = NONE, list[int]()
        for number, owner, end in zip(order.tolist(), text[order].tolist(), self._end[order].tolist(), strict=True):
            if owner != opened:
                opened, tops = owner, []
            # Of equal starts the longest comes first, so what ends later than a layer's last span also begins later.
            at = bisect_right(tops, -end)
            tops[at : at + 1] = [-end]
            if at == len(layers):
                layers.append([])
            layers[at].append(number)
        return [np.array(layer, dtype=np.int64) for layer in layers]


def _code(values: Int64 | UInt64, of: Int64 | UInt64) -> Int64:
    """The place of each of *of* in the ascending *values*, or `NONE`."""
    if not len(values):
        return np.full(len(of), NONE, dtype=np.int64)
    at = np.minimum(np.searchsorted(values, of), len(values) - 1)
    return np.where(values[at] == of, at, NONE)

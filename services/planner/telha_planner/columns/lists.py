"""
Lists of rows by key: which spans a version has, which edges a node, which versions a term.

One structure for all of them: sorted segments, the oldest largest. Loading makes one segment; appending adds a small
one, and neighbours of similar size are merged up to a limit, so there are few and each row is moved a logarithmic
number of times.
Rule: appended rows are greater than all before, so each key's rows ascend whatever the segments.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telha_planner.core.model import Int32, Int64

_NONE = np.empty(0, np.int32)
_LARGEST_MERGED = 1 << 18
"""Rows up to which segments are merged: a longer merge would be felt by every plan that waits for it."""
_MERGE_BELOW = 2
"""A segment is merged with its elder when that is smaller than this many times its size."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """Key i owns `rows[starts[i]:starts[i + 1]]`, and that part of `counts`; that is empty where nothing is counted."""

    keys: Int64
    starts: Int64
    rows: Int32
    counts: Int32

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.starts.nbytes + self.rows.nbytes + self.counts.nbytes


class Lists:
    """Keys are integers of at least 0; a list may carry a count beside each row."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(segment.nbytes for segment in self._segments)

    def append(self, keys: npt.ArrayLike, rows: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> None:
        """Add *rows* to the lists of *keys*, pairwise; all rows exceed those added before."""
        keys = np.asarray(keys, np.int64)
        if not len(keys):
            return
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        self._segments.append(
            _Segment(
                keys[first],
                np.append(first, len(keys)),
                np.asarray(rows, np.int32)[order],
                _NONE if counts is None else np.asarray(counts, np.int32)[order],
            )
        )
        while len(self._segments) > 1 and _worth_merging(*self._segments[-2:]):
            newer, older = self._segments.pop(), self._segments.pop()
            self._segments.append(_merged(older, newer))

    def find(self, key: int) -> list[tuple[Int32, Int32]]:
        """The list of *key* in pieces, each with its counts; no copy."""
        pieces = []
        for segment in self._segments:
            at = int(np.searchsorted(segment.keys, key))
            if at < len(segment.keys) and segment.keys[at] == key:
                part = slice(int(segment.starts[at]), int(segment.starts[at + 1]))
                pieces.append((segment.rows[part], segment.counts[part]))
        return pieces

    def gather(self, keys: npt.ArrayLike) -> tuple[Int64, Int32]:
        """
        The lists of many keys at once.

        Returns:
            Pairs (index into *keys*, row) as two columns. One key's rows ascend, but need not stand together.
        """
        owners, rows, _ = self.gather_counts(keys)
        return owners, rows

    def gather_counts(self, keys: npt.ArrayLike) -> tuple[Int64, Int32, Int32]:
        """As `gather`, with the counts as a third column."""
        wanted = np.asarray(keys, np.int64)
        found: list[tuple[Int64, Int32, Int32]] = []
        for segment in self._segments:
            at = np.minimum(np.searchsorted(segment.keys, wanted), len(segment.keys) - 1)
            hits = np.flatnonzero(segment.keys[at] == wanted)
            if not len(hits):
                continue
            at = at[hits]
            starts = segment.starts[at]
            lengths = segment.starts[at + 1] - starts
            places = ranges(starts, lengths)
            counts = segment.counts[places] if len(segment.counts) else _NONE
            found.append((np.repeat(hits, lengths), segment.rows[places], counts))
        if len(found) == 1:
            return found[0]
        if not found:
            return np.empty(0, np.int64), _NONE, _NONE
        owners, rows, counted = zip(*found, strict=True)
        return np.concatenate(owners), np.concatenate(rows), np.concatenate(counted)


def _worth_merging(older: _Segment, newer: _Segment) -> bool:
    one, other = len(older.rows), len(newer.rows)
    return one < _MERGE_BELOW * other and one + other <= _LARGEST_MERGED


def ranges(starts: Int64, lengths: Int64) -> Int64:
    """`starts[0] … starts[0] + lengths[0] − 1, starts[1] …` as one column."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def _merged(older: _Segment, newer: _Segment) -> _Segment:
    keys = np.union1d(older.keys, newer.keys)
    lengths = np.zeros(len(keys), np.int64)
    places = []
    for segment in (older, newer):
        at = np.searchsorted(keys, segment.keys)
        own = np.diff(segment.starts)
        places.append((at, lengths[at], own))
        lengths[at] += own
    starts = np.concatenate(([0], np.cumsum(lengths)))
    rows = np.empty(int(starts[-1]), np.int32)
    counts = np.empty(len(rows) if len(older.counts) else 0, np.int32)
    for segment, (at, before, own) in zip((older, newer), places, strict=True):
        target = ranges(starts[at] + before, own)
        rows[target] = segment.rows
        if len(counts):
            counts[target] = segment.counts
    return _Segment(keys, starts, rows, counts)

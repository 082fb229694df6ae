"""
The inverted index: for a term, the node versions of a space that hold it, and how often.

A term gets a small code at first sight, so that (space, term) is one integer key. Codes are internal: scores are
added up by ascending term id.
"""

import numpy as np

from telha_planner.core.model import Bools, Int32, Int64, UInt64
from telha_planner.memory.projection import Rows

from .lists import Lists

_SPACE_SHIFT = 32
_NONE = np.empty(0, np.int32)
_FEW_SPACES = 8
_TAIL_SHARE = 8
"""New terms are folded into the sorted dictionary once they are more than one in so many."""


class Dictionary:
    """Term id → code."""

    def __init__(self) -> None:
        self._ids = np.empty(0, np.uint64)
        self._codes = np.empty(0, np.int32)
        self._recent: dict[int, int] = {}

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly for the recent part."""
        return self._ids.nbytes + self._codes.nbytes + 150 * len(self._recent)

    def code(self, term: int) -> int | None:
        """The code of *term*, or None if no text ever held it."""
        at = int(np.searchsorted(self._ids, np.uint64(term)))
        if at < len(self._ids) and int(self._ids[at]) == term:
            return int(self._codes[at])
        return self._recent.get(term)

    def knows(self, terms: UInt64) -> Bools:
        """Which of *terms* any text ever held."""
        if not len(self._ids):
            return np.zeros(len(terms), bool)
        at = np.minimum(np.searchsorted(self._ids, terms), len(self._ids) - 1)
        known: Bools = self._ids[at] == terms
        if self._recent:
            known |= np.fromiter((term in self._recent for term in terms.tolist()), bool, len(terms))
        return known

    def codes(self, terms: UInt64) -> Int64:
        """Codes of *terms*, new ones included."""
        distinct, inverse = np.unique(terms, return_inverse=True)
        if not len(self._ids):
            self._ids, self._codes = distinct, np.arange(len(distinct), dtype=np.int32)
            return inverse.astype(np.int64)
        at = np.minimum(np.searchsorted(self._ids, distinct), len(self._ids) - 1)
        codes = np.where(self._ids[at] == distinct, self._codes[at], -1).astype(np.int64)
        size = len(self._ids)
        for index in np.flatnonzero(codes < 0):
            codes[index] = self._recent.setdefault(int(distinct[index]), size + len(self._recent))
        if len(self._recent) * _TAIL_SHARE > size:
            self._fold()
        return codes[inverse]

    def _fold(self) -> None:
        ids = np.concatenate((self._ids, np.fromiter(self._recent.keys(), np.uint64, len(self._recent))))
        codes = np.concatenate((self._codes, np.fromiter(self._recent.values(), np.int32, len(self._recent))))
        order = np.argsort(ids)
        self._ids, self._codes = ids[order], codes[order]
        self._recent = {}


class Postings:
    """Occurrences of terms in node versions, by space."""

    def __init__(self) -> None:
        self._dictionary = Dictionary()
        self._lists = Lists()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._dictionary.nbytes + self._lists.nbytes

    def load(self, rows: Rows, first_row: int, spaces: Int32) -> None:
        """
        Index new node versions.

        Args:
            rows: As `Changes.node_versions` gives them.
            first_row: Row of the first of them.
            spaces: Space of each.
        """
        if not rows:
            return
        terms = np.frombuffer(b"".join([row[-2] for row in rows]), "<u8").astype(np.uint64, copy=False)
        counts = np.frombuffer(b"".join([row[-1] for row in rows]), "<u4")
        lengths = np.fromiter((len(row[-2]) // 8 for row in rows), np.int64, len(rows))
        version = np.repeat(np.arange(first_row, first_row + len(rows), dtype=np.int32), lengths)
        space = np.repeat(spaces.astype(np.int64) << _SPACE_SHIFT, lengths)
        if len(terms):
            self._lists.append(space | self._dictionary.codes(terms), version, counts)

    def knows(self, terms: UInt64) -> Bools:
        """Which of *terms* any text ever held, whatever the space or instant."""
        return self._dictionary.knows(terms)

    def occurrences(self, term: int, spaces: list[int]) -> tuple[Int32, Int32]:
        """(row of the node version, occurrences) of *term* in *spaces*, in no particular order, all versions."""
        code = self._dictionary.code(term)
        if code is None:
            return _NONE, _NONE
        keys = [space << _SPACE_SHIFT | code for space in spaces]
        if len(keys) > _FEW_SPACES:
            _, rows, counts = self._lists.gather_counts(keys)
            return rows, counts
        pieces = [piece for key in keys for piece in self._lists.find(key)]
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return _NONE, _NONE
        found, counted = zip(*pieces, strict=True)
        return np.concatenate(found), np.concatenate(counted)

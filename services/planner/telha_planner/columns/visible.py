"""
The nodes that are visible in some spaces over an interval of instants, kept between requests.

Visible nodes are numbered 0 … n − 1 ("places"), and scores are dense arrays over them. Making this costs what its
spaces cost; that of "now" holds until a space changes or a validity begins or ends.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from telha_planner.core.model import Int32, Int64, UInt64
from telha_planner.core.request import INT64_MIN, OPEN_END

from .projected import TenantColumns
from .vectors import Vectors, integer_dots

_FEW = 8
"""Rows are picked one by one while they are less than one in so many of all; else all are scanned."""


class VisibleVectors:
    """
    The vectors of one model that are visible, one per node at most.

    Attributes:
        vectors: The model's columns.
        place: Place of each vector's node, ascending.
        row: Row of each vector.
        valid: The interval of valid_t for which this holds.
    """

    def __init__(self, vectors: Vectors, place: Int32, row: Int64, valid: tuple[int, int]) -> None:
        self.vectors = vectors
        self.place = place
        self.row = row
        self.valid = valid
        # A scan wants its rows side by side: few rows are copied once, of many everything is scanned.
        self._own = np.ascontiguousarray(vectors.small[row]) if len(row) * _FEW < len(vectors) else None
        self._all = len(row) == len(vectors) and bool((row == np.arange(len(row))).all())
        self.inverse_norm = vectors.inverse_norm[row]

    def __len__(self) -> int:
        return len(self.row)

    @property
    def nbytes(self) -> int:
        """Bytes held beyond the columns."""
        own = 0 if self._own is None else self._own.nbytes
        return own + self.place.nbytes + self.row.nbytes + self.inverse_norm.nbytes

    def dots(self, query: npt.NDArray[np.int8]) -> Int32:
        """v̂·q̂ of every visible vector."""
        if self._own is not None:
            return integer_dots(self._own, query)
        scanned = integer_dots(self.vectors.small[: int(self.row.max(initial=-1)) + 1], query)
        return scanned if self._all else scanned[self.row]


class Visible:
    """
    The visible nodes of some spaces.

    Attributes:
        version: Row of the visible node version, ascending, by place.
        node: Row of the node, by place.
        hi, lo: The node id, by place.
        type: Type code, by place.
        length: Terms, by place.
        spaces: Rows of the spaces.
        lasting: Whether it holds until its spaces change, rather than for one tx_t.
        memo: What recall keeps beside; a function of this object alone, each value with an `nbytes`.
    """

    def __init__(self, columns: TenantColumns, spaces: tuple[int, ...] | None, valid_t: int, tx_t: int) -> None:
        self._columns = columns
        self._every = spaces is None
        self.spaces = list(range(len(columns.spaces))) if spaces is None else list(spaces)
        self.memo: dict[Hashable, Any] = {}
        versions = columns.versions
        rows = self._rows_of_spaces()
        rows = rows[(versions.tx_from[rows] <= tx_t) & (tx_t < versions.tx_to[rows])]
        valid_from, valid_to = versions.valid_from[rows], versions.valid_to[rows]
        self._valid = _constant_while(valid_t, valid_from, valid_to)
        self.version: Int64 = rows[(valid_from <= valid_t) & (valid_t < valid_to)]
        self.node: Int32 = versions.node[self.version]
        self.hi: UInt64 = columns.nodes.hi[self.node]
        self.lo: UInt64 = columns.nodes.lo[self.node]
        self.type: Int32 = versions.type[self.version]
        self.length: Int64 = versions.length[self.version]
        self._place_of_version = _inverse(self.version, len(versions))
        self._place_of_node = _inverse(self.node, len(columns.nodes))
        newest = self._newest_change()
        # Past the newest change nothing moves until the next one; earlier instants are kept for themselves alone.
        self.lasting = tx_t >= newest
        self._since_tx = newest if self.lasting else tx_t

    def __len__(self) -> int:
        return len(self.version)

    @property
    def nbytes(self) -> int:
        """Bytes held, memo included."""
        own = (
            self.version, self.node, self.hi, self.lo, self.type, self.length,
            self._place_of_version, self._place_of_node,
        )  # fmt: skip
        return sum(int(array.nbytes) for array in own) + sum(int(value.nbytes) for value in self.memo.values())

    def serves(self, valid_t: int, tx_t: int) -> bool:
        """Whether what would be made now for these instants equals this."""
        if not self._valid[0] <= valid_t < self._valid[1]:
            return False
        if not self.lasting:
            return tx_t == self._since_tx
        return self._newest_change() <= self._since_tx <= tx_t

    def places_of_versions(self, rows: Int32) -> Int32:
        """Places of node versions of these spaces, −1 where not visible."""
        return _looked_up(self._place_of_version, rows)

    def places_of_nodes(self, rows: Int32 | Int64) -> Int32:
        """Places of nodes of any space, −1 where not visible."""
        return _looked_up(self._place_of_node, rows)

    def vectors(self, model: Vectors, valid_t: int, tx_t: int) -> VisibleVectors:
        """The visible vectors of *model* at instants that this serves."""
        kept: VisibleVectors | None = self.memo.get(("vectors", model.number))
        if kept is not None and kept.valid[0] <= valid_t < kept.valid[1]:
            return kept
        if len(self) * _FEW < len(model):
            row = model.of_node.gather(self.node)[1].astype(np.int64)
        else:
            row = np.arange(len(model))
        known = (model.tx_from[row] <= tx_t) & (tx_t < model.tx_to[row])
        row = row[known & (self.places_of_nodes(model.node[row]) >= 0)]
        begin = model.valid_from[row]
        valid = _constant_while(valid_t, begin, begin)
        row = row[begin <= valid_t]
        place = self.places_of_nodes(model.node[row])
        order = np.lexsort((model.no[row], model.tx_from[row], model.valid_from[row], place))
        place, row = place[order], row[order]
        last = np.append(place[1:] != place[:-1], True) if len(place) else np.zeros(0, bool)
        made = VisibleVectors(model, place[last], row[last], valid)
        self.memo["vectors", model.number] = made
        return made

    def occurrences(self, term: int) -> tuple[Int32, Int32]:
        """(place, occurrences) of *term* among the visible nodes."""
        rows, counts = self._columns.postings.occurrences(term, self.spaces)
        place = self.places_of_versions(rows)
        visible = place >= 0
        return place[visible], counts[visible]

    def _newest_change(self) -> int:
        changed = self._columns.changed_tx
        return int((changed if self._every else changed[self.spaces]).max(initial=0))

    def _rows_of_spaces(self) -> Int64:
        """Node versions of the spaces, ascending."""
        columns = self._columns
        if len(self.spaces) == len(columns.spaces):
            return np.arange(len(columns.versions))
        _, rows = columns.versions.of_space.gather(self.spaces)
        return np.sort(rows).astype(np.int64)


def _inverse(rows: Int64 | Int32, size: int) -> Int32:
    places = np.full(size, -1, np.int32)
    places[rows] = np.arange(len(rows), dtype=np.int32)
    return places


def _looked_up(places: Int32, rows: Int32 | Int64) -> Int32:
    """`places[rows]`; rows that were appended since are not visible."""
    known = rows < len(places)
    if known.all():
        return places[rows]
    found = np.full(len(rows), -1, np.int32)
    found[known] = places[rows[known]]
    return found


def _constant_while(instant: int, begins: Int64, ends: Int64) -> tuple[int, int]:
    """The interval around *instant* in which no validity begins or ends."""
    start, end = INT64_MIN, OPEN_END
    for bounds in (begins, ends):
        past = bounds <= instant
        start = max(start, int(bounds.max(where=past, initial=INT64_MIN)))
        end = min(end, int(bounds.min(where=~past, initial=OPEN_END)))
    return start, end

"""
What one request sees: the nodes visible at two instants in the spaces asked for.

A view numbers the visible nodes 0 … n − 1 ("places"); scores are dense arrays over them. Building one costs what its
spaces cost, and the view of "now" is kept until its spaces change or a validity begins or ends.
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


class VectorView:
    """
    The vectors of one model that a view sees, one per node at most.

    Attributes:
        place: Place of each vector's node, ascending.
        row: Row of each vector.
    """

    def __init__(self, vectors: Vectors, place: Int32, row: Int64) -> None:
        self.vectors = vectors
        self.place = place
        self.row = row
        # A scan wants its rows side by side; a view of few rows copies them once, others scan everything.
        self._own = np.ascontiguousarray(vectors.small[row]) if len(row) * _FEW < len(vectors) else None
        self.inverse_norm = vectors.inverse_norm[row]

    @property
    def nbytes(self) -> int:
        """Bytes held beyond the columns."""
        own = 0 if self._own is None else self._own.nbytes
        return own + self.place.nbytes + self.row.nbytes + self.inverse_norm.nbytes

    def dots(self, query: npt.NDArray[np.int8]) -> Int32:
        """v̂·q̂ of every vector of the view."""
        if self._own is not None:
            return integer_dots(self._own, query)
        return integer_dots(self.vectors.small, query)[self.row]


class View:
    """
    The visible nodes of some spaces at (valid_t, tx_t).

    Attributes:
        version: Row of the visible node version, ascending, by place.
        node: Row of the node, by place.
        hi, lo: The node id, by place.
        type: Type code, by place.
        length: Terms, by place.
        lasting: Whether the view holds until its spaces change, rather than for one instant.
        memo: What recall keeps with the view; each value has an `nbytes`.
    """

    def __init__(self, columns: TenantColumns, spaces: tuple[int, ...] | None, valid_t: int, tx_t: int) -> None:
        self.columns = columns
        self.valid_t = valid_t
        self.tx_t = tx_t
        self._every = spaces is None
        self.spaces = list(range(len(columns.spaces))) if spaces is None else list(spaces)
        self.memo: dict[Hashable, Any] = {}
        versions = columns.versions
        rows = _rows_of_spaces(columns, spaces)
        if rows is None:
            known = (versions.tx_from <= tx_t) & (tx_t < versions.tx_to)
            valid_from, valid_to = versions.valid_from[known], versions.valid_to[known]
            rows = np.flatnonzero(known)
        else:
            rows = rows[(versions.tx_from[rows] <= tx_t) & (tx_t < versions.tx_to[rows])]
            valid_from, valid_to = versions.valid_from[rows], versions.valid_to[rows]
        visible = (valid_from <= valid_t) & (valid_t < valid_to)
        self._valid_from, self._valid_to = _constant_while(valid_t, valid_from, valid_to)
        self.version = rows[visible]
        self.node = versions.node[self.version]
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
        """Whether a view made now for these instants would be equal to this one."""
        if not self._valid_from <= valid_t < self._valid_to:
            return False
        if not self.lasting:
            return bool(tx_t == self._since_tx)
        return self._newest_change() <= self._since_tx <= tx_t

    def _newest_change(self) -> int:
        changed = self.columns.changed_tx
        return int((changed if self._every else changed[self.spaces]).max(initial=0))

    def places_of_versions(self, rows: Int32) -> Int32:
        """Places of node versions, −1 where not visible; *rows* belong to the view's spaces."""
        return self._place_of_version[rows]

    def places_of_nodes(self, rows: Int32 | Int64) -> Int32:
        """Places of nodes of any space, −1 where not visible."""
        if len(self._place_of_node) < len(self.columns.nodes):
            rows = np.minimum(rows, len(self._place_of_node))
            return np.append(self._place_of_node, np.int32(-1))[rows]
        return self._place_of_node[rows]

    def vectors(self, model: Vectors) -> VectorView:
        """The view's vectors of *model*."""
        kept: VectorView | None = self.memo.get(("vectors", model.number))
        if kept is not None:
            return kept
        if len(self) * _FEW < len(model):
            row = model.of_node.gather(self.node)[1].astype(np.int64)
        else:
            row = np.arange(len(model))
        known = (model.tx_from[row] <= self.tx_t) & (self.tx_t < model.tx_to[row])
        row = row[known & (self.places_of_nodes(model.node[row]) >= 0)]
        begin = model.valid_from[row]
        start, end = _constant_while(self.valid_t, begin, begin)
        self._valid_from, self._valid_to = max(self._valid_from, start), min(self._valid_to, end)
        row = row[begin <= self.valid_t]
        place = self.places_of_nodes(model.node[row])
        order = np.lexsort((model.no[row], model.tx_from[row], model.valid_from[row], place))
        place, row = place[order], row[order]
        last = np.append(place[1:] != place[:-1], True) if len(place) else np.zeros(0, bool)
        self.memo["vectors", model.number] = made = VectorView(model, place[last], row[last])
        return made

    def occurrences(self, term: int) -> tuple[Int32, Int32]:
        """(place, occurrences) of *term* among the visible nodes."""
        rows, counts = self.columns.postings.occurrences(term, self.spaces)
        place = self.places_of_versions(rows)
        visible = place >= 0
        return place[visible], counts[visible]


def best(values: npt.NDArray[np.floating], k: int, hi: UInt64, lo: UInt64, *, positive: bool = False) -> Int64:
    """
    The *k* greatest *values*, ties by lower id.

    Returns:
        Their indices, in that order; with *positive* only of values above 0.
    """
    bound = _kth_greatest(values, k) if len(values) > 4 * k else -np.inf
    candidates = np.flatnonzero(values > 0.0 if positive and bound <= 0.0 else values >= bound)
    chosen = values[candidates]
    order = np.lexsort((lo[candidates], hi[candidates], -chosen))
    return candidates[order[:k]]


def _kth_greatest(values: npt.NDArray[np.floating], k: int) -> float:
    """A bound that at least *k* values reach, close to the k-th greatest."""
    stride = len(values) // 4096
    if stride > 1:
        # Twice as deep in a sample as its share asks for: nearly always enough, and checked.
        sample = values[::stride]
        depth = min(len(sample), 2 * (k // stride) + 8)
        bound = np.partition(sample, len(sample) - depth)[len(sample) - depth]
        if np.count_nonzero(values >= bound) >= k:
            return float(bound)
    return float(np.partition(values, len(values) - k)[len(values) - k])


def _rows_of_spaces(columns: TenantColumns, spaces: tuple[int, ...] | None) -> Int64 | None:
    """Node versions of *spaces*, ascending; None means all."""
    if spaces is None or len(spaces) == len(columns.spaces):
        return None
    _, rows = columns.versions.of_space.gather(spaces)
    return np.sort(rows).astype(np.int64)


def _inverse(rows: Int64 | Int32, size: int) -> Int32:
    places = np.full(size, -1, np.int32)
    places[rows] = np.arange(len(rows), dtype=np.int32)
    return places


def _constant_while(instant: int, begins: Int64, ends: Int64) -> tuple[int, int]:
    """The interval around *instant* in which no validity begins or ends."""
    start, end = INT64_MIN, OPEN_END
    for bounds in (begins, ends):
        past = bounds <= instant
        start = max(start, int(bounds.max(where=past, initial=INT64_MIN)))
        end = min(end, int(bounds.min(where=~past, initial=OPEN_END)))
    return start, end

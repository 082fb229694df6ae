"""What one request sees: visible nodes, and the two instants at which edges, links and vectors are tested."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from telha_planner.core.model import Bools, Int32, Int64, UInt64

from .lists import Lists
from .projected import TenantColumns
from .vectors import Vectors
from .visible import Visible, VisibleVectors


class View:
    """
    The memory of some spaces at (valid_t, tx_t).

    *visible* is shared with other requests, perhaps at other instants; whatever else is visible at these instants is
    asked for here.

    Attributes:
        version, node, hi, lo, type, length: As in `Visible`, by place.
        memo: What recall keeps with *visible*.
    """

    def __init__(self, columns: TenantColumns, visible: Visible, valid_t: int, tx_t: int) -> None:
        self.columns = columns
        self.valid_t = valid_t
        self.tx_t = tx_t
        self._visible = visible
        self.version: Int64 = visible.version
        self.node: Int32 = visible.node
        self.hi: UInt64 = visible.hi
        self.lo: UInt64 = visible.lo
        self.type: Int32 = visible.type
        self.length: Int64 = visible.length
        self.memo: dict[Hashable, Any] = visible.memo

    def __len__(self) -> int:
        return len(self.version)

    def places_of_nodes(self, rows: Int32 | Int64) -> Int32:
        """Places of nodes of any space, −1 where not visible."""
        return self._visible.places_of_nodes(rows)

    def vectors(self, model: Vectors) -> VisibleVectors:
        """The visible vectors of *model*."""
        return self._visible.vectors(model, self.valid_t, self.tx_t)

    def occurrences(self, term: int) -> tuple[Int32, Int32]:
        """(place, occurrences) of *term* among the visible nodes; a function of `memo`'s owner alone."""
        return self._visible.occurrences(term)

    def knows(self, terms: UInt64) -> Bools:
        """Which of *terms* could have occurrences: a text held them once, visible or not."""
        return self.columns.postings.knows(terms)

    def edges(self, places: Int64, lists: Lists) -> tuple[Int64, Int64, Int64]:
        """
        The edges of *lists* at *places* that are visible, and whose other end is.

        Returns:
            (index into *places*, row of the edge, place at the other end), in no particular order.
        """
        owner, edge, other = self.columns.edges.from_nodes(self.node[places], lists, self.valid_t, self.tx_t)
        place = self._visible.places_of_nodes(other).astype(np.int64)
        seen = place >= 0
        return owner[seen], edge[seen].astype(np.int64), place[seen]

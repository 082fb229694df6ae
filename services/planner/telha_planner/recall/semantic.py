"""
The semantic leg: cosine above the model's baseline, docs/scoring.md section 3.

An exact eight-bit scan finds candidates; the float64 cosine of the originals, summed in a fixed order, is the score of
record.
"""

import numpy as np
import numpy.typing as npt

from telha_planner.columns.ranking import best
from telha_planner.columns.vectors import Vectors, quantised
from telha_planner.columns.view import View
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import Float64, Int64

from .ports import RecallQuery

ROUNDING = 2.0**30
"""What is summed in no particular order is first rounded to a multiple of one part of this, which makes sums exact."""

RESCORED = 192
"""Fewest vectors whose cosine is computed exactly; with so many, none of the true best 64 was ever missed."""

NO_VECTORS = "memory holds no vectors"
"""Why a leg with a vector does not run: none is visible in the spaces asked for."""


class Semantic:
    """
    The semantic part of one request.

    Attributes:
        places: R, places of the rescored nodes, ascending.
        visible: Nodes that have a vector.
        greatest: The greatest cos⁺ over R, 0 if nothing is relevant.
        room: How far a cosine can lie above the model's baseline: 1 − baseline.
    """

    def __init__(self, view: View, model: Vectors, query: npt.NDArray[np.float32], depth: int, floor: float) -> None:
        self._view = view
        self._model = model
        self._query = query
        self._least = floor
        self.room = 1.0 - model.baseline
        self._floor = floor * self.room
        self._seen = view.vectors(model)
        self.visible = len(self._seen)
        small = quantised(query[None])[0]
        dots = self._seen.dots(small)
        self._approximate = approximate = dots.astype(np.float32) * self._seen.inverse_norm
        self._root = float(np.sqrt(np.square(small.astype(np.float64)).sum()))
        node = self._seen.place
        chosen = np.sort(best(approximate, max(RESCORED, 3 * depth), view.hi[node], view.lo[node]))
        self.places: Int64 = node[chosen].astype(np.int64)
        self._scores = self._above_baseline(self._seen.row[chosen])
        self.greatest = float(self._scores.max(initial=0.0))

    def rescored(self, depth: int) -> "Semantic":
        """The same with the R of another *depth*."""
        return Semantic(self._view, self._model, self._query, depth, self._least)

    def leg(self, k: int) -> Int64:
        """The *k* nodes of R with the greatest cos⁺ above 0, ties by node id."""
        places = self.places
        return places[best(self._scores, k, self._view.hi[places], self._view.lo[places], positive=True)]

    def part(self, places: Int64) -> Float64:
        """semantic(n) of *places*, in [0, 1]; *places* ascend."""
        if self.greatest == 0.0:
            return np.zeros(len(places))
        return np.minimum(1.0, self.above(places) / self.greatest)

    def above(self, places: Int64) -> Float64:
        """cos⁺ of *places*; *places* ascend."""
        parts = np.zeros(len(places))
        if not len(places):
            return parts
        at = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        rescored = self.places[at] == places
        parts[rescored] = self._scores[at[rescored]]
        others = np.flatnonzero(~rescored)
        having, at = self._vectors_of(places[others])
        parts[others[having]] = self._above_baseline(self._seen.row[at])
        return parts

    def rough(self, places: Int64) -> tuple[Float64, npt.NDArray[np.bool_]]:
        """cos⁺ of *places* by the eight-bit scan, multiples of 1 / `ROUNDING`; and which of them have a vector."""
        found = np.zeros(len(places))
        having, at = self._vectors_of(places)
        if self._root > 0.0:
            above = self._floored(self._approximate[at].astype(np.float64) / self._root)
            found[having] = np.rint(above * ROUNDING) / ROUNDING
        return found, having

    def _vectors_of(self, places: Int64) -> tuple[npt.NDArray[np.bool_], Int64]:
        """Which of *places* have a vector, and where those stand among the visible ones."""
        at = np.minimum(np.searchsorted(self._seen.place, places), len(self._seen.place) - 1)
        having = self._seen.place[at] == places
        return having, at[having]

    def _above_baseline(self, rows: Int64) -> Float64:
        return self._floored(self._model.cosines(rows, self._query))

    def _floored(self, cosines: Float64) -> Float64:
        above = cosines - self._model.baseline
        return np.where((above < self._floor) | (above < 0.0), 0.0, above)


def model_of(view: View, query: RecallQuery) -> Vectors | None:
    """
    The model whose vectors *query* compares with; None if memory has none at `tx_t`.

    Raises:
        RequestInvalid: The named model is unknown at `tx_t`, or the vector has another dimension.
    """
    model = view.columns.model_at(query.vector_model, query.tx_t)
    if model is None:
        if query.vector_model is not None:
            raise RequestInvalid(field="vector.model", rule="must be a model that this memory has vectors of")
        return None
    if query.vector is not None and len(query.vector) != model.dimensions:
        raise RequestInvalid(field="vector.values", rule=f"must hold {model.dimensions} values")
    return model

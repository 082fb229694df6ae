"""The structured leg: visible nodes of one type, by node id."""

from dataclasses import dataclass

import numpy as np

from telha_planner.columns.view import View
from telha_planner.core.model import Int64


@dataclass(frozen=True, slots=True)
class _Ordered:
    places: Int64

    @property
    def nbytes(self) -> int:
        return self.places.nbytes


def find(view: View, node_type: str) -> Int64:
    """Places of the nodes of *node_type*, by node id."""
    code = view.columns.versions.types.get(node_type)
    if code is None:
        return np.empty(0, np.int64)
    kept: _Ordered | None = view.memo.get(("type", code))
    if kept is None:
        places = np.flatnonzero(view.type == code)
        order = np.lexsort((view.lo[places], view.hi[places]))
        view.memo["type", code] = kept = _Ordered(places[order])
    return kept.places

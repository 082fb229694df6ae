"""
From the parts of a node to its similarity, docs/scoring.md section 4.

Scores are computed for a chosen set of places (roots, what expansion reached, and their neighbours), but each value
is a function of what is visible, never of which other nodes were chosen.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telha_planner.columns.ranking import union
from telha_planner.columns.view import View
from telha_planner.core.model import Float64, Int64

from .ports import Scoring
from .semantic import Semantic

SCALE_NODES = 64
"""The best similarity is sought among so many best nodes of either part."""

WINDOW = "window"
"""Type of the nodes that join several passages."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Per chosen place: semantic(n), lexical(n) and similarity(n), each in [0, 1]."""

    semantic: Float64
    lexical: Float64
    similarity: Float64


def similarity(
    view: View,
    places: Int64,
    foremost: Int64,
    lexical: Float64 | None,
    semantic: Semantic | None,
    scoring: Scoring,
) -> Parts:
    """
    Score *places*.

    Args:
        view: What is visible.
        places: Ascending, distinct.
        foremost: The best `SCALE_NODES` of either part, among which the greatest g is sought.
        lexical: BM25 of every place of the view; None without a question.
        semantic: None without a vector.
        scoring: The constants.
    """
    chosen = union(places, foremost)
    owner, neighbour = neighbours(view, chosen)
    every = union(chosen, neighbour)
    semantic_part = np.zeros(len(every)) if semantic is None else semantic.part(every)
    lexical_part = np.zeros(len(every))
    if lexical is not None:
        greatest = float(lexical.max(initial=0.0))
        if greatest > 0.0:
            lexical_part = lexical[every] / greatest
    share = scoring.semantic_share if lexical is not None else 1.0
    if semantic is None:
        share = 0.0
    base = share * semantic_part + (1.0 - share) * lexical_part

    own = base[np.searchsorted(every, chosen)]
    beside = np.zeros(len(chosen))
    np.maximum.at(beside, owner, base[np.searchsorted(every, neighbour)])
    raised = own + scoring.neighbour_share * beside

    scale = raised[np.searchsorted(chosen, foremost)].max(initial=0.0)
    at, among = np.searchsorted(chosen, places), np.searchsorted(every, places)
    relative = np.minimum(1.0, raised[at] / scale) if scale > 0.0 else np.zeros(len(places))
    return Parts(semantic_part[among], lexical_part[among], sharpened(relative, scoring.sharpening))


def sharpened(values: Float64, power: int) -> Float64:
    """*values* to a power of two, by squaring."""
    while power > 1:
        values = values * values
        power //= 2
    return values


def is_window(view: View, places: Int64) -> npt.NDArray[np.bool_]:
    """Which of *places* are windows."""
    code = view.columns.versions.types.get(WINDOW)
    return np.zeros(len(places), bool) if code is None else view.type[places] == code


def neighbours(view: View, places: Int64) -> tuple[Int64, Int64]:
    """Pairs (index into *places*, place of a passage next to it in its source); windows have none."""
    passages = np.flatnonzero(~is_window(view, places))
    owner, _, beside = view.edges(places[passages], view.columns.edges.next_of_node)
    return passages[owner], beside

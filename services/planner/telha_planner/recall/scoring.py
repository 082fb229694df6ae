"""
From the parts of a node to its similarity, docs/scoring.md section 4.

Three things make a node similar: what it holds itself, what it and the passages next to it hold together, and what
else of its source was found.
Scores are computed for a chosen set of places (roots, what expansion reached, and their neighbours), but each value
is a function of what is visible, never of which other nodes were chosen.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telha_planner.columns.ranking import union
from telha_planner.columns.view import View
from telha_planner.core.fusion import sharpened
from telha_planner.core.model import Float64, Int64

from .candidates import spans_of
from .lexical import Lexical
from .ports import Scoring
from .semantic import ROUNDING, Semantic

FOREMOST = 64
"""So many best nodes of either part set the scale that all others are measured by."""

WINDOW = "window"
"""Type of the nodes that join several passages."""

_ROW_BITS = np.int64(32)


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
    lexical: Lexical | None,
    semantic: Semantic | None,
    scoring: Scoring,
) -> Parts:
    """
    Score *places*.

    Args:
        view: What is visible.
        places: Ascending, distinct.
        foremost: The best `FOREMOST` of either part, among which every greatest value is sought.
        lexical: None without a question.
        semantic: None without a vector.
        scoring: The constants.
    """
    every = union(places, foremost)
    leading = np.searchsorted(every, foremost)
    windows = is_window(view, every)
    share = scoring.semantic_share if lexical is not None else 1.0
    if semantic is None:
        share = 0.0
    semantic_part = np.zeros(len(every)) if semantic is None else semantic.part(every)
    lexical_part = np.zeros(len(every)) if lexical is None else lexical.part(every)
    own = share * semantic_part + (1.0 - share) * lexical_part

    words, meaning = _together(view, every, lexical, semantic)
    passages = leading[~windows[leading]]
    context = share * _relative(meaning, passages) + (1.0 - share) * _relative(words, passages)
    raised = own + scoring.context_weight * context
    if scoring.source_weight > 0.0:
        raised = np.where(raised > 0.0, raised + scoring.source_weight * _of_source(view, every, own, passages), 0.0)
    raised = np.where(windows, scoring.window_weight * raised, raised)

    among = np.searchsorted(every, places)
    relative = _relative(raised, leading)[among]
    return Parts(semantic_part[among], lexical_part[among], sharpened(relative, scoring.sharpening))


def is_window(view: View, places: Int64) -> npt.NDArray[np.bool_]:
    """Which of *places* are windows."""
    code = view.columns.versions.types.get(WINDOW)
    return np.zeros(len(places), bool) if code is None else view.type[places] == code


def _relative(values: Float64, leading: Int64) -> Float64:
    """*values* against the greatest of those at *leading*, at most 1; all 0 if that is."""
    greatest = values[leading].max(initial=0.0)
    return np.minimum(1.0, values / greatest) if greatest > 0.0 else np.zeros(len(values))


def _together(view: View, places: Int64, lexical: Lexical | None, semantic: Semantic | None) -> tuple[Float64, Float64]:
    """The greatest T, and the greatest C, over N(n) of each of *places*."""
    owner, beside = _neighbours(view, places)
    near = union(places, beside)
    fresh = np.flatnonzero(~_held(places, near))
    further_owner, further = _neighbours(view, near[fresh])
    all_places = union(near, further)
    # Of N(m) for every m in N(n): each m with itself, then with what is next to it, every pair once.
    of = np.concatenate((np.arange(len(near)), np.searchsorted(near, places)[owner], fresh[further_owner]))
    member = np.searchsorted(all_places, np.concatenate((near, beside, further)))
    pairs = union(of << _ROW_BITS | member)
    of, member = pairs >> _ROW_BITS, pairs & (1 << _ROW_BITS) - 1
    starts = np.searchsorted(of, np.arange(len(near)))

    words, meaning = np.zeros(len(near)), np.zeros(len(near))
    if lexical is not None:
        words = lexical.together(all_places, member, starts)
    if semantic is not None:
        above, having = semantic.rough(all_places)
        # Multiples of 2⁻³⁰ are added up without rounding, whatever their order.
        total, count = np.add.reduceat(above[member], starts), np.add.reduceat(having[member].astype(np.int64), starts)
        meaning = np.divide(total, count, out=meaning, where=count > 0)

    place_of = np.full(len(all_places), -1, np.int64)
    place_of[np.searchsorted(all_places, near)] = np.arange(len(near))
    around = _held(places, near)[of]
    member, starts = place_of[member[around]], np.searchsorted(of[around], np.searchsorted(near, places))
    if not len(places):
        return np.zeros(0), np.zeros(0)
    return np.maximum.reduceat(words[member], starts), np.maximum.reduceat(meaning[member], starts)


def _of_source(view: View, places: Int64, own: Float64, passages: Int64) -> Float64:
    """D: what the foremost *passages* of a node's source are worth together, against the best source."""
    found = spans_of(view, places)
    pairs = union(found.node << _ROW_BITS | view.columns.spans.source[found.span])
    node, source = pairs >> _ROW_BITS, pairs & (1 << _ROW_BITS) - 1
    sources, source = np.unique(source, return_inverse=True)
    worth = np.zeros(len(sources))
    counted = np.flatnonzero(np.isin(node, passages))
    np.add.at(worth, source[counted], np.rint(own[node[counted]] * ROUNDING) / ROUNDING)
    share = np.zeros(len(places))
    np.maximum.at(share, node, _relative(worth, np.arange(len(worth)))[source])
    return share


def _neighbours(view: View, places: Int64) -> tuple[Int64, Int64]:
    """Pairs (index into *places*, place of a passage next to it in its source); windows have none."""
    passages = np.flatnonzero(~is_window(view, places))
    owner, _, beside = view.edges(places[passages], view.columns.edges.next_of_node)
    return passages[owner], beside


def _held(some: Int64, among: Int64) -> npt.NDArray[np.bool_]:
    """Which of *among* are in *some*; both ascend."""
    if not len(some):
        return np.zeros(len(among), bool)
    held: npt.NDArray[np.bool_] = some[np.minimum(np.searchsorted(some, among), len(some) - 1)] == among
    return held

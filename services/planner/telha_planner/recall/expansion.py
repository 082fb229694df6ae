"""
Expansion: what can be reached from the roots over visible edges, and how much a path decays.

Both directions, breadth first, at most two hops. From one node only the `HUB_CAP` edges of lowest id are followed,
counted after visibility, so that what is hidden from a request cannot change what it sees.
"""

import numpy as np

from telha_planner.columns.ranking import union
from telha_planner.columns.view import View
from telha_planner.core.model import Float64, Int64

from .ports import HUB_CAP


def expand(view: View, roots: Int64, depth: int, hop_decay: float) -> tuple[Int64, Float64]:
    """
    Follow edges from *roots*.

    Args:
        view: What is visible.
        roots: Places, ascending and distinct.
        depth: Hops.
        hop_decay: Decay per hop; each edge's confidence multiplies it.

    Returns:
        Places, roots included, ascending; and each one's greatest decay over all paths, 1 for roots.
    """
    reached, decay = roots, np.ones(len(roots))
    frontier, carried = roots, decay
    for _ in range(depth):
        owner, edge, place = _followed(view, frontier)
        arriving = carried[owner] * (hop_decay * view.columns.edges.confidence[edge])
        merged = union(reached, place)
        best = np.full(len(merged), -1.0)
        best[np.searchsorted(merged, reached)] = decay
        before = best.copy()
        np.maximum.at(best, np.searchsorted(merged, place), arriving)
        better = best > before
        reached, decay = merged, best
        # Only what has just been reached, or reached better, can lead on to something new.
        frontier, carried = merged[better], best[better]
    return reached, decay


def _followed(view: View, places: Int64) -> tuple[Int64, Int64, Int64]:
    """(index into *places*, row of the edge, place at its other end) of every edge followed."""
    edges = view.columns.edges
    owner, row, place = view.edges(places, edges.of_node)
    degree = np.bincount(owner, minlength=len(places))
    if degree.max(initial=0) > HUB_CAP:
        order = np.lexsort((edges.lo[row], edges.hi[row], owner))
        owner, row, place = owner[order], row[order], place[order]
        rank = np.arange(len(owner)) - (np.cumsum(degree) - degree)[owner]
        within = rank < HUB_CAP
        owner, row, place = owner[within], row[within], place[within]
    return owner, row, place

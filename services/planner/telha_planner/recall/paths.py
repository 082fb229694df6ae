"""
How expansion reached a node: of all paths with the greatest decay one of the fewest hops, for explain alone.

Rule: of equals the one with the lowest node ids, looked at from its end, so that storage order decides nothing.
"""

import numpy as np

from telha_planner.columns.view import View
from telha_planner.core.model import Float64, Int64

from .expansion import Steps, Trail

NOWHERE = -1
"""Fills a path behind its end."""


def paths(view: View, trail: Trail, roots: Int64, places: Int64, decay: Float64) -> tuple[Int64, Int64]:
    """
    The way to each of *places*, as `expand` went it.

    Args:
        view: What is visible.
        trail: What `expand` followed.
        roots: Places, ascending and distinct.
        places: What it returned.
        decay: What it returned with them.

    Returns:
        Hops, 0 for roots; and one row per place, the path from its root to itself as places, filled with `NOWHERE`.
    """
    walks = [[_best(view, steps) for steps in walk] for walk in trail]
    longest = max((len(walk) for walk in walks), default=0)
    hops = np.zeros(len(places), np.int64)
    path = np.full((len(places), longest + 1), NOWHERE, np.int64)
    path[:, 0] = places
    sought = ~np.isin(places, roots, assume_unique=True)
    for length in range(1, longest + 1):
        for walk in walks:
            if len(walk) < length:
                continue
            at = _at(walk[length - 1], places)
            last = walk[length - 1]
            rows = np.flatnonzero(sought & (at >= 0))
            rows = rows[last.arriving[at[rows]] == decay[rows]]
            sought[rows] = False
            hops[rows] = length
            node = places[rows]
            for hop in reversed(range(length)):
                path[rows, hop + 1] = node
                node = walk[hop].origin[_at(walk[hop], node)]
            path[rows, 0] = node
    return hops, path


def _best(view: View, steps: Steps) -> Steps:
    """Of the steps to each place the one with the greatest decay, from the lowest node id; places ascend."""
    origin = steps.origin
    order = np.lexsort((view.lo[origin], view.hi[origin], -steps.arriving, steps.place))
    place = steps.place[order]
    first = order[np.append(True, place[1:] != place[:-1])[: len(place)]]
    return Steps(origin[first], steps.place[first], steps.carried[first], steps.arriving[first])


def _at(steps: Steps, places: Int64) -> Int64:
    """Where *steps*, one per place, lead to *places*; −1 where they do not."""
    if not len(steps.place):
        return np.full(len(places), -1, np.int64)
    at = np.minimum(np.searchsorted(steps.place, places), len(steps.place) - 1)
    return np.where(steps.place[at] == places, at, -1)

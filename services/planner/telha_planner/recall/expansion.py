"""
Expansion: what can be reached from the roots over visible edges, and how much a path decays.

Both directions, breadth first, at most two hops; from passage to passage always two, since what lies two passages away
has helped to find a passage. From one node only the `HUB_CAP` edges of lowest id are followed, counted after
visibility, so that what is hidden from a request cannot change what it sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telha_planner.columns.lists import Lists
from telha_planner.columns.ranking import union
from telha_planner.columns.view import View
from telha_planner.core.model import Float64, Int64, UInt64

from .ports import HUB_CAP

_GREATEST = np.uint64(2**64 - 1)


@dataclass(frozen=True, slots=True)
class Steps:
    """
    The edges that one hop followed; columns of equal length.

    Attributes:
        origin, place: Places at their two ends.
        carried: Decay at *origin*.
        arriving: Decay at *place* of the path that leads over this edge.
    """

    origin: Int64
    place: Int64
    carried: Float64
    arriving: Float64


Trail = list[list[Steps]]
"""Every walk, hop by hop; a walk goes on from where its hop before led."""


def expand(view: View, roots: Int64, depth: int, hop_decay: float, trail: Trail | None = None) -> tuple[Int64, Float64]:
    """
    Follow edges from *roots*.

    Args:
        view: What is visible.
        roots: Places, ascending and distinct.
        depth: Hops; 0 reaches nothing.
        hop_decay: Decay per hop; each edge's confidence multiplies it.
        trail: Is given what was followed, if somebody wants to know; `paths.py` reads it.

    Returns:
        Places, roots included, ascending; and each one's greatest decay over all paths, 1 for roots.
    """
    edges = view.columns.edges
    reached, decay = _walked(view, roots, [edges.of_node] * depth, hop_decay, trail)
    if depth == 1:
        beside, along = _walked(view, roots, [edges.next_of_node] * 2, hop_decay, trail)
        return _merged(reached, decay, beside, along)
    return reached, decay


def _walked(
    view: View, roots: Int64, hops: Sequence[Lists], hop_decay: float, trail: Trail | None
) -> tuple[Int64, Float64]:
    walk: list[Steps] = []
    if trail is not None:
        trail.append(walk)
    reached, decay = roots, np.ones(len(roots))
    frontier, carried = reached, decay
    for lists in hops:
        owner, edge, place = _followed(view, frontier, lists)
        before, known = reached, decay
        arriving = carried[owner] * (hop_decay * view.columns.edges.confidence[edge])
        if trail is not None:
            walk.append(Steps(frontier[owner], place, carried[owner], arriving))
        reached, decay = _merged(before, known, place, arriving)
        # Only what has just been reached, or reached better, can lead on to something new.
        better = np.ones(len(reached), bool)
        at = np.searchsorted(reached, before)
        better[at] = decay[at] > known
        frontier, carried = reached[better], decay[better]
    return reached, decay


def _merged(reached: Int64, decay: Float64, places: Int64, arriving: Float64) -> tuple[Int64, Float64]:
    """What was *reached* (ascending, distinct) and *places*, each with its greatest decay."""
    merged = union(reached, places)
    best = np.full(len(merged), -1.0)
    best[np.searchsorted(merged, reached)] = decay
    np.maximum.at(best, np.searchsorted(merged, places), arriving)
    return merged, best


def _followed(view: View, places: Int64, lists: Lists) -> tuple[Int64, Int64, Int64]:
    """(index into *places*, row of the edge, place at its other end) of every edge of *lists* followed."""
    edges = view.columns.edges
    owner, row, place = view.edges(places, lists)
    degree = np.bincount(owner, minlength=len(places))
    if degree.max(initial=0) > HUB_CAP:
        kept = _lowest_ids(edges.hi[row], edges.lo[row], owner, degree)
        owner, row, place = owner[kept], row[kept], place[kept]
    return owner, row, place


def _lowest_ids(hi: UInt64, lo: UInt64, owner: Int64, degree: Int64) -> Int64:
    """Indices of each owner's `HUB_CAP` edges of lowest id."""
    # Ids are nearly always uniform, so a bound on the upper half spares sorting all edges of a large hub. Where it
    # leaves an owner too few, that owner's edges are all sorted.
    room = 3 * HUB_CAP
    bound = np.full(len(degree), _GREATEST, np.uint64)
    large = degree > room
    bound[large] = _GREATEST // degree[large].astype(np.uint64) * np.uint64(room)
    likely = hi <= bound[owner]
    enough = np.bincount(owner[likely], minlength=len(degree)) >= np.minimum(degree, HUB_CAP)
    chosen = np.flatnonzero(likely | ~enough[owner])
    owner = owner[chosen]
    order = np.lexsort((lo[chosen], hi[chosen], owner))
    owner = owner[order]
    first = np.searchsorted(owner, owner)
    return chosen[order[np.arange(len(owner)) - first < HUB_CAP]]

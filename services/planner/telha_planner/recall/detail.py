"""
What recall knows of each node that it looked at: the seam between recall and whoever explains a plan.

It is made on request alone (`recall_in_detail`). Rule 1: nothing is computed a second time that decides; scores, parts
and decays are those that the pool was made of. Rule 2: of a node that was not looked at, `others` says what it would
have been; each value is a function of what is visible, never of which other nodes were found.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from telha_planner.columns.view import View
from telha_planner.core.model import Float64, Int64, UInt8
from telha_planner.core.request import Leg

from .floor import Evidence
from .legs import Legs, packable
from .ports import RecallQuery
from .scoring import Components

LEGS = (Leg.STRUCTURED, Leg.SEMANTIC, Leg.LEXICAL)
"""The legs in the order of the columns of `Scored.rank` and of the bits of `RecallDetail.found_by`."""


class Fate(IntEnum):
    """What recall decided about a node, in the order in which it decides; every node that it looked at has one."""

    OFFERED = 0
    """It is in the pool, unless it rests on no span."""
    ZERO_SCORE = 1
    EXCLUDED = 2
    """Every span of it was given before (`given`)."""
    WINDOW_TOO_LARGE = 3
    POORER_WINDOW = 4
    """A window that overlaps a better one."""
    POOL_CAPPED = 5
    BELOW_FLOOR = 6


@dataclass(frozen=True, slots=True)
class Scored:
    """
    Some nodes, scored; columns of equal length.

    Attributes:
        places: Their places in the view, ascending.
        node_no: Their numbers in the store.
        score: S(n), in [0, 1].
        decay: Decay of the path, in [0, 1]; 1 for roots.
        similarity: similarity(n), sharpened; None where there is neither a question nor a vector.
        components: What similarity is made of; None with it.
        evidence: The strength of evidence; None where no floor was applied.
        structured: Whether the structured leg found it, which makes S 1.
        rank: One column per leg of `LEGS`: the node's place, from 1, among all that the leg could find, be it more than
            `top_k`; windows that could not be packed are not among them. 0: the leg did not run or could not find it
            (nothing matches, no vector, too far for the rescored, not examined by `where`).
    """

    places: Int64
    node_no: Int64
    score: Float64
    decay: Float64
    similarity: Float64 | None
    components: Components | None
    evidence: Evidence | None
    structured: npt.NDArray[np.bool_]
    rank: Int64

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True)
class RecallDetail:
    """
    Every node that recall looked at: found by a leg or reached from there, in the pool or not.

    Attributes:
        view: What was visible; places are places in it.
        query: What was asked.
        nodes: Their scores.
        found_by: Bits by `LEGS`, the first the lowest: the legs that found the node among their `top_k` (`find_limit`);
            0 for what only expansion reached.
        hops: Length of the path; 0 for what a leg found.
        path: One row per node: places from the root to the node itself, filled with −1.
        fate: One `Fate` per node.
        others: Scores any visible nodes (places, ascending and distinct) as if a leg had found them: decay 1, hops 0.
            They count in nothing else.
        likeness: The greater of the parts that words and vector have in any visible nodes, roughly and for little: what
            to score first where there are too many.
    """

    view: View
    query: RecallQuery
    nodes: Scored
    found_by: UInt8
    hops: Int64
    path: Int64
    fate: UInt8
    others: Callable[[Int64], Scored]
    likeness: Callable[[Int64], Float64]


def found_by(legs: Legs, places: Int64) -> UInt8:
    """Which legs found each of *places* (ascending, distinct), as bits by `LEGS`."""
    bits = np.zeros(len(places), np.uint8)
    for bit, found in enumerate((legs.structured, legs.semantic, legs.lexical)):
        bits[np.isin(places, found, assume_unique=True)] |= np.uint8(1 << bit)
    return bits


def ranks(view: View, query: RecallQuery, legs: Legs, places: Int64) -> Int64:
    """`Scored.rank` of *places* (ascending, distinct)."""
    rank = np.zeros((len(places), len(LEGS)), np.int64)
    rank[:, 0] = _positions(legs.structured, places)
    if legs.vectors is not None and Leg.SEMANTIC in query.legs:
        every = legs.vectors.leg(len(legs.vectors.places))
        rank[:, 1] = _positions(packable(view, query, every), places)
    if legs.words is not None and Leg.LEXICAL in query.legs:
        rank[:, 2] = _ranks_by_words(view, query, legs.words.scores, places)
    return rank


def _ranks_by_words(view: View, query: RecallQuery, scores: Float64, places: Int64) -> Int64:
    """The rank of each of *places* among all that match, best first, ties by node id."""
    rank = np.zeros(len(places), np.int64)
    matching = np.flatnonzero(scores[places] > 0.0)
    matching = matching[np.isin(places[matching], packable(view, query, places[matching]), assume_unique=True)]
    if not len(matching):
        return rank
    own = scores[places[matching]]
    above = packable(view, query, np.flatnonzero(scores >= own.min()))
    # Sorting values alone is several times faster than sorting places by three keys; the few ties are told apart after.
    values = np.sort(scores[above])
    left, right = np.searchsorted(values, own), np.searchsorted(values, own, side="right")
    rank[matching] = 1 + len(values) - right
    equals = above[np.isin(scores[above], own[right - left > 1])]
    equals = equals[np.lexsort((view.lo[equals], view.hi[equals], -scores[equals]))]
    _, first, which = np.unique(-scores[equals], return_index=True, return_inverse=True)
    at, among = _among(places[matching], equals)
    rank[matching[at]] += among - first[which[among]]
    return rank


def _positions(ranked: Int64, places: Int64) -> Int64:
    """The position from 1 in *ranked* (distinct) of each of *places* (ascending, distinct); 0 for those not in it."""
    positions = np.zeros(len(places), np.int64)
    at, among = _among(places, ranked)
    positions[at] = among + 1
    return positions


def _among(places: Int64, others: Int64) -> tuple[Int64, Int64]:
    """Of what *places* (ascending, distinct) and *others* (distinct) share, the indices into both."""
    if not len(places):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    at = np.minimum(np.searchsorted(places, others), len(places) - 1)
    among = np.flatnonzero(places[at] == others)
    return at[among], among


def likeness(legs: Legs, places: Int64) -> Float64:
    """`RecallDetail.likeness` of *places*, in any order."""
    found = np.zeros(len(places))
    if legs.words is not None:
        found = legs.words.part(places)
    if legs.vectors is not None and legs.vectors.greatest > 0.0:
        found = np.maximum(found, legs.vectors.rough(places)[0] / legs.vectors.greatest)
    return found

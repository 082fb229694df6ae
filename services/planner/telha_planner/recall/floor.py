"""
How strong the evidence is by itself, and what is too weak to be an answer: docs/scoring.md section 6.

Similarity says which of the nodes found is best, evidence whether the best is any good: it is measured against the
question alone, so that a question to which memory holds nothing relevant gets little or nothing.
Rule 1: evidence is a function of the question and of what is visible, never of which other nodes were found.
Rule 2: a floor takes away and changes nothing else; a higher one takes away no less.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telha_planner.core.model import Bools, Float64, Int64

from .lexical import Lexical, inverse_document_frequency
from .neighbourhood import Surroundings
from .semantic import Semantic

LEAST_DOCUMENTS = 4096
"""A memory counts as no smaller than this where words are weighed: in a small one, every word would be a common one."""

NOISE = 0.1
"""So near, from the baseline to equality, is the best of many passages that have nothing to do with a question."""

ORDINARY_NODES = 1024
BY_CHANCE = 0.15
"""Among twice as many nodes, the best by chance is so much of what it is among `ORDINARY_NODES` better."""

_LOGARITHM_UNIT = 2.0**30

SHARE_OF_BEST = 1.5
"""So many times the floor is the share of the best evidence that a node needs."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    What speaks for some nodes.

    Attributes:
        around: The greatest e over N(n) of each node, in [0, 1].
        greatest: The greatest e over F.
        best: E, the same against what chance brings in a memory of this size.
    """

    around: Float64
    greatest: float
    best: float

    def reaches(self, floor: float) -> Bools:
        """Which nodes a floor of *floor* > 0 leaves in."""
        if self.best < floor:
            return np.zeros(len(self.around), bool)
        enough: Bools = self.around >= min(1.0, SHARE_OF_BEST * floor) * self.greatest
        return enough

    def take(self, chosen: npt.NDArray[np.generic]) -> "Evidence":
        """The same of the nodes *chosen*."""
        return Evidence(self.around[chosen], self.greatest, self.best)


def evidence(
    nodes: int,
    within: Surroundings,
    foremost: Int64,
    lexical: Lexical | None,
    semantic: Semantic | None,
    share: float,
) -> Evidence:
    """
    Measure some nodes.

    Args:
        nodes: How many are visible.
        within: The surroundings of those that are measured.
        foremost: Places of F, which are among them.
        lexical: None without a question.
        semantic: None without a vector.
        share: λ'.
    """
    near = within.near
    if not len(near.starts):
        return Evidence(np.zeros(0), 0.0, 0.0)
    covered = np.zeros(len(near.places)) if lexical is None else _covered(within, lexical)
    close = np.zeros(len(near.places)) if semantic is None else _close(near.places, semantic)
    if lexical is not None and semantic is not None and not any(term.itself for term in lexical.terms):
        # Words of which memory holds none, as those of another language, say nothing of what it holds.
        share = 1.0
    found = share * close + (1.0 - share) * covered
    greatest = float(found[np.searchsorted(near.places, foremost)].max(initial=0.0))
    return Evidence(np.maximum.reduceat(found[near.member], near.starts), greatest, greatest / _chance(nodes))


def _chance(nodes: int) -> float:
    """How much better the best by chance is among *nodes* than among `ORDINARY_NODES`, at least 1."""
    doublings = math.log2(max(nodes, ORDINARY_NODES) / ORDINARY_NODES)
    return 1.0 + BY_CHANCE * (round(doublings * _LOGARITHM_UNIT) / _LOGARITHM_UNIT)


def _close(places: Int64, semantic: Semantic) -> Float64:
    """close(n): how far a node's cosine lies above what chance brings, as a share of how far it could."""
    if semantic.room <= 0.0:
        return np.zeros(len(places))
    above = np.maximum(0.0, semantic.rough(places)[0] / semantic.room - NOISE)
    return np.minimum(1.0, above / (1.0 - NOISE))


def _covered(within: Surroundings, lexical: Lexical) -> Float64:
    """cover(n): the share of the question's telling words, by weight, that a node and those next to it hold."""
    documents = lexical.documents
    most = max(documents, LEAST_DOCUMENTS)
    held, whole = np.zeros(len(within.near.places)), 0.0
    for (term, greatest), telling in zip(within.held, lexical.telling, strict=True):
        if not telling:
            continue
        weight = inverse_document_frequency(most, term.holding)
        whole += weight
        if term.holding:
            held += weight * (greatest / inverse_document_frequency(documents, term.holding))
    most_held = lexical.saturation * whole
    return np.minimum(1.0, held / most_held) if most_held > 0.0 else held

"""
What passages hold together with those next to them: T(n), C(n) and their greatest over N(n), docs/scoring.md section 4.

Rule: every value is a function of what is visible, exact where it is a sum; which other nodes are looked at, and in
what order, changes no bit.
"""

from dataclasses import dataclass

import numpy as np

from telha_planner.columns.ranking import union
from telha_planner.columns.view import View
from telha_planner.core.model import Float64, Int64

from .candidates import is_window
from .lexical import Lexical, Term
from .semantic import Semantic

PAIR_BITS = np.int64(32)
"""Two rows as one integer, the first above so many bits: sorting and telling apart pairs takes one column."""


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """
    N(n) of some nodes, one after the other.

    Attributes:
        places: All members, ascending and distinct.
        member: Members by their index in *places*; one node's stand together, itself among them, each once.
        starts: Where each node's begin in *member*.
    """

    places: Int64
    member: Int64
    starts: Int64


@dataclass(frozen=True, slots=True)
class Surroundings:
    """
    What is within two steps of some nodes.

    Attributes:
        near: N(n) of each node.
        around: N(m) of each m in those, in the order of `near.places`.
        held: Per term of the question, in order, its greatest contribution over each N(m); empty without a question.
    """

    near: Neighbourhoods
    around: Neighbourhoods
    held: tuple[tuple[Term, Float64], ...]


def surroundings(view: View, places: Int64, lexical: Lexical | None) -> Surroundings:
    """The surroundings of *places* (ascending, distinct)."""
    near = neighbourhoods(view, places)
    around = neighbourhoods(view, near.places)
    if lexical is None:
        return Surroundings(near, around, ())
    return Surroundings(near, around, tuple(lexical.greatest_by_term(around.places, around.member, around.starts)))


def greatest_together(
    within: Surroundings, lexical: Lexical | None, semantic: Semantic | None
) -> tuple[Float64, Float64]:
    """
    The greatest T, and the greatest C, over N(n) of each node.

    Args:
        within: Of the nodes.
        lexical: None leaves T at 0.
        semantic: None leaves C at 0.
    """
    near, around = within.near, within.around
    if not len(near.starts):
        return np.zeros(0), np.zeros(0)
    words, meaning = np.zeros(len(near.places)), np.zeros(len(near.places))
    if lexical is not None:
        words = lexical.together(within.held, len(near.places))
    if semantic is not None:
        above, having = semantic.rough(around.places)
        # Multiples of 2⁻³⁰ are added up without rounding, whatever their order.
        total = np.add.reduceat(above[around.member], around.starts)
        count = np.add.reduceat(having[around.member].astype(np.int64), around.starts)
        meaning = np.divide(total, count, out=meaning, where=count > 0)
    return np.maximum.reduceat(words[near.member], near.starts), np.maximum.reduceat(meaning[near.member], near.starts)


def neighbourhoods(view: View, places: Int64) -> Neighbourhoods:
    """N(n) of each of *places* (ascending, distinct): the node, and unless it is a window, the passages next to it."""
    passages = np.flatnonzero(~is_window(view, places))
    owner, _, beside = view.edges(places[passages], view.columns.edges.next_of_node)
    every = union(places, beside)
    of = np.concatenate((np.arange(len(places)), passages[owner]))
    pairs = union(of << PAIR_BITS | np.searchsorted(every, np.concatenate((places, beside))))
    return Neighbourhoods(every, second(pairs), np.searchsorted(pairs, np.arange(len(places)) << PAIR_BITS))


def first(pairs: Int64) -> Int64:
    """The first row of each of *pairs*."""
    rows: Int64 = pairs >> PAIR_BITS
    return rows


def second(pairs: Int64) -> Int64:
    """The second row of each of *pairs*."""
    rows: Int64 = pairs & ((1 << PAIR_BITS) - 1)
    return rows

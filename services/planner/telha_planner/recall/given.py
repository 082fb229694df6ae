"""
What earlier plans gave, as recall sees it (docs/continuation.md).

Such spans do not enter the pool, and a node of nothing else takes nobody's place in a leg.
Rule 1: it changes no score. What was found before still says where else to look: expansion starts from it, and what is
best is measured with it. Rule 2: without exclusions nothing here costs anything.
"""

from dataclasses import dataclass

import numpy as np

from telha_planner.columns.view import View
from telha_planner.core.exclusion import Exclusions
from telha_planner.core.model import Bools, Int32, Int64
from telha_planner.core.neighbours import NONE

from .candidates import spans_of


@dataclass(frozen=True, slots=True)
class Given:
    """
    The spans that were given before.

    Attributes:
        exclusions: None where nothing is left out.
    """

    view: View
    exclusions: Exclusions | None

    def __bool__(self) -> bool:
        return self.exclusions is not None

    def repeated(self, span: Int32) -> Int64:
        """Of each row of the ledger, the number in `exclusions.spans` of the given span that it repeats, or `NONE`."""
        if self.exclusions is None:
            return np.full(len(span), NONE, np.int64)
        spans, sources = self.view.columns.spans, self.view.columns.sources
        source = spans.source[span]
        return self.exclusions.repeated(
            sources.hi[source], sources.lo[source], spans.version[span], spans.start[span], spans.end[span]
        )

    def has_new(self, places: Int64) -> Bools:
        """Which of *places* have a span that was not given, or no span at all."""
        if self.exclusions is None or not len(places):
            return np.ones(len(places), bool)
        found = spans_of(self.view, places)
        given = self.repeated(found.span) != NONE
        every = np.bincount(found.node, minlength=len(places))
        left = np.bincount(found.node[~given], minlength=len(places))
        new: Bools = (every == 0) | (left > 0)
        return new

    def count_new(self, places: Int64) -> int:
        """How many of *places* have something new."""
        return int(np.count_nonzero(self.has_new(places))) if self else len(places)

    def first(self, places: Int64, k: int) -> Int64:
        """The first of *places*, up to the *k*-th that has something new; those between take nobody's place."""
        if self.exclusions is None:
            return places[:k]
        new = np.flatnonzero(self.has_new(places))
        return places if len(new) < k else places[: new[k - 1] + 1]

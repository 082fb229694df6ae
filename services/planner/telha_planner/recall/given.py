"""
What earlier plans gave, as recall sees it (docs/continuation.md).

Such spans do not enter the pool, and a node of nothing else takes nobody's place in a leg.
Rule 1: it changes no score. What was found before still says where else to look: expansion starts from it, and what is
best is measured with it. Rule 2: without exclusions nothing here costs anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telha_planner.columns.ids import halves
from telha_planner.columns.projected import TenantColumns
from telha_planner.columns.view import View
from telha_planner.core.exclusion import Exclusions
from telha_planner.core.model import Bools, Int32, Int64, SpanRef
from telha_planner.core.neighbours import NONE

from .candidates import spans_of
from .subjects import read_spaces


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


def of_spaces(columns: TenantColumns, spaces: Sequence[str] | None, given: Sequence[SpanRef]) -> tuple[SpanRef, ...]:
    """
    Those of *given* whose source some node of *spaces* ever rested on; None means every space.

    The others repeat nothing that can be found there. A record of what was excluded so names no coordinate of a space
    that was not read: whoever may read that trace may not read those.
    """
    if spaces is None:
        return tuple(given)
    links, spans, sources = columns.links, columns.spans, columns.sources
    within = read_spaces(columns, tuple(spaces))[columns.versions.space[links.version]]
    found = np.unique(spans.source[links.span[within]])
    known = set(zip(sources.hi[found].tolist(), sources.lo[found].tolist(), strict=True))
    hi, lo = halves([span.source_id for span in given])
    return tuple(
        span for span, half in zip(given, zip(hi.tolist(), lo.tolist(), strict=True), strict=True) if half in known
    )

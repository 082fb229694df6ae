"""
When: what began on other days than those that the question names, docs/scoring.md section 4.

A node's version says since when it is true: a turn since it was said, a document since it was written or stored. Of a
question with a date, what began on other days is worth less, if something that was found began on these.
"""

from collections.abc import Iterable

import numpy as np

from telha_planner.columns.view import View
from telha_planner.core.model import Bools, Int64
from telha_planner.core.request import INT64_MIN
from telha_planner.models.dates import EPOCH, Days

_HOUR = 3_600_000_000
_DAY = 24 * _HOUR
_BEFORE = 14 * _HOUR
"""So long before a day begins in UTC it begins somewhere on earth, µs."""
_BEHIND = 12 * _HOUR + 7 * _DAY
"""Somewhere it ends later; and what happens on a day is told within a week, µs."""


class Dates:
    """
    The days that one question names, as instants.

    Attributes:
        named: Whether it names any.
    """

    def __init__(self, days: Iterable[Days]) -> None:
        self._spans = [
            ((one.first - EPOCH).days * _DAY - _BEFORE, (one.behind - EPOCH).days * _DAY + _BEHIND) for one in days
        ]
        self.named = bool(self._spans)

    def elsewhere(self, view: View, places: Int64, passages: Int64) -> Bools:
        """
        Which of *places* began on other days; none if none of the *passages* began on these.

        Args:
            view: What is visible.
            places: Places.
            passages: P, as indices into *places*.
        """
        began = view.columns.versions.valid_from[view.version[places]]
        within = np.zeros(len(places), bool)
        for first, behind in self._spans:
            within |= (first <= began) & (began < behind)
        if not within[passages].any():
            return np.zeros(len(places), bool)
        # What is true since ever has no day of its own.
        others: Bools = ~within & (began != INT64_MIN)
        return others

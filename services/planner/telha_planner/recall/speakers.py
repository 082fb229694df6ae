"""
Who speaks: how much of what a node says is by somebody whom the question names, docs/scoring.md section 4.

Ingestion stores with a turn the ids of its speaker's name (`models/speakers.py`); here the terms of the question are
looked up under those ids. Shares are whole numbers, so their sums are exact.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from telha_planner.columns.view import View
from telha_planner.core.model import Float64, Int32, Int64
from telha_planner.models.speakers import speaker_id

_KEPT_BYTES = 16 << 20
"""Most bytes of looked-up terms kept with a view."""
_TERM_BYTES = 200
"""What a term costs that names nobody."""


@dataclass(slots=True)
class _Holders:
    """Places (ascending) and shares by term id; None where a term names nobody."""

    by_term: dict[int, tuple[Int32, Int32] | None]
    nbytes: int


class Speakers:
    """
    Whom the terms of one question name.

    Attributes:
        named: Whether they name anybody who is visible.
    """

    def __init__(self, view: View, terms: Iterable[int]) -> None:
        kept: _Holders = view.memo.setdefault("speakers", _Holders({}, 0))
        self._held = [found for term in terms if (found := _holders(view, term, kept)) is not None]
        self.named = bool(self._held)

    def shares(self, places: Int64) -> Float64:
        """Of each of *places* the shares of what the terms name, added up."""
        total = np.zeros(len(places), np.int64)
        for holders, shares in self._held:
            at = np.minimum(np.searchsorted(holders, places), len(holders) - 1)
            total += np.where(holders[at] == places, shares[at], 0)
        return total.astype(np.float64)


def _holders(view: View, term: int, kept: _Holders) -> tuple[Int32, Int32] | None:
    if term in kept.by_term:
        return kept.by_term[term]
    if kept.nbytes > _KEPT_BYTES:
        kept.by_term.clear()
        kept.nbytes = 0
    places, shares = view.occurrences(speaker_id(term))
    found = None
    if len(places):
        order = np.argsort(places)
        found = places[order], shares[order]
        kept.nbytes += found[0].nbytes + found[1].nbytes
    kept.by_term[term] = found
    kept.nbytes += _TERM_BYTES
    return found

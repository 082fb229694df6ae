"""
The lexical leg: BM25 over what is visible, docs/scoring.md section 2.

Rule 1: contributions of terms are added in ascending order of term id, one after the other, so that a sum has one
value.
Rule 2: statistics are those of the view; a replay of an old plan does not see today's corpus.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from telha_planner.columns.view import View
from telha_planner.core.fusion import fuse, sharpened
from telha_planner.core.model import Float64, Int32, Int64
from telha_planner.models.analysis import occurrences
from telha_planner.models.stop_words import question_terms

from .ports import Scoring

_LOGARITHM_UNIT = 2.0**30
_DENSE_SHARE = 4
"""A term that more than one in so many nodes hold is kept as a full column: adding it needs no index."""

_FEW = 16
"""Forms that fewer than one in so many nodes hold are added up by sorting, others in a full column."""

_KEPT_BYTES = 48 << 20
"""Most bytes of contributions kept with a view."""


Forms = Mapping[int, tuple[int, ...]]
"""Of terms, by id, the ids of their other forms, as `models/word_forms.py` gives them."""

NO_FORMS: Forms = {}


class Term(NamedTuple):
    """
    What a term contributes.

    Attributes:
        places: Who holds it or a form of it; None where *values* has one for every place of the view.
        values: part(t, n) of docs/scoring.md section 2.
        holding: df(t): how many hold it, or its forms if none holds it.
        itself: How many hold it.
    """

    places: Int32 | None
    values: Float64
    holding: int
    itself: int


@dataclass(slots=True)
class _Contributions:
    """The terms asked for lately, by id, and what they are made with."""

    norm: Float64
    documents: int
    by_term: dict[tuple[int, tuple[int, ...]], Term]
    nbytes: int


class Lexical:
    """
    The lexical part of one request.

    Attributes:
        scores: BM25 of every place of the view; scores below the floor are 0.
        greatest: The greatest of them.
        documents: N.
        terms: Those of the question, by id, unknown ones included.
        telling: Which of *terms*, in their order, evidence is measured by.
        saturation: k1 + 1, which idf times a saturated frequency cannot exceed.
    """

    def __init__(
        self,
        view: View,
        terms: Iterable[int],
        scoring: Scoring,
        forms: Forms = NO_FORMS,
        telling: Collection[int] | None = None,
    ) -> None:
        kept = _kept(view, scoring)
        self._floor = scoring.min_bm25
        self.documents = kept.documents
        self.saturation = scoring.bm25_k1 + 1.0
        ids = sorted(terms)
        self.terms = [_contribution(view, term, forms.get(term, ()), scoring, kept) for term in ids]
        self.telling = [telling is None or term in telling for term in ids]
        scores = np.zeros(len(view))
        for places, values, *_ in self.terms:
            if places is None:
                scores += values
            else:
                scores[places] += values
        self.scores: Float64 = self._floored(scores)
        self.greatest = float(self.scores.max(initial=0.0))

    def part(self, places: Int64) -> Float64:
        """lexical(n) of *places*, in [0, 1]."""
        return self.scores[places] / self.greatest if self.greatest > 0.0 else np.zeros(len(places))

    def together(self, held: Iterable[tuple[Term, Float64]], groups: int) -> Float64:
        """T of *groups* groups of places: what `greatest_by_term` says of them, added up in the order of terms."""
        total = np.zeros(groups)
        for _, greatest in held:
            total += greatest
        return self._floored(total)

    def greatest_by_term(self, places: Int64, member: Int64, starts: Int64) -> Iterator[tuple[Term, Float64]]:
        """
        The greatest contribution of each term within groups of places.

        Args:
            places: Ascending, distinct.
            member: The groups one after the other, as indices into *places*.
            starts: Where each group begins in *member*; none is empty.
        """
        if not len(starts):
            return
        place_of = np.full(len(self.scores), -1, np.int32)
        place_of[places] = np.arange(len(places), dtype=np.int32)
        for term in self.terms:
            holders, values, *_ = term
            if holders is None:
                own = values[places]
            else:
                own = np.zeros(len(places))
                at = place_of[holders]
                held = at >= 0
                own[at[held]] = values[held]
            yield term, np.maximum.reduceat(own[member], starts)

    def _floored(self, scores: Float64) -> Float64:
        if self._floor > 0:
            scores[scores < self._floor] = 0.0
        return scores


def inverse_document_frequency(documents: int, holding: int) -> float:
    """The idf > 0 of a term that *holding* of *documents* hold; the logarithm is rounded to a multiple of 2⁻³⁰."""
    logarithm = math.log(1.0 + ((documents - holding) + 0.5) / (holding + 0.5))
    return max(1.0, float(round(logarithm * _LOGARITHM_UNIT))) / _LOGARITHM_UNIT


def score_texts(question: str, texts: Sequence[str], scoring: Scoring) -> Float64:
    """
    S of each of *texts* for *question*, the texts being the whole corpus (S11, docs/scoring.md section 8).

    Returns:
        One value in [0, 1] per text; 0 where no term matches.
    """
    wanted = sorted(question_terms(question))
    terms, found = occurrences(texts, wanted)
    norm, documents = _norms(np.array(terms, np.int64), scoring)
    scores = np.zeros(len(texts))
    for tf in np.array(found, np.int64).reshape(len(texts), len(wanted)).T:
        holders = np.flatnonzero(tf)
        if len(holders):
            idf = inverse_document_frequency(documents, len(holders))
            scores[holders] += _saturated(idf, tf[holders], norm[holders], scoring)
    scores[scores < scoring.min_bm25] = 0.0
    greatest = float(scores.max(initial=0.0))
    if greatest == 0.0:
        return scores
    return fuse(sharpened(scores / greatest, scoring.sharpening), np.ones(len(texts)), scoring.alpha)


def _kept(view: View, scoring: Scoring) -> _Contributions:
    key = ("bm25", scoring.bm25_k1, scoring.bm25_b, scoring.form_weight)
    kept: _Contributions | None = view.memo.get(key)
    if kept is None:
        norm, documents = _norms(view.length, scoring)
        view.memo[key] = kept = _Contributions(norm, documents, {}, norm.nbytes)
    return kept


def _contribution(view: View, term: int, forms: tuple[int, ...], scoring: Scoring, kept: _Contributions) -> Term:
    if scoring.form_weight == 0.0:
        forms = ()
    found = kept.by_term.get((term, forms))
    if found is not None:
        return found
    places, tf = view.occurrences(term)
    values = np.empty(0)
    if len(places):
        idf = inverse_document_frequency(kept.documents, len(places))
        values = _saturated(idf, tf, kept.norm[places], scoring)
    holding = itself = len(places)
    if forms:
        every, together = _as_one(view, places, tf, forms)
        if int(together.sum()) > int(tf.sum()):
            idf = inverse_document_frequency(kept.documents, len(every))
            others = scoring.form_weight * _saturated(idf, together, kept.norm[every], scoring)
            at = np.searchsorted(every, places)
            others[at] = np.maximum(others[at], values)
            places, values, holding = every, others, holding or len(every)
    found = Term(places, values, holding, itself)
    if len(places) * _DENSE_SHARE > len(view):
        dense = np.zeros(len(view))
        dense[places] = values
        found = Term(None, dense, holding, itself)
    size = values.nbytes + places.nbytes + 8 * len(forms)
    if kept.nbytes + size > _KEPT_BYTES:
        kept.by_term.clear()
        kept.nbytes = kept.norm.nbytes
    kept.by_term[term, forms] = found
    kept.nbytes += size
    return found


def _as_one(view: View, places: Int32, tf: Int32, forms: tuple[int, ...]) -> tuple[Int32, Int64]:
    """Who holds a term or any of its *forms* (ascending), and how often, given who holds it and how often."""
    ids = np.array(forms, np.uint64)
    held = [view.occurrences(form) for form in ids[view.knows(ids)].tolist()]
    held.append((places, tf))
    if sum(len(holders) for holders, _ in held) * _FEW < len(view):
        every = np.concatenate([holders for holders, _ in held])
        distinct, of = np.unique(every, return_inverse=True)
        together = np.zeros(len(distinct), np.int64)
        np.add.at(together, of, np.concatenate([occurring for _, occurring in held]))
        return distinct, together
    total = np.zeros(len(view), np.int64)
    for holders, occurring in held:
        total[holders] += occurring
    distinct = np.flatnonzero(total).astype(np.int32)
    return distinct, total[distinct]


def _norms(lengths: Int64, scoring: Scoring) -> tuple[Float64, int]:
    """norm(n) by place, and N; a text without terms is no document, and its norm is never read."""
    documents = int(np.count_nonzero(lengths))
    if not documents:
        return np.zeros(len(lengths)), 0
    mean = int(lengths.sum()) / documents
    return scoring.bm25_k1 * ((1.0 - scoring.bm25_b) + scoring.bm25_b * (lengths / mean)), documents


def _saturated(idf: float, tf: npt.NDArray[np.integer], norm: Float64, scoring: Scoring) -> Float64:
    return idf * ((tf * (scoring.bm25_k1 + 1.0)) / (tf + norm))

"""
The lexical leg: BM25 over what is visible, docs/scoring.md section 2.

Rule 1: contributions of terms are added in ascending order of term id, one after the other, so that a sum has one
value.
Rule 2: statistics are those of the view; a replay of an old plan does not see today's corpus.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telha_planner.columns.view import View
from telha_planner.core.fusion import fuse
from telha_planner.core.model import Float64, Int32, Int64
from telha_planner.models.analysis import occurrences, term_counts

from .ports import Scoring
from .scoring import sharpened

_LOGARITHM_UNIT = 2.0**30
_DENSE_SHARE = 4
"""A term that more than one in so many nodes hold is kept as a full column: adding it needs no index."""

_KEPT_BYTES = 48 << 20
"""Most bytes of contributions kept with a view."""


@dataclass(slots=True)
class _Contributions:
    """idf × saturated frequency of each term, by term id: (places, values), or (None, a value per place)."""

    norm: Float64
    documents: int
    by_term: dict[int, tuple[Int32 | None, Float64]]
    nbytes: int


def bm25(view: View, terms: Iterable[int], scoring: Scoring) -> Float64:
    """
    BM25 of every place of *view*.

    Args:
        view: What is visible.
        terms: Distinct term ids.
        scoring: The constants.

    Returns:
        One score ≥ 0 per place; scores below the floor are 0.
    """
    scores = np.zeros(len(view))
    kept = _kept(view, scoring)
    for term in sorted(terms):
        places, values = _contribution(view, term, scoring, kept)
        if places is None:
            scores += values
        else:
            scores[places] += values
    if scoring.min_bm25 > 0:
        scores[scores < scoring.min_bm25] = 0.0
    return scores


def inverse_document_frequency(documents: int, holding: int) -> float:
    """The idf > 0 of a term that *holding* ≥ 1 of *documents* hold; the logarithm is rounded to a multiple of 2⁻³⁰."""
    logarithm = math.log(1.0 + ((documents - holding) + 0.5) / (holding + 0.5))
    return max(1.0, float(round(logarithm * _LOGARITHM_UNIT))) / _LOGARITHM_UNIT


def score_texts(question: str, texts: Sequence[str], scoring: Scoring) -> Float64:
    """
    S of each of *texts* for *question*, the texts being the whole corpus (S11, docs/scoring.md section 7).

    Returns:
        One value in [0, 1] per text; 0 where no term matches.
    """
    wanted = sorted(term_counts(question))
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
    key = ("bm25", scoring.bm25_k1, scoring.bm25_b)
    kept: _Contributions | None = view.memo.get(key)
    if kept is None:
        norm, documents = _norms(view.length, scoring)
        view.memo[key] = kept = _Contributions(norm, documents, {}, norm.nbytes)
    return kept


def _contribution(view: View, term: int, scoring: Scoring, kept: _Contributions) -> tuple[Int32 | None, Float64]:
    found = kept.by_term.get(term)
    if found is not None:
        return found
    places, tf = view.occurrences(term)
    values = np.empty(0)
    if len(places):
        idf = inverse_document_frequency(kept.documents, len(places))
        values = _saturated(idf, tf, kept.norm[places], scoring)
    found = places, values
    if len(places) * _DENSE_SHARE > len(view):
        dense = np.zeros(len(view))
        dense[places] = values
        found = None, dense
    size = values.nbytes + places.nbytes
    if kept.nbytes + size > _KEPT_BYTES:
        kept.by_term.clear()
        kept.nbytes = kept.norm.nbytes
    kept.by_term[term] = found
    kept.nbytes += size
    return found


def _norms(lengths: Int64, scoring: Scoring) -> tuple[Float64, int]:
    """norm(n) by place, and N; a text without terms is no document, and its norm is never read."""
    documents = int(np.count_nonzero(lengths))
    if not documents:
        return np.zeros(len(lengths)), 0
    mean = int(lengths.sum()) / documents
    return scoring.bm25_k1 * ((1.0 - scoring.bm25_b) + scoring.bm25_b * (lengths / mean)), documents


def _saturated(idf: float, tf: npt.NDArray[np.integer], norm: Float64, scoring: Scoring) -> Float64:
    return idf * ((tf * (scoring.bm25_k1 + 1.0)) / (tf + norm))

"""
The legs: what each finds by itself, and the words, vectors and days for similarity (docs/scoring.md section 5).

Rule: no leg finds a window that could not be packed; it takes nobody's place. Nor does a node that says nothing new
(`given`), which a leg does find.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

import numpy as np

from telha_planner.columns.ranking import best, union
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.view import View
from telha_planner.core.model import Int64
from telha_planner.core.request import Leg
from telha_planner.models.dates import named_days
from telha_planner.models.stop_words import question_terms, telling_terms
from telha_planner.models.word_forms import forms_of

from . import structured
from .candidates import WINDOW, is_window, packable_windows
from .dates import Dates
from .given import Given
from .lexical import Lexical
from .ports import RecallQuery
from .scoring import FOREMOST
from .semantic import NO_VECTORS, Semantic, model_of
from .speakers import Speakers

_NOWHERE = np.empty(0, np.int64)
_DEEPER = 4


@dataclass(frozen=True, slots=True)
class Legs:
    """
    What the legs found, and what similarity needs to know.

    Attributes:
        structured, semantic, lexical: Places, best first; empty where a leg did not run.
        foremost: F of docs/scoring.md section 4, places, ascending.
        words: None without a question; so are *speakers* and *dates*.
        vectors: None without a vector, or without any to compare it with.
        skipped: Why an implied semantic leg did not run.
    """

    structured: Int64
    semantic: Int64
    lexical: Int64
    foremost: Int64
    words: Lexical | None
    vectors: Semantic | None
    speakers: Speakers | None
    dates: Dates | None
    skipped: str | None

    @property
    def roots(self) -> Int64:
        """Places of all that was found, ascending."""
        return union(self.structured, self.semantic, self.lexical)


def run_legs(snapshot: Snapshot, view: View, query: RecallQuery) -> Legs:
    """
    Run what *query* asks for.

    Raises:
        RequestInvalid: The vector does not fit the model, the model is unknown, or `where` examines too many nodes.
        PropertiesErased: An erasure has taken away what `where` looks at.
    """
    found = {Leg.STRUCTURED: _NOWHERE, Leg.SEMANTIC: _NOWHERE, Leg.LEXICAL: _NOWHERE}
    foremost = [_NOWHERE]
    given = Given(view, query.exclusions)
    depth = max(query.top_k, FOREMOST)
    skipped = query.skipped
    if query.find is not None and Leg.STRUCTURED in query.legs:
        found[Leg.STRUCTURED] = _structured(snapshot, view, query, query.find)
    words = speakers = dates = None
    if query.question is not None:
        terms = question_terms(query.question)
        words = Lexical(view, terms, query.scoring, forms_of(query.question), telling_terms(query.question))
        speakers = Speakers(view, terms)
        dates = Dates(named_days(query.question, query.valid_t))
        scores = words.scores
        ranked = best(scores, depth, view.hi, view.lo, positive=True)
        foremost.append(ranked[:FOREMOST])
        leg = packable(view, query, ranked)
        while given.count_new(leg) < query.top_k and len(ranked) == depth:
            # Windows that could not be packed, and what was given before, take nobody's place: look further down.
            depth *= _DEEPER
            ranked = best(scores, depth, view.hi, view.lo, positive=True)
            leg = packable(view, query, ranked)
        found[Leg.LEXICAL] = given.first(leg, query.top_k)
    vectors = None
    if query.vector is not None:
        model = model_of(view, query)
        # What these spaces have no vectors of is the same as a model that nobody has vectors of.
        if model is not None and len(view.vectors(model)):
            vectors = Semantic(view, model, query.vector, query.top_k, query.scoring.min_cosine)
            ranked = vectors.leg(len(vectors.places))
            found[Leg.SEMANTIC] = _semantic(view, query, given, vectors, ranked)
            foremost.append(ranked[:FOREMOST])
        elif Leg.SEMANTIC in query.legs:
            skipped = skipped or NO_VECTORS
    run = {leg: places if leg in query.legs else _NOWHERE for leg, places in found.items()}
    return Legs(
        run[Leg.STRUCTURED],
        run[Leg.SEMANTIC],
        run[Leg.LEXICAL],
        union(*foremost),
        words,
        vectors,
        speakers,
        dates,
        skipped,
    )


def _semantic(view: View, query: RecallQuery, given: Given, vectors: Semantic, ranked: Int64) -> Int64:
    leg, depth, deeper = packable(view, query, ranked), query.top_k, vectors
    # Scores keep to *vectors*, whose best is the best of all; further down it is only looked who comes next. Where the
    # last of those rescored is no longer relevant, nothing below it is.
    while given and given.count_new(leg) < query.top_k and len(ranked) == len(deeper.places) < deeper.visible:
        depth *= _DEEPER
        deeper = deeper.rescored(depth)
        ranked = deeper.leg(len(deeper.places))
        leg = packable(view, query, ranked)
    return given.first(leg, query.top_k)


def _structured(snapshot: Snapshot, view: View, query: RecallQuery, node_type: str) -> Int64:
    hits, within = structured.of_type(view, node_type), None
    if node_type == WINDOW:
        hits, within = packable(view, query, hits), (query.encoding, query.largest_window)
    given, limit = Given(view, query.exclusions), query.find_limit
    found = _satisfying(snapshot, view, query, hits, (node_type, within), limit)
    while given.count_new(found) < query.find_limit and len(found) == limit:
        limit *= _DEEPER
        found = _satisfying(snapshot, view, query, hits, (node_type, within), limit)
    return given.first(found, query.find_limit)


def _satisfying(
    snapshot: Snapshot, view: View, query: RecallQuery, hits: Int64, among: tuple[Hashable, ...], limit: int
) -> Int64:
    """The first *limit* of *hits*, which *among* names, that satisfy the query's conditions."""
    where = query.where
    if where is None:
        return hits[:limit]
    find = partial(structured.satisfying, snapshot, view, hits, where, limit)
    return structured.remembered(view, (where.text, limit, *among), find)


def packable(view: View, query: RecallQuery, places: Int64) -> Int64:
    """*places* without the windows that could not be packed, in their order."""
    windows = np.flatnonzero(is_window(view, places))
    if not len(windows):
        return places
    keep = np.ones(len(places), bool)
    keep[windows] = packable_windows(view, places[windows], query.largest_window, query.encoding)
    return places if keep.all() else places[keep]

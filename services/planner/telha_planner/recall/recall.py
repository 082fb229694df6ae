"""
Phase A from the top: a resolved query in, the pool before Phase B out.

legs → roots → expansion → similarity → S → windows, cap → spans. docs/scoring.md says what each step computes.
Rule: the result is a function of the query and of what is visible at its two instants; never of storage order, of later
writes, or of other spaces.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from telha_planner.columns.ranking import best, union
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.spans import UNKNOWN
from telha_planner.columns.view import View
from telha_planner.core.fusion import fuse
from telha_planner.core.model import Float64, Int32, Int64
from telha_planner.core.plan import LegCounts, RecallStats
from telha_planner.core.request import Leg
from telha_planner.models.dates import named_days
from telha_planner.models.stop_words import question_terms, telling_terms
from telha_planner.models.word_forms import forms_of

from . import structured
from .candidates import BODY, WINDOW, is_window, offered_windows, packable_windows, sliceable, spans_of, tokens_of
from .dates import Dates
from .expansion import expand
from .floor import Evidence
from .lexical import Lexical
from .ports import POOL_NODES, Recalled, RecallQuery
from .scoring import FOREMOST, Parts, similarity
from .semantic import NO_VECTORS, Semantic, model_of
from .speakers import Speakers

_NOWHERE = np.empty(0, np.int64)
_DEEPER = 4
_STRUCTURED = 3
"""The column of the parts that says what the structured leg found."""


@dataclass(frozen=True, slots=True)
class _Legs:
    """What the legs found, by place, and what similarity needs to know."""

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
        return union(self.structured, self.semantic, self.lexical)


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Scored nodes; columns of equal length."""

    places: Int64
    score: Float64
    parts: npt.NDArray[np.float64]
    evidence: Evidence | None

    def take(self, chosen: npt.NDArray[np.generic]) -> "_Nodes":
        evidence = None if self.evidence is None else self.evidence.take(chosen)
        return _Nodes(self.places[chosen], self.score[chosen], self.parts[chosen], evidence)


def recall(snapshot: Snapshot, query: RecallQuery) -> Recalled:
    """
    Find, score and explode.

    Raises:
        RequestInvalid: The vector does not fit the model, the model is unknown, or `where` examines too many nodes.
        PropertiesErased: An erasure has taken away what `where` looks at.
        ValueError: `query.tx_t` is after the snapshot.
    """
    view = snapshot.view(query.spaces, query.valid_t, query.tx_t)
    legs = _run_legs(snapshot, view, query)
    roots = legs.roots
    places, decay = expand(view, roots, query.expand_depth, query.scoring.hop_decay)
    nodes = _scored(view, query, legs, places, decay)
    above = nodes.score > 0
    offered = _without_poor_windows(view, query, nodes.take(above))
    capped = offered
    if len(offered.places) > POOL_NODES:
        capped = offered.take(best(offered.score, POOL_NODES, view.hi[offered.places], view.lo[offered.places]))
    kept = _above_floor(query, capped)
    counts = LegCounts(
        query=len(legs.structured),
        vector=len(legs.semantic),
        lexical=len(legs.lexical),
        traversal=len(places) - len(roots),
    )
    return _exploded(
        view,
        query,
        kept,
        RecallStats(
            legs=counts,
            nodes=len(offered.places),
            zero_score=len(places) - int(np.count_nonzero(above)),
            pool_capped=len(offered.places) - len(capped.places),
            vector_leg_skipped=legs.skipped,
            min_similarity=query.min_similarity,
            below_floor=len(capped.places) - len(kept.places),
            best_evidence=None if nodes.evidence is None else nodes.evidence.best,
        ),
    )


def _run_legs(snapshot: Snapshot, view: View, query: RecallQuery) -> _Legs:
    found = {Leg.STRUCTURED: _NOWHERE, Leg.SEMANTIC: _NOWHERE, Leg.LEXICAL: _NOWHERE}
    foremost = [_NOWHERE]
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
        leg = _packable(view, query, ranked)
        while len(leg) < query.top_k and len(ranked) == depth:
            # Windows that could not be packed take nobody's place: look further down.
            depth *= _DEEPER
            ranked = best(scores, depth, view.hi, view.lo, positive=True)
            leg = _packable(view, query, ranked)
        found[Leg.LEXICAL] = leg[: query.top_k]
    vectors = None
    if query.vector is not None:
        model = model_of(view, query)
        # What these spaces have no vectors of is the same as a model that nobody has vectors of.
        if model is not None and len(view.vectors(model)):
            vectors = Semantic(view, model, query.vector, query.top_k, query.scoring.min_cosine)
            ranked = vectors.leg(len(vectors.places))
            found[Leg.SEMANTIC] = _packable(view, query, ranked)[: query.top_k]
            foremost.append(ranked[:FOREMOST])
        elif Leg.SEMANTIC in query.legs:
            skipped = skipped or NO_VECTORS
    run = {leg: places if leg in query.legs else _NOWHERE for leg, places in found.items()}
    return _Legs(
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


def _structured(snapshot: Snapshot, view: View, query: RecallQuery, node_type: str) -> Int64:
    hits, within = structured.of_type(view, node_type), None
    if node_type == WINDOW:
        hits, within = _packable(view, query, hits), (query.encoding, query.largest_window)
    where = query.where
    if where is None:
        return hits[: query.find_limit]
    key = (node_type, where.text, query.find_limit, within)
    find = partial(structured.satisfying, snapshot, view, hits, where, query.find_limit)
    return structured.remembered(view, key, find)


def _packable(view: View, query: RecallQuery, places: Int64) -> Int64:
    windows = np.flatnonzero(is_window(view, places))
    if not len(windows):
        return places
    keep = np.ones(len(places), bool)
    keep[windows] = packable_windows(view, places[windows], query.largest_window, query.encoding)
    return places if keep.all() else places[keep]


def _scored(view: View, query: RecallQuery, legs: _Legs, places: Int64, decay: Float64) -> _Nodes:
    hit = np.isin(places, legs.structured, assume_unique=True)
    if query.question is None and query.vector is None:
        parts = Parts(np.zeros(len(places)), np.zeros(len(places)), np.zeros(len(places)), None)
        score = decay.copy()
    else:
        parts = similarity(
            view,
            places,
            legs.foremost,
            legs.words,
            legs.vectors,
            legs.speakers,
            legs.dates,
            query.scoring,
            measured=query.min_similarity > 0.0,
        )
        score = fuse(parts.similarity, decay, query.scoring.alpha)
    score[hit] = 1.0
    explained = np.stack((parts.semantic, parts.lexical, decay, hit.astype(np.float64)), axis=1)
    return _Nodes(places, score, explained, parts.evidence)


def _without_poor_windows(view: View, query: RecallQuery, nodes: _Nodes) -> _Nodes:
    windows = np.flatnonzero(is_window(view, nodes.places))
    if not len(windows):
        return nodes
    keep = np.ones(len(nodes.places), bool)
    keep[windows] = offered_windows(
        view, nodes.places[windows], nodes.score[windows], query.largest_window, query.encoding
    )
    return nodes.take(keep)


def _above_floor(query: RecallQuery, nodes: _Nodes) -> _Nodes:
    """What is evidence enough, or what the query's conditions found."""
    if nodes.evidence is None:
        return nodes
    hit = nodes.parts[:, _STRUCTURED] > 0.0
    return nodes.take(np.flatnonzero(hit | nodes.evidence.reaches(query.min_similarity)))


def _exploded(view: View, query: RecallQuery, nodes: _Nodes, stats: RecallStats) -> Recalled:
    columns = view.columns
    spans, sources = columns.spans, columns.sources
    found = spans_of(view, nodes.places)
    fits = sliceable(view, found.span)
    owner, span = found.node[fits], found.span[fits]
    place = nodes.places[owner]
    source = spans.source[span]
    order = _canonical(view, nodes.places, owner, span)
    owner, span, place, source = owner[order], span[order], place[order], source[order]
    missing = spans.kind[span] == UNKNOWN
    kind, kinds = _kinds(spans.kind[span], spans.kinds.names)
    version = view.version[place]
    return Recalled(
        source_no=sources.no[source],
        source_hi=sources.hi[source],
        source_lo=sources.lo[source],
        version=spans.version[span],
        start=spans.start[span],
        end=spans.end[span],
        kind=kind,
        kinds=kinds,
        span_class=sources.span_class[source],
        tokens=tokens_of(view, span, query.encoding),
        score=nodes.score[owner],
        node_no=columns.nodes.no[view.node[place]],
        span_no=spans.no[span],
        valid_from=columns.versions.valid_from[version],
        valid_to=columns.versions.valid_to[version],
        parts=nodes.parts[owner],
        stats=RecallStats(
            legs=stats.legs,
            nodes=stats.nodes,
            nodes_without_spans=int(np.count_nonzero(np.bincount(found.node, minlength=len(nodes.places)) == 0)),
            kind_missing=len(np.unique(span[missing])) if missing.any() else 0,
            slices_missing=0 if fits.all() else len(np.unique(found.span[~fits])),
            zero_score=stats.zero_score,
            pool_capped=stats.pool_capped,
            vector_leg_skipped=stats.vector_leg_skipped,
            min_similarity=stats.min_similarity,
            below_floor=stats.below_floor,
            best_evidence=stats.best_evidence,
        ),
    )


def _canonical(view: View, places: Int64, owner: Int64, span: Int32) -> Int64:
    """The order of rows by node id, then coordinate; *owner* is an index into *places*."""
    spans, sources = view.columns.spans, view.columns.sources
    rank = np.empty(len(places), np.int64)
    rank[np.lexsort((view.lo[places], view.hi[places]))] = np.arange(len(places))
    node = rank[owner]
    source, version = spans.source[span], spans.version[span]
    order = np.lexsort((spans.end[span], spans.start[span], node))
    same = node[order[1:]] == node[order[:-1]]
    mixed = (source[order[1:]] != source[order[:-1]]) | (version[order[1:]] != version[order[:-1]])
    if (same & mixed).any():
        # Rare: a node that rests on several sources. Only then do the source ids have to be compared.
        order = np.lexsort((spans.end[span], spans.start[span], version, sources.lo[source], sources.hi[source], node))
    return order


def _kinds(codes: Int32, names: tuple[str, ...]) -> tuple[Int32, tuple[str, ...]]:
    """Kinds by their place in a sorted tuple of those that occur: codes depend on what else memory holds."""
    used, inverse = np.unique(codes, return_inverse=True)
    named = [BODY if code == UNKNOWN else names[code] for code in used.tolist()]
    kinds = tuple(sorted(set(named)))
    index = np.fromiter((kinds.index(name) for name in named), np.int32, len(named))
    return index[inverse], kinds

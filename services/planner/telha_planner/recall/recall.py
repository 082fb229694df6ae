"""
Phase A from the top: a resolved query in, the pool before Phase B out.

legs → roots → expansion → similarity → S → windows, cap → spans. docs/scoring.md says what each step computes.
Rule: the result is a function of the query and of what is visible at its two instants; never of storage order, of later
writes, or of other spaces.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from telha_planner.columns.ranking import best
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.spans import UNKNOWN
from telha_planner.columns.view import View
from telha_planner.core.fusion import fuse
from telha_planner.core.model import Bools, Float64, Int32, Int64
from telha_planner.core.neighbours import NONE
from telha_planner.core.plan import LegCounts, RecallStats

from .candidates import BODY, is_window, offered_windows, packable_windows, sliceable, spans_of, tokens_of
from .detail import Fate, RecallDetail, Scored, found_by, likeness, ranks
from .expansion import Trail, expand
from .floor import Evidence
from .given import Given
from .legs import Legs, run_legs
from .paths import paths
from .ports import POOL_NODES, Recalled, RecallQuery
from .scoring import Parts, similarity


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Scored nodes; columns of equal length. *hit*: the structured leg found it."""

    places: Int64
    score: Float64
    hit: Bools
    evidence: Evidence | None

    def take(self, chosen: npt.NDArray[np.generic]) -> "_Nodes":
        evidence = None if self.evidence is None else self.evidence.take(chosen)
        return _Nodes(self.places[chosen], self.score[chosen], self.hit[chosen], evidence)


@dataclass(frozen=True, slots=True)
class _Found:
    """Each step on the way from what was found or reached (*every*) to what enters the pool (*kept*)."""

    legs: Legs
    decay: Float64
    parts: Parts | None
    every: _Nodes
    above: Bools
    new: _Nodes
    offered: _Nodes
    capped: _Nodes
    kept: _Nodes


def recall(snapshot: Snapshot, query: RecallQuery) -> Recalled:
    """
    Find, score and explode.

    Raises:
        RequestInvalid: The vector does not fit the model, the model is unknown, or `where` examines too many nodes.
        PropertiesErased: An erasure has taken away what `where` looks at.
        ValueError: `query.tx_t` is after the snapshot.
    """
    view = snapshot.view(query.spaces, query.valid_t, query.tx_t)
    return _exploded(view, query, _found(snapshot, view, query))


def recall_in_detail(snapshot: Snapshot, query: RecallQuery) -> tuple[Recalled, RecallDetail]:
    """As `recall`, with all that it knows of each node that it looked at; bit-equal to it."""
    view = snapshot.view(query.spaces, query.valid_t, query.tx_t)
    trail: Trail = []
    found = _found(snapshot, view, query, trail)
    places = found.every.places
    hops, path = paths(view, trail, np.sort(found.legs.roots), places, found.decay)
    detail = RecallDetail(
        view=view,
        query=query,
        nodes=_scored_columns(view, query, found.legs, found.decay, found.every, found.parts),
        found_by=found_by(found.legs, places),
        hops=hops,
        path=path,
        fate=_fates(view, query, found),
        others=partial(_others, view, query, found.legs),
        likeness=partial(likeness, found.legs),
    )
    return _exploded(view, query, found), detail


def _found(snapshot: Snapshot, view: View, query: RecallQuery, trail: Trail | None = None) -> _Found:
    legs = run_legs(snapshot, view, query)
    places, decay = expand(view, legs.roots, query.expand_depth, query.scoring.hop_decay, trail)
    nodes, parts = _scored(view, query, legs, places, decay, told=trail is not None)
    above = nodes.score > 0
    new = _without_given(view, query, nodes.take(above))
    offered = _without_poor_windows(view, query, new)
    capped = offered
    if len(offered.places) > POOL_NODES:
        capped = offered.take(best(offered.score, POOL_NODES, view.hi[offered.places], view.lo[offered.places]))
    return _Found(legs, decay, parts, nodes, above, new, offered, capped, _above_floor(query, capped))


def _stats(query: RecallQuery, found: _Found) -> RecallStats:
    legs, looked_at = found.legs, len(found.every.places)
    return RecallStats(
        legs=LegCounts(
            query=len(legs.structured),
            vector=len(legs.semantic),
            lexical=len(legs.lexical),
            traversal=looked_at - len(legs.roots),
        ),
        nodes=len(found.offered.places),
        zero_score=looked_at - int(np.count_nonzero(found.above)),
        pool_capped=len(found.offered.places) - len(found.capped.places),
        vector_leg_skipped=legs.skipped,
        min_similarity=query.min_similarity,
        below_floor=len(found.capped.places) - len(found.kept.places),
        best_evidence=None if found.every.evidence is None else found.every.evidence.best,
    )


def _scored(
    view: View, query: RecallQuery, legs: Legs, places: Int64, decay: Float64, *, told: bool
) -> tuple[_Nodes, Parts | None]:
    hit = np.isin(places, legs.structured, assume_unique=True)
    parts = None
    if query.question is None and query.vector is None:
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
            told=told,
        )
        score = fuse(parts.similarity, decay, query.scoring.alpha)
    score[hit] = 1.0
    return _Nodes(places, score, hit, None if parts is None else parts.evidence), parts


def _others(view: View, query: RecallQuery, legs: Legs, places: Int64) -> Scored:
    decay = np.ones(len(places))
    nodes, parts = _scored(view, query, legs, places, decay, told=True)
    return _scored_columns(view, query, legs, decay, nodes, parts)


def _scored_columns(
    view: View, query: RecallQuery, legs: Legs, decay: Float64, nodes: _Nodes, parts: Parts | None
) -> Scored:
    return Scored(
        places=nodes.places,
        node_no=view.columns.nodes.no[view.node[nodes.places]],
        score=nodes.score,
        decay=decay,
        similarity=None if parts is None else parts.similarity,
        components=None if parts is None else parts.components,
        evidence=nodes.evidence,
        structured=nodes.hit,
        rank=ranks(view, query, legs, nodes.places),
    )


def _fates(view: View, query: RecallQuery, found: _Found) -> npt.NDArray[np.uint8]:
    places = found.every.places
    fate = np.full(len(places), Fate.ZERO_SCORE, np.uint8)
    fate[found.above] = Fate.EXCLUDED
    fate[np.searchsorted(places, found.new.places)] = Fate.POORER_WINDOW
    windows = found.new.places[is_window(view, found.new.places)]
    too_large = windows[~packable_windows(view, windows, query.largest_window, query.encoding)]
    fate[np.searchsorted(places, too_large)] = Fate.WINDOW_TOO_LARGE
    for nodes, left_by_it in (
        (found.offered, Fate.POOL_CAPPED),
        (found.capped, Fate.BELOW_FLOOR),
        (found.kept, Fate.OFFERED),
    ):
        fate[np.searchsorted(places, nodes.places)] = left_by_it
    return fate


def _without_given(view: View, query: RecallQuery, nodes: _Nodes) -> _Nodes:
    """What has something new; where nothing was given before, all of *nodes*."""
    given = Given(view, query.exclusions)
    return nodes.take(given.has_new(nodes.places)) if given else nodes


def _excluded(view: View, query: RecallQuery, found: _Found) -> int:
    """Spans that were given before, of what was found and scores above 0."""
    given = Given(view, query.exclusions)
    if not given:
        return 0
    span = spans_of(view, found.every.places[found.above]).span
    return len(np.unique(span[given.repeated(span) != NONE]))


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
    return nodes.take(np.flatnonzero(nodes.hit | nodes.evidence.reaches(query.min_similarity)))


def _exploded(view: View, query: RecallQuery, everything: _Found) -> Recalled:
    columns, nodes = view.columns, everything.kept
    spans, sources = columns.spans, columns.sources
    found = spans_of(view, nodes.places)
    fits = sliceable(view, found.span)
    enter = fits
    if query.exclusions is not None:
        enter = fits & (Given(view, query.exclusions).repeated(found.span) == NONE)
    owner, span = found.node[enter], found.span[enter]
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
        stats=replace(
            _stats(query, everything),
            nodes_without_spans=int(np.count_nonzero(np.bincount(found.node, minlength=len(nodes.places)) == 0)),
            kind_missing=len(np.unique(span[missing])) if missing.any() else 0,
            excluded=_excluded(view, query, everything),
            slices_missing=0 if fits.all() else len(np.unique(found.span[~fits])),
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

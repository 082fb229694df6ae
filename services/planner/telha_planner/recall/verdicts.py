"""
Why a node of a subject was no candidate: its verdict, and the facts behind it.

The facts are those that recall decided by (`detail.py`), visibility at the two instants (`visibility.py`), and for what
no leg found, what its score would have been. First comes what answers "what kept the best matching text out?": what is
visible and matches, then what is hidden and holds words of the question; what matches nothing is out for that alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telha_planner.columns.ids import whole
from telha_planner.columns.view import View
from telha_planner.core.explained import Verdict
from telha_planner.core.model import Bools, Float64, Int32, Int64, SpanRef, UInt8
from telha_planner.core.neighbours import NONE

from .candidates import WINDOW, is_window, packable_windows, spans_of
from .detail import Fate, RecallDetail, Scored
from .given import Given
from .sections import SECTION
from .visibility import Hidden, NodesOf
from .words_held import words_held

NEAREST_FIRST = (
    Verdict.EXCLUDED,
    Verdict.NO_PROVENANCE,
    Verdict.BELOW_FLOOR,
    Verdict.POOL_CAPPED,
    Verdict.POORER_WINDOW,
    Verdict.WINDOW_TOO_LARGE,
    Verdict.ZERO_SCORE,
    Verdict.NOT_FOUND,
    Verdict.NOT_VISIBLE,
    Verdict.OTHER_SPACE,
)
"""Verdicts of nodes that match alike, by how much farther the node would have had to come."""

_NEARNESS = {verdict: index for index, verdict in enumerate(NEAREST_FIRST)}
_OF_FATE = {
    Fate.OFFERED: Verdict.NO_PROVENANCE,
    Fate.ZERO_SCORE: Verdict.ZERO_SCORE,
    Fate.EXCLUDED: Verdict.EXCLUDED,
    Fate.WINDOW_TOO_LARGE: Verdict.WINDOW_TOO_LARGE,
    Fate.POORER_WINDOW: Verdict.POORER_WINDOW,
    Fate.POOL_CAPPED: Verdict.POOL_CAPPED,
    Fate.BELOW_FLOOR: Verdict.BELOW_FLOOR,
}
SMALLEST = 1e-4
"""A score below it is next to nothing: sharpened scores fall to 1e-300 and mean no more by it."""

_MATCHES, _HIDDEN, _MATCHES_NOT, _HIDDEN_AND_MATCHES_NOT = range(4)
"""Groups of nodes, in the order in which they are told."""

_UNSCORED = -1.0
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Judged:
    """
    A node that was no candidate.

    Attributes:
        node: Row of the node.
        place: Its place in the view; −1 where something hides it.
        link: The link that speaks for it.
        span: What it rests on by that link.
        scored, row: Its score, of `NOT_FOUND` what it would have been; None and −1 where it has none.
        hidden, since, until, known_from, known_to: As in `NodesOf`.
    """

    node: int
    place: int
    verdict: Verdict
    link: int
    span: SpanRef
    scored: Scored | None
    row: int
    hidden: Hidden
    since: int
    until: int
    known_from: int
    known_to: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """
    The nodes of one subject that were no candidates.

    Attributes:
        nearest: The first of them.
        others: How many there are besides.
        unscored: How many of those that no leg found were too many to be scored.
    """

    nearest: tuple[Judged, ...]
    others: int
    unscored: int


def unfound(detail: RecallDetail, nodes: NodesOf, most: int) -> Int64:
    """
    Places of those of *nodes* that are visible and that recall never looked at, the likeliest *most*, ascending.

    Windows that could not be packed are among them: no leg finds those, but whether they match is asked too.
    """
    places = nodes.place[nodes.visible]
    places = places[~np.isin(places, detail.nodes.places)]
    if len(places) > most:
        places = places[np.argsort(-detail.likeness(places), kind="stable")[:most]]
    return np.sort(places)


def judge(detail: RecallDetail, others: Scored, nodes: NodesOf, candidates: Int64, most: int) -> Judgement:
    """
    Say of *nodes* why they were no candidates, what kept the best matching text out first.

    Args:
        detail: What recall knows.
        others: What it says of the `unfound`.
        nodes: Those of one subject.
        candidates: Rows of nodes that were candidates; they are left out.
        most: How many to return.
    """
    out = np.flatnonzero(~np.isin(nodes.node, candidates))
    verdicts, row, score = _verdicts(detail, others, nodes, out)
    rank = np.full(len(out), _LAST, np.int64)
    unfound = np.flatnonzero((verdicts == _NEARNESS[Verdict.NOT_FOUND]) & (row >= 0))
    ranks = others.rank[row[unfound]]
    rank[unfound] = np.where(ranks > 0, ranks, _LAST).min(axis=1, initial=_LAST)
    columns, node = detail.view.columns, nodes.node[out]
    group, match = _matching(detail, nodes, out, score)
    span = columns.links.span[nodes.link[out]]
    version, start = columns.spans.version[span], columns.spans.start[span]
    around = [code for name in (SECTION, WINDOW) if (code := columns.versions.types.get(name)) is not None]
    is_around = np.isin(columns.versions.type[columns.links.version[nodes.link[out]]], around)
    # A window that matches nothing is not out for its size.
    by_size = (group == _MATCHES_NOT) & (verdicts == _NEARNESS[Verdict.WINDOW_TOO_LARGE])
    # Behind what matters: passages before headings and windows of them, the newest version, from its beginning, ids.
    equal = (columns.nodes.lo[node], columns.nodes.hi[node], start, -version, is_around)
    order = np.lexsort((*equal, rank, -match, verdicts, by_size, group))[:most]
    nearest = []
    for index, of, ref in zip(order.tolist(), out[order].tolist(), span_refs(detail.view, span[order]), strict=True):
        verdict = NEAREST_FIRST[verdicts[index]]
        nearest.append(
            Judged(
                node=int(nodes.node[of]),
                place=int(nodes.place[of]),
                verdict=verdict,
                link=int(nodes.link[of]),
                span=ref,
                scored=None if row[index] < 0 else others if verdict is Verdict.NOT_FOUND else detail.nodes,
                row=int(row[index]),
                hidden=Hidden(nodes.hidden[of]),
                since=int(nodes.since[of]),
                until=int(nodes.until[of]),
                known_from=int(nodes.known_from[of]),
                known_to=int(nodes.known_to[of]),
            )
        )
    unscored = int(np.count_nonzero((verdicts == _NEARNESS[Verdict.NOT_FOUND]) & (row < 0)))
    return Judgement(tuple(nearest), len(out) - len(nearest), unscored)


def _verdicts(detail: RecallDetail, others: Scored, nodes: NodesOf, out: Int64) -> tuple[Int64, Int64, Float64]:
    """
    Of the nodes *out*: the verdict by `NEAREST_FIRST`, the row in `detail.nodes` or *others* or −1, the score.

    A window that recall never looked at has no row, since nothing is told of its score but how far it matches.
    """
    place, hidden = nodes.place[out], nodes.hidden[out]
    verdicts = np.full(len(out), _NEARNESS[Verdict.NOT_VISIBLE], np.int64)
    verdicts[hidden == Hidden.SPACE] = _NEARNESS[Verdict.OTHER_SPACE]
    verdicts[_rests_on_nothing(detail.view, nodes.node[out], hidden)] = _NEARNESS[Verdict.NO_PROVENANCE]
    row, score = np.full(len(out), -1, np.int64), np.full(len(out), _UNSCORED)

    visible = np.flatnonzero(hidden == Hidden.NOTHING)
    looked_at, at = _looked_up(detail.nodes.places, place[visible])
    known, at = visible[looked_at], at[looked_at]
    of_fate = np.array([_NEARNESS[_OF_FATE[fate]] for fate in Fate], np.int64)
    verdicts[known], row[known], score[known] = of_fate[detail.fate[at]], at, detail.nodes.score[at]
    # A node may rest on more than was given before, and be in the pool with that alone.
    offered = known[detail.fate[at] == Fate.OFFERED]
    span = detail.view.columns.links.span[nodes.link[out[offered]]]
    is_given = Given(detail.view, detail.query.exclusions).repeated(span) != NONE
    verdicts[offered[is_given]] = _NEARNESS[Verdict.EXCLUDED]

    unseen = visible[~looked_at]
    too_large = _too_large(detail, place[unseen])
    verdicts[unseen] = np.where(too_large, _NEARNESS[Verdict.WINDOW_TOO_LARGE], _NEARNESS[Verdict.NOT_FOUND])
    scored, at = _looked_up(others.places, place[unseen])
    score[unseen[scored]] = others.score[at[scored]]
    found = scored & ~too_large
    row[unseen[found]] = at[found]
    return verdicts, row, score


def _matching(detail: RecallDetail, nodes: NodesOf, out: Int64, score: Float64) -> tuple[Int64, Float64]:
    """
    Of the nodes *out* with *score*: the group, and how far each matches, comparable within a group.

    Of a hidden node, that is how many words of the question it holds. Without a question, any may match.
    """
    hidden = ~nodes.visible[out]
    group = np.where(score >= SMALLEST, _MATCHES, _MATCHES_NOT)
    group[hidden] = _HIDDEN
    match = score.copy()
    if detail.query.question is not None:
        columns = detail.view.columns
        held = words_held(columns, detail.query.question, columns.links.version[nodes.link[out[hidden]]])
        match[hidden] = held
        group[hidden] = np.where(held > 0, _HIDDEN, _HIDDEN_AND_MATCHES_NOT)
    return group, match


def better_windows(detail: RecallDetail, windows: Sequence[int]) -> list[SpanRef | None]:
    """Of each of *windows* (places) that overlap a better one, the span of the best such."""
    view = detail.view
    kept = np.flatnonzero(
        np.isin(detail.fate, (Fate.OFFERED, Fate.POOL_CAPPED, Fate.BELOW_FLOOR)) & is_window(view, detail.nodes.places)
    )
    better = spans_of(view, detail.nodes.places[kept])
    spans = view.columns.spans
    found: list[SpanRef | None] = []
    for window in windows:
        own = spans_of(view, np.array([window])).span
        overlaps = np.zeros(len(better.span), bool)
        for one in own.tolist():
            overlaps |= (
                (spans.text[better.span] == spans.text[one])
                & (spans.start[better.span] < spans.end[one])
                & (spans.start[one] < spans.end[better.span])
            )
        touching = np.flatnonzero(overlaps)
        row = kept[better.node[touching]]
        place = detail.nodes.places[row]
        best = touching[np.lexsort((view.lo[place], view.hi[place], -detail.nodes.score[row]))[:1]]
        found.extend(span_refs(view, better.span[best]) or [None])
    return found


def span_refs(view: View, spans: Int32 | Int64) -> list[SpanRef]:
    """The coordinates of *spans*, by row."""
    columns = view.columns
    source = columns.spans.source[spans]
    ids = whole(columns.sources.hi[source], columns.sources.lo[source])
    rest = (columns.spans.version[spans], columns.spans.start[spans], columns.spans.end[spans])
    return [SpanRef(*one) for one in zip(ids, *(column.tolist() for column in rest), strict=True)]


def _looked_up(places: Int64, wanted: Int64) -> tuple[Bools, Int64]:
    """Which of *wanted* are among *places* (ascending), and where."""
    if not len(places):
        return np.zeros(len(wanted), bool), np.zeros(len(wanted), np.int64)
    at = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
    return places[at] == wanted, at


def _too_large(detail: RecallDetail, places: Int64) -> Bools:
    windows = is_window(detail.view, places)
    query = detail.query
    windows[windows] = ~packable_windows(detail.view, places[windows], query.largest_window, query.encoding)
    return windows


def _rests_on_nothing(view: View, nodes: Int64, hidden: UInt8) -> Bools:
    """Which nodes rested on the subject once, are visible, and rest on no span at all any more."""
    place = view.places_of_nodes(nodes).astype(np.int64)
    moved = np.flatnonzero((hidden != Hidden.NOTHING) & (hidden != Hidden.SPACE) & (place >= 0))
    without = np.zeros(len(nodes), bool)
    without[moved] = np.bincount(spans_of(view, place[moved]).node, minlength=len(moved)) == 0
    return without

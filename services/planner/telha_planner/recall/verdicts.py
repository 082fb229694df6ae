"""
Why a node of a subject was no candidate: its verdict, and the facts behind it.

The facts are those that recall decided by (`detail.py`), visibility at the two instants (`visibility.py`), and for what
no leg found, what its score would have been. Nearest to being a candidate comes first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from telha_planner.columns.ids import whole
from telha_planner.columns.view import View
from telha_planner.core.model import Bools, Int32, Int64, SpanRef, UInt8

from .candidates import is_window, packable_windows, spans_of
from .detail import Fate, RecallDetail, Scored
from .visibility import Hidden, NodesOf


class Verdict(Enum):
    """Why something that a caller names is in the plan, or is not; as in the contract."""

    CANDIDATE = "candidate"
    NOT_VISIBLE = "not_visible"
    OTHER_SPACE = "other_space"
    NOT_FOUND = "not_found"
    ZERO_SCORE = "zero_score"
    BELOW_FLOOR = "below_floor"
    WINDOW_TOO_LARGE = "window_too_large"
    POORER_WINDOW = "poorer_window"
    POOL_CAPPED = "pool_capped"
    NO_PROVENANCE = "no_provenance"
    ERASED = "erased"
    EXCLUDED = "excluded"
    UNKNOWN = "unknown"


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
"""Verdicts of nodes by how much farther the node would have had to come."""

_NEARNESS = {verdict: index for index, verdict in enumerate(NEAREST_FIRST)}
_OF_FATE = {
    Fate.OFFERED: Verdict.NO_PROVENANCE,
    Fate.ZERO_SCORE: Verdict.ZERO_SCORE,
    Fate.WINDOW_TOO_LARGE: Verdict.WINDOW_TOO_LARGE,
    Fate.POORER_WINDOW: Verdict.POORER_WINDOW,
    Fate.POOL_CAPPED: Verdict.POOL_CAPPED,
    Fate.BELOW_FLOOR: Verdict.BELOW_FLOOR,
}
_UNSCORED = -1.0


@dataclass(frozen=True, slots=True)
class Judged:
    """
    A node that was no candidate.

    Attributes:
        node: Row of the node.
        place: Its place in the view, −1 where it is hidden.
        span: What it rests on, of the subject.
        scored, row: Its score, and what it would have been of `NOT_FOUND`; None where it has none.
        hidden, since, until: As in `NodesOf`.
    """

    node: int
    place: int
    verdict: Verdict
    span: SpanRef
    link: int
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
        unscored: How many of those that no leg found were not scored, being too many.
    """

    nearest: tuple[Judged, ...]
    others: int
    unscored: int


def judge(detail: RecallDetail, nodes: NodesOf, candidates: Int64, most: int, most_scored: int) -> Judgement:
    """
    Say of *nodes* why they were no candidates.

    Args:
        detail: What recall knows.
        nodes: Those of one subject.
        candidates: Rows of nodes that were candidates; they are left out.
        most: How many to return.
        most_scored: Of those that no leg found, how many to score at most.
    """
    out = np.flatnonzero(~np.isin(nodes.node, candidates))
    place, hidden = nodes.place[out], nodes.hidden[out]
    verdict = np.full(len(out), _NEARNESS[Verdict.NOT_VISIBLE], np.int64)
    verdict[hidden == Hidden.SPACE] = _NEARNESS[Verdict.OTHER_SPACE]
    verdict[_rests_on_nothing(detail.view, nodes.node[out], hidden)] = _NEARNESS[Verdict.NO_PROVENANCE]
    score, rank = np.full(len(out), _UNSCORED), np.zeros(len(out), np.int64)
    row = np.full(len(out), -1, np.int64)

    visible = np.flatnonzero(hidden == Hidden.NOTHING)
    looked_at, at = _looked_up(detail.nodes.places, place[visible])
    known, at = visible[looked_at], at[looked_at]
    of_fate = np.array([_NEARNESS[_OF_FATE[fate]] for fate in Fate], np.int64)
    verdict[known], score[known], row[known] = of_fate[detail.fate[at]], detail.nodes.score[at], at

    unseen = visible[~looked_at]
    too_large = _too_large(detail, place[unseen])
    verdict[unseen] = np.where(too_large, _NEARNESS[Verdict.WINDOW_TOO_LARGE], _NEARNESS[Verdict.NOT_FOUND])
    unfound = unseen[~too_large]
    if len(unfound) > most_scored:
        likely = np.argsort(-detail.likeness(place[unfound]), kind="stable")[:most_scored]
        unfound = unfound[np.sort(likely)]
    by_place = unfound[np.argsort(place[unfound])]
    others = detail.others(place[by_place])
    score[by_place], row[by_place] = others.score, np.arange(len(others))
    ranked = np.where(others.rank > 0, others.rank, np.iinfo(np.int64).max)
    rank[by_place] = ranked.min(axis=1, initial=np.iinfo(np.int64).max)

    spans = detail.view.columns.spans
    span = detail.view.columns.links.span[nodes.link[out]]
    order = np.lexsort((spans.start[span], spans.version[span], spans.source[span], rank, -score, verdict))
    nearest = []
    for index in order[:most].tolist():
        scored = None
        if row[index] >= 0:
            scored = others if verdict[index] == _NEARNESS[Verdict.NOT_FOUND] else detail.nodes
        of = int(out[index])
        nearest.append(
            Judged(
                node=int(nodes.node[of]),
                place=int(nodes.place[of]),
                verdict=NEAREST_FIRST[verdict[index]],
                span=span_refs(detail.view, span[index : index + 1])[0],
                link=int(nodes.link[of]),
                scored=scored,
                row=int(row[index]),
                hidden=Hidden(nodes.hidden[of]),
                since=int(nodes.since[of]),
                until=int(nodes.until[of]),
                known_from=int(nodes.known_from[of]),
                known_to=int(nodes.known_to[of]),
            )
        )
    unscored = int(np.count_nonzero((verdict == _NEARNESS[Verdict.NOT_FOUND]) & (row < 0)))
    return Judgement(tuple(nearest), len(out) - len(nearest), unscored)


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
        score = detail.nodes.score[kept[better.node[touching]]]
        best = touching[np.argsort(-score, kind="stable")[:1]]
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

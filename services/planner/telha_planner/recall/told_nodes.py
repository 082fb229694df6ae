"""What is told of the nodes that were no candidates: the facts of `verdicts.py` with ids, coordinates and words."""

from collections.abc import Sequence

import numpy as np

from telha_planner.columns.ids import whole
from telha_planner.columns.view import View
from telha_planner.core.explained import ExplainedNode, ScoreParts, TimeAxis, Verdict
from telha_planner.core.model import SpanRef
from telha_planner.core.neighbours import NONE
from telha_planner.core.request import INT64_MIN, OPEN_END, Leg

from .candidates import spans_of, window_tokens
from .detail import LEGS, RecallDetail
from .given import Given
from .parts import parts_of, parts_of_others
from .reasons import because
from .verdicts import Judged, better_windows, span_refs
from .visibility import Hidden

_AXES = {
    Hidden.VALID_TIME: TimeAxis.VALID_TIME,
    Hidden.BOTH: TimeAxis.VALID_TIME,
    Hidden.TX_TIME: TimeAxis.TX_TIME,
}


def told_nodes(detail: RecallDetail, nearest: Sequence[Judged]) -> tuple[ExplainedNode, ...]:
    """Tell *nearest*, in that order."""
    better = iter(better_windows(detail, [one.place for one in nearest if one.verdict is Verdict.POORER_WINDOW]))
    told = []
    for one in nearest:
        match one.verdict:
            case Verdict.POORER_WINDOW:
                instead = next(better)
            case Verdict.EXCLUDED:
                instead = _given(detail, one)
            case _:
                instead = _now_at(detail.view, one)
        told.append(_told(detail, one, instead))
    return tuple(told)


def _told(detail: RecallDetail, one: Judged, instead: SpanRef | None) -> ExplainedNode:
    columns = detail.view.columns
    tokens = None
    if one.verdict is Verdict.WINDOW_TOO_LARGE:
        tokens = int(window_tokens(detail.view, np.array([one.place]), detail.query.encoding)[0])
    axis = _AXES.get(one.hidden) if one.verdict is Verdict.NOT_VISIBLE else None
    version = columns.links.version[one.link]
    (node_id,) = whole(columns.nodes.hi[[one.node]], columns.nodes.lo[[one.node]])
    return ExplainedNode(
        node_id=node_id,
        type=columns.versions.types.names[int(columns.versions.type[version])],
        span=one.span,
        verdict=one.verdict,
        score=_parts(detail, one),
        ranks=_ranks(one),
        axis=axis,
        since=None if axis is None or one.since == INT64_MIN else one.since,
        until=None if axis is None or one.until == OPEN_END else one.until,
        instead=instead,
        because=because(one, detail, instead, tokens),
    )


def _parts(detail: RecallDetail, one: Judged) -> ScoreParts | None:
    if one.scored is None:
        return None
    at = np.array([one.row])
    if one.scored is detail.nodes:
        return parts_of(detail, at)[0]
    return parts_of_others(detail.view, one.scored, at)[0]


def _ranks(one: Judged) -> tuple[tuple[Leg, int], ...]:
    if one.verdict is not Verdict.NOT_FOUND or one.scored is None:
        return ()
    ranks = one.scored.rank[one.row].tolist()
    return tuple((leg, rank) for leg, rank in zip(LEGS, ranks, strict=True) if rank)


def _given(detail: RecallDetail, one: Judged) -> SpanRef | None:
    """The span that was given before and that this one repeats."""
    exclusions, span = detail.query.exclusions, detail.view.columns.links.span[[one.link]]
    repeated = int(Given(detail.view, exclusions).repeated(span)[0])
    return None if exclusions is None or repeated == NONE else exclusions.spans[repeated]


def _now_at(view: View, one: Judged) -> SpanRef | None:
    """Where a node that stayed while its source changed stands in the version that is read."""
    if one.hidden is not Hidden.TX_TIME:
        return None
    place = view.places_of_nodes(np.array([one.node])).astype(np.int64)
    if place[0] < 0:
        return None
    spans = view.columns.spans
    own = view.columns.links.span[one.link]
    now = spans_of(view, place).span
    same = now[spans.source[now] == spans.source[own]]
    return min(span_refs(view, same), default=None)

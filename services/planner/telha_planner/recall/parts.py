"""Score parts as plain values, one object per node, for those few that somebody is told about."""

from collections.abc import Sequence

import numpy as np

from telha_planner.columns.ids import whole
from telha_planner.columns.view import View
from telha_planner.core.explained import ScoreConstants, ScoreParts
from telha_planner.core.model import Int64
from telha_planner.core.request import Leg

from .detail import LEGS, RecallDetail, Scored

_PARTS = ("semantic", "lexical", "context", "source", "speaker")
_FACTORS = ("days", "window")


def parts_of(detail: RecallDetail, at: Int64) -> list[ScoreParts]:
    """What the scores of some nodes that recall looked at are made of; *at* are indices into `detail.nodes`."""
    nodes, view = detail.nodes, detail.view
    legs = [_legs(*of) for of in zip(detail.found_by[at].tolist(), nodes.rank[at].tolist(), strict=True)]
    hops = detail.hops[at].tolist()
    every = detail.path[at]
    flat = np.maximum(every, 0).ravel()
    ids = whole(view.hi[flat], view.lo[flat])
    width = every.shape[1]
    paths = [tuple(ids[row * width : row * width + length + 1]) if length else () for row, length in enumerate(hops)]
    return _told(view, nodes, at, legs, hops, paths)


def parts_of_others(view: View, others: Scored, at: Int64) -> list[ScoreParts]:
    """The same of what `RecallDetail.others` says; no leg has found them, and no path leads to them."""
    return _told(view, others, at, [()] * len(at), [0] * len(at), [()] * len(at))


def constants_of(detail: RecallDetail) -> ScoreConstants | None:
    """The constants of the scores; None where there is neither a question nor a vector."""
    made, scoring = detail.nodes.components, detail.query.scoring
    if made is None:
        return None
    return ScoreConstants(
        semantic_share=made.share,
        context_weight=scoring.context_weight,
        source_weight=scoring.source_weight,
        speaker_weight=scoring.speaker_weight,
        greatest=made.greatest,
        sharpening=scoring.sharpening,
        alpha=scoring.alpha,
    )


def _legs(found_by: int, rank: Sequence[int]) -> tuple[tuple[Leg, int], ...]:
    return tuple((leg, rank[bit]) for bit, leg in enumerate(LEGS) if found_by >> bit & 1)


def _told(
    view: View,
    nodes: Scored,
    at: Int64,
    legs: Sequence[tuple[tuple[Leg, int], ...]],
    hops: Sequence[int],
    paths: Sequence[tuple[bytes, ...]],
) -> list[ScoreParts]:
    places, made = nodes.places[at], nodes.components
    unmeasured: list[None] = [None] * len(at)
    none, one = [0.0] * len(at), [1.0] * len(at)
    rows = zip(
        whole(view.hi[places], view.lo[places]),
        nodes.score[at].tolist(),
        unmeasured if nodes.similarity is None else nodes.similarity[at].tolist(),
        *(none if made is None else getattr(made, name)[at].tolist() for name in _PARTS),
        *(one if made is None else getattr(made, name)[at].tolist() for name in _FACTORS),
        nodes.decay[at].tolist(),
        hops,
        paths,
        nodes.structured[at].tolist(),
        unmeasured if nodes.evidence is None else nodes.evidence.around[at].tolist(),
        legs,
        strict=True,
    )
    return [ScoreParts(*row) for row in rows]

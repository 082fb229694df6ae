"""
Why each candidate is in a plan or out of it: what packing decided, joined with what recall knows of the scores.

    packed pool ──► core.explanation: causes in numbers ──┐
    recall's detail: score parts, legs, paths ────────────┴──► Explanation

It runs where explain is asked for, after the plan is made, and decides nothing. What it costs follows the pool; of a
large pool the end of the order is counted and not told.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telha_planner import patience
from telha_planner.because import because, because_repeated
from telha_planner.columns.snapshot import Snapshot
from telha_planner.config import PlannerSettings
from telha_planner.core import explanation
from telha_planner.core.explained import MAX_EXPLAINED, Duplicate, ExplainedSpan, Explanation, ScoreParts
from telha_planner.core.explanation import Causes
from telha_planner.core.model import Int64, Outcome, Pool, SpanClass, SpanRef
from telha_planner.core.ordering import descending_key
from telha_planner.core.weighing import NEUTRAL_PRIOR
from telha_planner.packing import Packed
from telha_planner.recall.detail import RecallDetail
from telha_planner.recall.parts import constants_of, parts_of
from telha_planner.recall.ports import Recalled

BETWEEN_LOOKS = 512
"""Spans that are told before it is looked whether anybody still waits."""


@dataclass(frozen=True, slots=True)
class Recollection:
    """How the candidates of a plan were found; Select has none."""

    recalled: Recalled
    detail: RecallDetail
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Reckoning:
    """
    A selection with all that it takes to explain any part of it.

    Attributes:
        order: Rows of the pool in packing order, then duplicates by (weight desc, canonical order).
    """

    packed: Packed
    causes: Causes
    order: Int64
    settings: PlannerSettings
    origin: Recollection | None

    def spans(self, rows: Int64) -> list[ExplainedSpan]:
        """The candidates at *rows* of the pool, in that order."""
        names: Sequence[str] = [""] * len(rows)
        scores: Sequence[ScoreParts | None] = [None] * len(rows)
        if self.origin is not None:
            before_collapse = self.packed.collapsed[rows]
            names, scores = _names(self.origin, before_collapse), _scores(self.origin, before_collapse)
        return _spans(self.packed, self.causes, rows, self.settings, names, scores)


def reckoned(packed: Packed, settings: PlannerSettings, origin: Recollection | None = None) -> Reckoning:
    """
    Find out what a selection rested on.

    Args:
        packed: The selection.
        settings: What it was weighed with.
        origin: How its candidates were found; None for Select.

    Raises:
        DeadlineExceeded: Nobody waits for it any more.
    """
    patience.check()
    causes = explanation.explain(packed.pool, packed.selection, packed.rule)
    return Reckoning(packed, causes, _order(packed.pool, causes), settings, origin)


def explained(reckoning: Reckoning, *, told: bool = True) -> Explanation:
    """
    Explain a selection.

    Args:
        told: Whether its candidates are asked for.

    Raises:
        DeadlineExceeded: Nobody waits for it any more.
    """
    origin, order = reckoning.origin, reckoning.order if told else reckoning.order[:0]
    rows = order[:MAX_EXPLAINED]
    spans: list[ExplainedSpan] = []
    for begin in range(0, len(rows), BETWEEN_LOOKS):
        patience.check()
        spans += reckoning.spans(rows[begin : begin + BETWEEN_LOOKS])
    return Explanation(
        spans=tuple(spans),
        spans_left_out=len(order) - len(rows),
        source_cap=reckoning.causes.cap,
        top_k=0 if origin is None else origin.detail.query.top_k,
        constants=None if origin is None else constants_of(origin.detail),
        is_told=told,
    )


def _order(pool: Pool, causes: Causes) -> Int64:
    """Rows in packing order, then duplicates by (weight desc, canonical order)."""
    looked_at = np.flatnonzero(causes.rank > 0)
    duplicates = np.flatnonzero(causes.rank == 0)
    by_weight = np.argsort(descending_key(pool.weight[duplicates]), kind="stable")
    return np.concatenate((looked_at[np.argsort(causes.rank[looked_at])], duplicates[by_weight]))


def _names(origin: Recollection, rows: Int64) -> list[str]:
    recalled = origin.recalled
    versions = zip(recalled.source_no[rows].tolist(), recalled.version[rows].tolist(), strict=True)
    return [origin.snapshot.source_name(source_no, version_tx) or "" for source_no, version_tx in versions]


def _scores(origin: Recollection, rows: Int64) -> list[ScoreParts]:
    """The parts of the node behind each of *rows* of the recalled; one object per node."""
    nodes = origin.detail.nodes
    by_number = np.argsort(nodes.node_no)
    wanted, which = np.unique(origin.recalled.node_no[rows], return_inverse=True)
    parts = parts_of(origin.detail, by_number[np.searchsorted(nodes.node_no, wanted, sorter=by_number)])
    return [parts[index] for index in which.tolist()]


def _spans(
    packed: Packed,
    causes: Causes,
    rows: Int64,
    settings: PlannerSettings,
    names: Sequence[str],
    scores: Sequence[ScoreParts | None],
) -> list[ExplainedSpan]:
    pool, rule = packed.pool, packed.rule
    columns = (
        pool.source_hi, pool.source_lo, pool.version, pool.start, pool.end, pool.kind, pool.span_class, pool.weight,
        pool.tokens, packed.selection.outcome, causes.rank, causes.density, causes.left, causes.spent,
        causes.duplicate_of, causes.overlap,
    )  # fmt: skip
    told: list[ExplainedSpan] = []
    for name, score, (
        high, low, version, start, end, kind_code, class_code, weight, tokens, outcome_code, rank, density, left, spent,
        kept, overlap,
    ) in zip(names, scores, zip(*(column[rows].tolist() for column in columns), strict=True), strict=True):  # fmt: skip
        source_id, outcome, span_class = struct.pack(">QQ", high, low), Outcome(outcome_code), SpanClass(class_code)
        kind = pool.kinds[kind_code]
        duplicate = None
        if outcome is Outcome.DEDUPED:
            duplicate = Duplicate(SpanRef(source_id, version, int(pool.start[kept]), int(pool.end[kept])), overlap)
            sentence = because_repeated(duplicate, heavier=bool(pool.weight[kept] > weight))
        else:
            sentence = because(outcome, rule, tokens, left, spent, causes.cap)
        told.append(
            ExplainedSpan(
                span=SpanRef(source_id, version, start, end),
                source_name=name,
                kind=kind,
                span_class=span_class,
                weight=weight,
                kind_prior=settings.kind_priors.get(kind, NEUTRAL_PRIOR),
                cache_discount=settings.cache_discount if span_class is SpanClass.CACHE else 1.0,
                tokens=tokens,
                outcome=outcome,
                rank=rank,
                density=density,
                budget_left=left,
                source_spent=spent,
                duplicate=duplicate,
                score=score,
                because=sentence,
            )
        )
    return told

"""
From a scored pool to a plan: weigh → collapse → budget → select → assemble. Every plan goes through here.

Rule: what a surface or a leg is stays outside; here are only columns, limits and settings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telha_planner.config import PlannerSettings
from telha_planner.core.budget import Budget
from telha_planner.core.model import Bools, Int64, PackingRule, Pool, Selection
from telha_planner.core.plan import EvidencePlan, RecallStats, account, assemble, planned_spans
from telha_planner.core.selection import collapse, select, take
from telha_planner.core.weighing import weigh
from telha_planner.fragments import FragmentColumns
from telha_planner.recall.ports import Recalled
from telha_planner.resolution import Limits


@dataclass(frozen=True, slots=True)
class Packed:
    """
    Phase B's outcome.

    Attributes:
        pool: Collapsed, in canonical order.
        estimated: At least one count of *pool* is an estimate.
        collapsed: The rows of *pool*, as numbered before the collapse.
    """

    pool: Pool
    selection: Selection
    rule: PackingRule
    budget: Budget
    estimated: bool
    collapsed: Int64

    @property
    def rows(self) -> Int64:
        """The packed rows, as numbered before the collapse, in canonical order."""
        return self.collapsed[self.selection.packed]


def weighed(columns: Recalled | FragmentColumns, tokens: Int64, settings: PlannerSettings) -> Pool:
    """The pool of *columns*, each row with its weight (requirement S1)."""
    weight = weigh(
        columns.score,
        columns.kind,
        columns.kinds,
        columns.span_class,
        kind_priors=settings.kind_priors,
        cache_discount=settings.cache_discount,
    )
    return Pool(
        source_hi=columns.source_hi,
        source_lo=columns.source_lo,
        version=columns.version,
        start=columns.start,
        end=columns.end,
        kind=columns.kind,
        kinds=columns.kinds,
        span_class=columns.span_class,
        weight=weight,
        tokens=tokens,
    )


def pack(pool: Pool, estimated: Bools, limits: Limits, dedup_overlap: float) -> Packed:
    """Collapse the pool, settle B on what is left (requirement T3), and select."""
    rows = _collapsed(pool, estimated)
    pool = take(pool, rows)
    any_estimate = bool(estimated[rows].any())
    budget = limits.budget(estimated=any_estimate)
    rule = PackingRule(
        budget=budget.applied,
        max_frac_per_source=limits.max_frac_per_source,
        dedup_overlap=dedup_overlap,
        max_spans=limits.max_spans,
        span_overhead_tokens=limits.span_overhead_tokens,
    )
    selection = select(pool, rule)
    return Packed(pool, selection, rule, budget, any_estimate, rows)


def finish(packed: Packed, texts: Sequence[str], tokenizer: str, recalled: RecallStats) -> EvidencePlan:
    """The plan of what was packed, with its counters and its hash."""
    spans = planned_spans(packed.pool, packed.selection.packed, texts)
    stats = account(
        packed.pool,
        packed.selection,
        packed.rule,
        packed.budget,
        token_estimate=packed.estimated,
        tokenizer=tokenizer,
        recall=recalled,
    )
    return assemble(packed.selection.used, spans, stats)


def _collapsed(pool: Pool, estimated: Bools) -> Int64:
    if not estimated.any() or estimated.all():
        return collapse(pool)
    # Of rows alike in all that the collapse compares, the first stays: let it be one whose count is exact.
    exact_first = np.argsort(estimated, kind="stable")
    return exact_first[collapse(take(pool, exact_first))]

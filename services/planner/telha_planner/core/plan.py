"""
The plan: what Phase B decided, with the counters that account for every span and the hash that pins it.

docs/plan-hash.md describes the hash byte by byte; tests/golden/plan-hash.json holds vectors that every SDK recomputes.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from blake3 import blake3

from .bound import EMPTY, Optimality, optimality
from .budget import Budget
from .model import Int64, Outcome, PackingRule, Pool, Selection, SpanClass, SpanRef

PLAN_MODEL = "v1"
"""Version of the weight formula, the packing rule and the hash."""

SCORE_MODEL = "v3"
"""Version of S(n): legs, scoring constants and analysis."""

_CLASSES = tuple(SpanClass)


@dataclass(frozen=True, slots=True)
class PlannedSpan:
    """A span of the plan; *tokens* is the count used in packing, without overhead."""

    span: SpanRef
    kind: str
    span_class: SpanClass
    weight: float
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class LegCounts:
    """Distinct nodes per leg before the union; *traversal* counts nodes that only expansion reached."""

    query: int = 0
    vector: int = 0
    lexical: int = 0
    traversal: int = 0


@dataclass(frozen=True, slots=True)
class RecallStats:
    """
    What recall did.

    Attributes:
        nodes: Nodes of the union that are visible and score above 0.
        kind_missing: Spans without a ledger row, which count as kind `body`.
        slices_missing: Spans skipped because their text cannot be sliced.
        zero_score: Nodes left out because S = 0.
        pool_capped: Nodes left out by the pool cap.
        vector_leg_skipped: Why an implied semantic leg did not run.
        min_similarity: The floor applied; 0 without one.
        below_floor: Nodes left out by it.
        best_evidence: The greatest evidence of what was found; None without a floor.
        excluded: Spans left out because they were given before.
    """

    legs: LegCounts = field(default_factory=LegCounts)
    nodes: int = 0
    nodes_without_spans: int = 0
    kind_missing: int = 0
    slices_missing: int = 0
    zero_score: int = 0
    pool_capped: int = 0
    vector_leg_skipped: str | None = None
    min_similarity: float = 0.0
    below_floor: int = 0
    best_evidence: float | None = None
    excluded: int = 0


@dataclass(frozen=True, slots=True)
class PlanStats:
    """
    Accounts for the pool and the budget; `pool_spans` is the sum of the six outcomes.

    Attributes:
        tokenizer: Encoding that counted, `caller`, or `estimate`.
        requested: Tokens asked for, or the surface's default.
        applied: B, the budget packed and hashed.
        recall: None for Select.
        optimality: How near the plan is to the best that there could be.
    """

    pool_spans: int
    selected_spans: int
    deduped: int
    unpackable: int
    budget_skipped: int
    cap_skipped: int
    span_limit_skipped: int
    budget_stranded_by_cap: int
    token_estimate: bool
    tokenizer: str
    requested: int
    applied: int
    max_spans: int
    max_frac_per_source: float
    span_overhead_tokens: int
    recall: RecallStats | None
    optimality: Optimality = EMPTY
    plan_model: str = PLAN_MODEL
    score_model: str = SCORE_MODEL


@dataclass(frozen=True, slots=True)
class EvidencePlan:
    """
    The spans an answer may use.

    Attributes:
        budget: B applied.
        used: Tokens used, overhead included; never more than *budget*.
        spans: In canonical order.
        plan_hash: `b3:` and 64 hexadecimal digits.
    """

    budget: int
    used: int
    spans: tuple[PlannedSpan, ...]
    stats: PlanStats
    plan_hash: str
    plan_model: str = PLAN_MODEL


def canonical_bytes(budget: int, used: int, spans: Sequence[PlannedSpan]) -> bytes:
    """
    The bytes that the plan hash covers, docs/plan-hash.md.

    Args:
        budget: B applied, in 0..2⁶⁴−1.
        used: Tokens used, overhead included.
        spans: In canonical order; hashed in the order given.
    """
    parts = [_prefixed(PLAN_MODEL), struct.pack(">QQQ", budget, used, len(spans))]
    for planned in spans:
        parts.append(struct.pack(">16sqQQ", *planned.span))
        parts.append(_prefixed(planned.kind))
        parts.append(struct.pack(">BdQ", planned.span_class, planned.weight, planned.tokens))
    return b"".join(parts)


def plan_hash(budget: int, used: int, spans: Sequence[PlannedSpan]) -> str:
    """The hash that pins a plan, `b3:` and 64 hexadecimal digits; arguments as in `canonical_bytes`."""
    return "b3:" + blake3(canonical_bytes(budget, used, spans)).hexdigest()


def planned_spans(pool: Pool, packed: Int64, texts: Sequence[str]) -> tuple[PlannedSpan, ...]:
    """
    The rows *packed* of *pool* as spans of a plan.

    Args:
        pool: Collapsed and in canonical order.
        packed: Rows in canonical order, as `Selection.packed` holds them.
        texts: The text of each packed row, in that order.
    """
    columns = (
        pool.source_hi[packed].tolist(),
        pool.source_lo[packed].tolist(),
        pool.version[packed].tolist(),
        pool.start[packed].tolist(),
        pool.end[packed].tolist(),
        pool.kind[packed].tolist(),
        pool.span_class[packed].tolist(),
        pool.weight[packed].tolist(),
        pool.tokens[packed].tolist(),
        texts,
    )
    return tuple(
        PlannedSpan(
            span=SpanRef(struct.pack(">QQ", high, low), version, start, end),
            kind=pool.kinds[kind],
            span_class=_CLASSES[span_class],
            weight=weight,
            tokens=tokens,
            text=text,
        )
        for high, low, version, start, end, kind, span_class, weight, tokens, text in zip(*columns, strict=True)
    )


def account(
    pool: Pool,
    selection: Selection,
    rule: PackingRule,
    budget: Budget,
    *,
    token_estimate: bool,
    tokenizer: str,
    recall: RecallStats | None,
) -> PlanStats:
    """
    Account for every span of *pool*, which *selection* decided about.

    Args:
        selection: The outcomes.
        rule: What they were decided by.
        budget: As resolved; `budget.applied` is `rule.budget`.
        token_estimate: Whether any span of the pool has an estimated count.
        tokenizer: What counted.
        recall: None for Select.
    """
    return PlanStats(
        pool_spans=len(selection.outcome),
        selected_spans=selection.count(Outcome.PACKED),
        deduped=selection.count(Outcome.DEDUPED),
        unpackable=selection.count(Outcome.UNPACKABLE),
        budget_skipped=selection.count(Outcome.BUDGET_SKIPPED),
        cap_skipped=selection.count(Outcome.CAP_SKIPPED),
        span_limit_skipped=selection.count(Outcome.SPAN_LIMIT_SKIPPED),
        budget_stranded_by_cap=selection.stranded_by_cap,
        token_estimate=token_estimate,
        tokenizer=tokenizer,
        requested=budget.requested,
        applied=budget.applied,
        max_spans=rule.max_spans,
        max_frac_per_source=rule.max_frac_per_source,
        span_overhead_tokens=rule.span_overhead_tokens,
        recall=recall,
        optimality=optimality(pool, selection, rule),
    )


def assemble(used: int, spans: tuple[PlannedSpan, ...], stats: PlanStats) -> EvidencePlan:
    """The plan of *spans* in canonical order, with its hash; the budget is the one *stats* says was applied."""
    return EvidencePlan(
        budget=stats.applied,
        used=used,
        spans=spans,
        stats=stats,
        plan_hash=plan_hash(stats.applied, used, spans),
    )


def _prefixed(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">I", len(encoded)) + encoded

"""Plans as callers get them: the JSON shape of an evidence plan."""

from typing import Annotated

from msgspec import Meta
from telha.planner.v1 import plan_pb2, planner_pb2

from telha_gateway.dto.coordinates import CLASS_NAMES, UNKNOWN_CLASS, ClassField, SpanPlace, place
from telha_gateway.dto.explanation import Explanation, explained
from telha_gateway.dto.shape import Given, Micros, PlanHash, Uuid
from telha_gateway.dto.suggestion import Suggestion, suggested


class ReadWindow(Given):
    """The instants that were read at."""

    valid_time: Micros
    tx_time: Micros


class PlannedSpan(Given):
    """One span of a plan, with its verbatim text."""

    span: SpanPlace
    kind: str
    span_class: ClassField
    weight: Annotated[float, Meta(description="Float64, as hashed.")]
    tokens: Annotated[int, Meta(description="Tokens of the text alone.")]
    text: str


class LegCounts(Given):
    """Distinct nodes found by each leg; `traversal` counts those that only expansion reached."""

    query: int
    vector: int
    lexical: int
    traversal: int


class RecallStats(Given, kw_only=True):
    """What recall did."""

    legs: LegCounts
    nodes: int
    nodes_without_spans: int
    kind_missing: int
    slices_missing: int
    zero_score: int
    pool_capped: int
    vector_leg_skipped: str | None = None
    min_similarity: float
    below_floor: int
    best_evidence: float | None = None
    excluded: Annotated[int, Meta(description="Spans left out because earlier calls gave them.")]


class PlanStats(Given, kw_only=True):
    """
    Accounts for every span of the pool.

    `poolSpans = deduped + unpackable + budgetSkipped + spanLimitSkipped + capSkipped + selectedSpans`.
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
    recall: RecallStats | None = None
    plan_model: str
    score_model: str
    packed_weight: Annotated[float, Meta(description="Sum of the weights of the packed spans.")]
    weight_upper_bound: Annotated[
        float, Meta(description="No choice of spans under this budget and cap weighs more (fractional knapsack).")
    ]
    weight_share: Annotated[float, Meta(description="packedWeight / weightUpperBound, in [0, 1].")]


class Selection(Given, kw_only=True):
    """The spans an answer may use, in canonical order, and the proof of how they were chosen."""

    plan_model: str
    budget: Annotated[int, Meta(description="Tokens applied.")]
    used: Annotated[int, Meta(description="Tokens used, overhead included; never more than the budget.")]
    spans: list[PlannedSpan]
    stats: PlanStats
    plan_hash: PlanHash
    trace_id: Annotated[
        Uuid | None, Meta(description="Absent where the server does not require traces and could not keep this one.")
    ] = None
    explanation: Annotated[Explanation, Meta(description="If the request asked for one.")] | None = None
    suggestion: Annotated[Suggestion, Meta(description="If the request asked for one.")] | None = None


class EvidencePlan(Selection, kw_only=True):
    """A plan from memory: the selection, and the instants that were read at."""

    window: ReadWindow


def plan_answer(message: planner_pb2.PlanResponse) -> EvidencePlan:
    """The JSON shape of a plan."""
    plan = message.plan
    return EvidencePlan(
        plan_model=plan.plan_model,
        budget=plan.budget,
        used=plan.used,
        spans=[_span(span) for span in plan.spans],
        stats=stats(plan.stats),
        plan_hash=plan.plan_hash,
        trace_id=plan.trace_id or None,
        explanation=explained(message),
        suggestion=suggested(message),
        window=window(message.window),
    )


def select_answer(message: planner_pb2.SelectResponse) -> Selection:
    """The JSON shape of the answer to Select."""
    return selection(message.plan, explained(message), suggested(message))


def selection(
    plan: plan_pb2.EvidencePlan, explanation: Explanation | None = None, suggestion: Suggestion | None = None
) -> Selection:
    """The JSON shape of a plan but for the instants that it was read at."""
    return Selection(
        plan_model=plan.plan_model,
        budget=plan.budget,
        used=plan.used,
        spans=[_span(span) for span in plan.spans],
        stats=stats(plan.stats),
        plan_hash=plan.plan_hash,
        trace_id=plan.trace_id or None,
        explanation=explanation,
        suggestion=suggestion,
    )


def window(message: plan_pb2.Window) -> ReadWindow:
    """The JSON shape of the instants read at."""
    return ReadWindow(valid_time=message.valid_time_us, tx_time=message.tx_time_us)


def legs(message: plan_pb2.LegCounts) -> LegCounts:
    """The JSON shape of the counts per leg."""
    return LegCounts(query=message.query, vector=message.vector, lexical=message.lexical, traversal=message.traversal)


def stats(message: plan_pb2.PlanStats) -> PlanStats:
    """The JSON shape of a plan's statistics."""
    return PlanStats(
        pool_spans=message.pool_spans,
        selected_spans=message.selected_spans,
        deduped=message.deduped,
        unpackable=message.unpackable,
        budget_skipped=message.budget_skipped,
        cap_skipped=message.cap_skipped,
        span_limit_skipped=message.span_limit_skipped,
        budget_stranded_by_cap=message.budget_stranded_by_cap,
        token_estimate=message.token_estimate,
        tokenizer=message.tokenizer,
        requested=message.requested,
        applied=message.applied,
        max_spans=message.max_spans,
        max_frac_per_source=message.max_frac_per_source,
        span_overhead_tokens=message.span_overhead_tokens,
        recall=_recall(message.recall) if message.HasField("recall") else None,
        plan_model=message.plan_model,
        score_model=message.score_model,
        packed_weight=message.packed_weight,
        weight_upper_bound=message.weight_upper_bound,
        weight_share=message.weight_share,
    )


def _recall(message: plan_pb2.RecallStats) -> RecallStats:
    return RecallStats(
        legs=legs(message.legs),
        nodes=message.nodes,
        nodes_without_spans=message.nodes_without_spans,
        kind_missing=message.kind_missing,
        slices_missing=message.slices_missing,
        zero_score=message.zero_score,
        pool_capped=message.pool_capped,
        vector_leg_skipped=message.vector_leg_skipped if message.HasField("vector_leg_skipped") else None,
        min_similarity=message.min_similarity,
        below_floor=message.below_floor,
        best_evidence=message.best_evidence if message.HasField("best_evidence") else None,
        excluded=message.excluded,
    )


def _span(message: plan_pb2.PlannedSpan) -> PlannedSpan:
    return PlannedSpan(
        span=place(message.span),
        kind=message.kind,
        span_class=CLASS_NAMES.get(message.span_class, UNKNOWN_CLASS),
        weight=message.weight,
        tokens=message.tokens,
        text=message.text,
    )

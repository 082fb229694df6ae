"""Requests for plans and what they have in common, as the wire messages."""

from typing import Annotated, Any, Literal

from google.protobuf import struct_pb2
from msgspec import Meta
from telha.planner.v1 import plan_pb2, planner_pb2

from telha_gateway.dto.coordinates import SpanCoordinate, span_message
from telha_gateway.dto.explanation import Explain, WhyNots, subjects
from telha_gateway.dto.properties import ROOM_FOR_CONDITIONS, struct_of
from telha_gateway.dto.shape import (
    COMPONENT,
    MAX_OFFSET,
    PROSE_PATTERN,
    Float32,
    GivenName,
    Instant,
    Int64,
    Name,
    Sent,
    UInt32,
    Uuid,
    told,
)
from telha_gateway.dto.suggestion import Suggest, suggest_message
from telha_gateway.instants import instant

LegName = Literal["structured", "semantic", "lexical"]
ClassName = Literal["truth", "cache"]

_LEGS: "dict[LegName, plan_pb2.Leg]" = {
    "structured": plan_pb2.LEG_STRUCTURED,
    "semantic": plan_pb2.LEG_SEMANTIC,
    "lexical": plan_pb2.LEG_LEXICAL,
}
_CLASSES: "dict[ClassName, plan_pb2.SpanClass]" = {
    "truth": plan_pb2.SPAN_CLASS_TRUTH,
    "cache": plan_pb2.SPAN_CLASS_CACHE,
}

Question = Annotated[
    str,
    told(
        "What the caller wants to know; not blank, at most 16,384 bytes.",
        minLength=1,
        maxLength=16_384,
        pattern=PROSE_PATTERN,
    ),
]
Find = Annotated[Name, Meta(description="The type of the nodes to start from, for example `passage`; 1 to 128 bytes.")]
FindLimit = Annotated[UInt32, told("Most nodes that `find` returns, 1 to 1000. Default 64.", minimum=1, maximum=1000)]
Where = Annotated[
    dict[str, Any],
    Meta(extra_json_schema={COMPONENT: "Where"}),
]
ExpandDepth = Annotated[
    UInt32, told("Hops to expand from what was found: 0, 1 or 2; of 1, two from passage to passage.", maximum=2)
]
Model = Annotated[
    Name, Meta(description="The model that will read the spans; decides how tokens are counted. 1 to 128 bytes.")
]
Spaces = Annotated[
    list[Name],
    told(
        "Spaces to read. Default: the key's spaces, or `main`. `*` alone: all that the key allows.",
        maxItems=256,
        uniqueItems=True,
    ),
]
Share = Annotated[
    float, told("Share of the budget that one source may take, above 0 and at most 1.", exclusiveMinimum=0, maximum=1)
]
Overhead = Annotated[
    Int64, told("Tokens the caller adds around each span, 0 to 1,000,000.", minimum=0, maximum=1_000_000)
]
Floor = Annotated[
    float,
    told(
        "Evidence below which what was found is nothing relevant and stays out. 0 keeps all; default: as configured.",
        minimum=0,
        maximum=1,
    ),
]
Legs = Annotated[list[LegName], Meta(description="Ways to recall. Default: all that the request implies.")]
Ungrounded = Annotated[
    bool, Meta(description="Answer an empty pool with an empty plan instead of `INSUFFICIENT_EVIDENCE`.")
]


class Window(Sent):
    """The two instants to read at."""

    valid_time: Annotated[Instant, Meta(description="When facts must be true. Default: now.")] | None = None
    tx_time: Annotated[Instant, Meta(description="As of when memory is read. Default: the last commit.")] | None = None


class Budget(Sent):
    """The limits of a plan."""

    max_tokens: Annotated[Int64, told("Tokens, at least 1.", minimum=1, maximum=MAX_OFFSET)] | None = None
    max_spans: Annotated[Int64, told("Spans; 0 means no limit.", minimum=0, maximum=MAX_OFFSET)] | None = None


class QueryVector(Sent):
    """A query vector made by the caller."""

    values: Annotated[list[Float32], told("1 to 4096 finite numbers, not all zero.", minItems=1, maxItems=4096)]
    model: Annotated[Name, Meta(description="The model that made it. Default: the tenant's.")] | None = None


class Exclude(Sent):
    """
    Leaves out what earlier calls gave: equal spans, and those that deduplication would drop beside them.

    Spans of another version of a source are not left out.
    """

    trace_ids: Annotated[
        list[Uuid],
        told(
            "The traces, 1 to 32. What they excluded themselves is left out only where their traces are named too.",
            minItems=1,
            maxItems=32,
            uniqueItems=True,
        ),
    ]


class PlanRequest(Sent):
    """Asks for a plan. At least one of `question`, `find` and `vector` is required."""

    question: Question | None = None
    find: Find | None = None
    where: Where | None = None
    limit: FindLimit | None = None
    vector: QueryVector | None = None
    expand_depth: ExpandDepth | None = None
    window: Window | None = None
    budget: Budget | None = None
    model: Model | None = None
    spaces: Spaces | None = None
    max_frac_per_source: Share | None = None
    span_overhead_tokens: Overhead | None = None
    legs: Legs | None = None
    allow_ungrounded: Ungrounded | None = None
    min_similarity: Floor | None = None
    exclude: Exclude | None = None
    explain: Explain | None = None
    why_not: WhyNots | None = None
    suggest: Suggest | None = None


class Fragment(Sent):
    """One span of a pool that the caller sends."""

    span: SpanCoordinate
    kind: Annotated[GivenName, Meta(description="Structural kind, 1 to 128 bytes. Default `body`.")] | None = None
    span_class: ClassName | None = None
    text: Annotated[str, told("Needed to count tokens, and to score by a question.", pattern=r"^[^\x00]*$")] | None = (
        None
    )
    tokens: (
        Annotated[Int64, told("Exact tokens; they win over counting the text.", minimum=0, maximum=MAX_OFFSET)] | None
    ) = None
    score: Annotated[float, told("Evidence weight, at least 0; not beside a question.", minimum=0)] | None = None


class SelectRequest(Sent):
    """Asks for a selection from a pool of at most 100,000 fragments; its order does not matter."""

    pool: Annotated[list[Fragment], Meta(extra_json_schema={"maxItems": 100_000})]
    question: Question | None = None
    budget: Budget | None = None
    model: Model | None = None
    max_frac_per_source: Share | None = None
    span_overhead_tokens: Overhead | None = None
    allow_ungrounded: Ungrounded | None = None
    explain: Explain | None = None
    why_not: WhyNots | None = None
    suggest: Suggest | None = None


def plan_message(body: PlanRequest) -> planner_pb2.PlanRequest:
    """*body* on the wire."""
    return planner_pb2.PlanRequest(
        question=body.question,
        query=query_message(body.find, body.limit, body.where),
        vector=vector_message(body.vector),
        expand_depth=body.expand_depth,
        window=window_message(body.window),
        budget=budget_message(body.budget),
        model=body.model,
        spaces=body.spaces,
        max_frac_per_source=body.max_frac_per_source,
        span_overhead_tokens=body.span_overhead_tokens,
        legs=leg_numbers(body.legs),
        allow_ungrounded=bool(body.allow_ungrounded),
        explain=bool(body.explain),
        why_not=subjects(body.why_not),
        suggest=suggest_message(body.suggest),
        min_similarity=body.min_similarity,
        exclude=exclude_message(body.exclude),
    )


def select_message(body: SelectRequest) -> planner_pb2.SelectRequest:
    """*body* on the wire."""
    return planner_pb2.SelectRequest(
        pool=[_fragment_message(fragment) for fragment in body.pool],
        question=body.question,
        budget=budget_message(body.budget),
        model=body.model,
        max_frac_per_source=body.max_frac_per_source,
        span_overhead_tokens=body.span_overhead_tokens,
        allow_ungrounded=bool(body.allow_ungrounded),
        explain=bool(body.explain),
        why_not=subjects(body.why_not),
        suggest=suggest_message(body.suggest),
    )


def query_message(find: str | None, limit: int | None, where: dict[str, Any] | None) -> plan_pb2.NodeQuery | None:
    """The structured query, if any part of it was given."""
    if find is None and limit is None and where is None:
        return None
    return plan_pb2.NodeQuery(find=find or "", limit=limit, where=where_message(where))


def where_message(where: dict[str, Any] | None) -> struct_pb2.Struct | None:
    """*where* on the wire; the planner knows its grammar."""
    return None if where is None else struct_of(where, "/where", ROOM_FOR_CONDITIONS)


def vector_message(vector: QueryVector | None) -> plan_pb2.QueryVector | None:
    """*vector* on the wire; values become float32."""
    return None if vector is None else plan_pb2.QueryVector(values=vector.values, model=vector.model)


def window_message(window: Window | None) -> plan_pb2.Window | None:
    """*window* on the wire."""
    if window is None:
        return None
    valid, tx = window.valid_time, window.tx_time
    return plan_pb2.Window(
        valid_time_us=None if valid is None else instant(valid, "/window/validTime"),
        tx_time_us=None if tx is None else instant(tx, "/window/txTime"),
    )


def budget_message(budget: Budget | None) -> plan_pb2.Budget | None:
    """*budget* on the wire."""
    return None if budget is None else plan_pb2.Budget(max_tokens=budget.max_tokens, max_spans=budget.max_spans)


def exclude_message(exclude: Exclude | None) -> plan_pb2.Exclude | None:
    """*exclude* on the wire."""
    return None if exclude is None else plan_pb2.Exclude(trace_ids=exclude.trace_ids)


def leg_numbers(legs: list[LegName] | None) -> "list[plan_pb2.Leg]":
    """*legs* on the wire."""
    return [_LEGS[leg] for leg in legs or ()]


def _fragment_message(fragment: Fragment) -> planner_pb2.Fragment:
    return planner_pb2.Fragment(
        span=span_message(fragment.span),
        kind=fragment.kind or "",
        span_class=None if fragment.span_class is None else _CLASSES[fragment.span_class],
        text=fragment.text,
        tokens=fragment.tokens,
        score=fragment.score,
    )

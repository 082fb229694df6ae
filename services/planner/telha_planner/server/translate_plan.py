"""
Planner messages to and from the core's types.

Each request is read twice over: as the type that checks itself, and as the JSON-able object that its trace keeps
("as sent": camelCase, only what was set, defaults left out).
"""

from typing import Any

from telha.context.v1 import context_pb2
from telha.planner.v1 import plan_pb2, planner_pb2

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.core.plan import EvidencePlan, PlanStats, RecallStats
from telha_planner.core.request import Fragment, Leg, PlanRequest, SelectRequest, Window, check_excluded_traces
from telha_planner.core.value import format_uuid, parse_uuid

from .translate_properties import read_conditions
from .translate_subjects import read_subjects
from .translate_suggestion import read_suggest

_LEGS: dict[int, Leg] = {
    plan_pb2.LEG_STRUCTURED: Leg.STRUCTURED,
    plan_pb2.LEG_SEMANTIC: Leg.SEMANTIC,
    plan_pb2.LEG_LEXICAL: Leg.LEXICAL,
}
_CLASSES: dict[int, SpanClass] = {
    plan_pb2.SPAN_CLASS_UNSPECIFIED: SpanClass.TRUTH,
    plan_pb2.SPAN_CLASS_TRUTH: SpanClass.TRUTH,
    plan_pb2.SPAN_CLASS_CACHE: SpanClass.CACHE,
}
CLASS_ON_THE_WIRE = {
    SpanClass.TRUTH: plan_pb2.SPAN_CLASS_TRUTH,
    SpanClass.CACHE: plan_pb2.SPAN_CLASS_CACHE,
}

_SCALARS = ("question", "expand_depth", "model", "max_frac_per_source", "span_overhead_tokens", "min_similarity")

Sent = dict[str, Any]
Asking = planner_pb2.PlanRequest | context_pb2.BuildRequest


def read_plan(message: Asking) -> tuple[PlanRequest, Sent]:
    """
    The request of Plan or Context, checked, and as sent; what it excludes is checked, and left to `earlier`.

    Raises:
        RequestInvalid: A field breaks a rule.
    """
    sent: Sent = {}
    fields: dict[str, Any] = {}
    for name in _SCALARS:
        if message.HasField(name):
            fields[name] = sent[_camel(name)] = getattr(message, name)
    _read_query(message, fields, sent)
    _read_vector(message, fields, sent)
    if message.HasField("window"):
        fields["window"] = read_window(message.window)
        sent["window"] = {_camel(field.name): value for field, value in message.window.ListFields()}
    if message.HasField("budget"):
        _read_budget(message.budget, fields, sent)
    if message.spaces:
        fields["spaces"] = tuple(message.spaces)
        sent["spaces"] = list(message.spaces)
    if message.legs:
        legs = [_leg(index, leg) for index, leg in enumerate(message.legs)]
        fields["legs"] = frozenset(legs)
        sent["legs"] = [leg.value for leg in legs]
    _read_explain(message, fields, sent)
    if message.HasField("exclude"):
        check_excluded_traces(message.exclude.trace_ids)
        sent["exclude"] = {"traceIds": list(message.exclude.trace_ids)}
    if isinstance(message, planner_pb2.PlanRequest) and message.allow_ungrounded:
        fields["allow_ungrounded"] = sent["allowUngrounded"] = True
    return PlanRequest(**fields), sent


def read_select(message: planner_pb2.SelectRequest) -> tuple[SelectRequest, Sent]:
    """
    The request of Select, checked, and as sent.

    Raises:
        RequestInvalid: A field breaks a rule.
    """
    sent: Sent = {}
    fields: dict[str, Any] = {}
    for name in ("question", "model", "max_frac_per_source", "span_overhead_tokens"):
        if message.HasField(name):
            fields[name] = sent[_camel(name)] = getattr(message, name)
    if message.HasField("budget"):
        _read_budget(message.budget, fields, sent)
    if message.allow_ungrounded:
        fields["allow_ungrounded"] = sent["allowUngrounded"] = True
    _read_explain(message, fields, sent)
    pool = []
    sent_pool = []
    for index, fragment in enumerate(message.pool):
        read, as_sent = _read_fragment(index, fragment)
        pool.append(read)
        sent_pool.append(as_sent)
    sent["pool"] = sent_pool
    return SelectRequest(pool=pool, **fields), sent


def read_window(message: plan_pb2.Window) -> Window:
    """The two instants, None where absent."""
    return Window(
        valid_time=message.valid_time_us if message.HasField("valid_time_us") else None,
        tx_time=message.tx_time_us if message.HasField("tx_time_us") else None,
    )


def read_span(place: str, message: plan_pb2.SpanRef) -> SpanRef:
    """The coordinate at *place*; raises `RequestInvalid` for an id that is not a lower-case UUID."""
    source_id = parse_uuid(f"{place}.source_id", message.source_id)
    return SpanRef(source_id, message.source_version_tx, message.start, message.end)


def window_message(window: Window) -> plan_pb2.Window:
    """*window* on the wire."""
    return plan_pb2.Window(valid_time_us=window.valid_time, tx_time_us=window.tx_time)


def plan_message(plan: EvidencePlan, trace_id: str) -> plan_pb2.EvidencePlan:
    """*plan* on the wire; weights keep their bits."""
    message = plan_pb2.EvidencePlan(
        plan_model=plan.plan_model,
        budget=plan.budget,
        used=plan.used,
        stats=stats_message(plan.stats),
        plan_hash=plan.plan_hash,
        trace_id=trace_id,
    )
    add = message.spans.add
    for planned in plan.spans:
        source_id, version, start, end = planned.span
        added = add(
            kind=planned.kind,
            span_class=CLASS_ON_THE_WIRE[planned.span_class],
            weight=planned.weight,
            tokens=planned.tokens,
            text=planned.text,
        )
        span = added.span
        span.source_id = format_uuid(source_id)
        span.source_version_tx = version
        span.start = start
        span.end = end
    return message


def stats_message(stats: PlanStats) -> plan_pb2.PlanStats:
    """*stats* on the wire."""
    return plan_pb2.PlanStats(
        pool_spans=stats.pool_spans,
        selected_spans=stats.selected_spans,
        deduped=stats.deduped,
        unpackable=stats.unpackable,
        budget_skipped=stats.budget_skipped,
        cap_skipped=stats.cap_skipped,
        span_limit_skipped=stats.span_limit_skipped,
        budget_stranded_by_cap=stats.budget_stranded_by_cap,
        token_estimate=stats.token_estimate,
        tokenizer=stats.tokenizer,
        requested=stats.requested,
        applied=stats.applied,
        max_spans=stats.max_spans,
        max_frac_per_source=stats.max_frac_per_source,
        span_overhead_tokens=stats.span_overhead_tokens,
        recall=None if stats.recall is None else _recall_message(stats.recall),
        plan_model=stats.plan_model,
        score_model=stats.score_model,
        packed_weight=stats.optimality.packed_weight,
        weight_upper_bound=stats.optimality.upper_bound,
        weight_share=stats.optimality.share,
    )


def legs_message(recall: RecallStats) -> plan_pb2.LegCounts:
    """Distinct nodes per leg on the wire."""
    legs = recall.legs
    return plan_pb2.LegCounts(query=legs.query, vector=legs.vector, lexical=legs.lexical, traversal=legs.traversal)


def _recall_message(recall: RecallStats) -> plan_pb2.RecallStats:
    return plan_pb2.RecallStats(
        legs=legs_message(recall),
        nodes=recall.nodes,
        nodes_without_spans=recall.nodes_without_spans,
        kind_missing=recall.kind_missing,
        slices_missing=recall.slices_missing,
        zero_score=recall.zero_score,
        pool_capped=recall.pool_capped,
        vector_leg_skipped=recall.vector_leg_skipped,
        min_similarity=recall.min_similarity,
        below_floor=recall.below_floor,
        best_evidence=recall.best_evidence,
        excluded=recall.excluded,
    )


def _read_query(message: Asking, fields: dict[str, Any], sent: Sent) -> None:
    if not message.HasField("query"):
        return
    query = message.query
    fields["find"] = query.find
    sent["query"] = {"find": query.find}
    if query.HasField("limit"):
        fields["find_limit"] = sent["query"]["limit"] = query.limit
    if query.HasField("where"):
        fields["where"], sent["query"]["where"] = read_conditions("query.where", query.where)


def _read_vector(message: Asking, fields: dict[str, Any], sent: Sent) -> None:
    if not message.HasField("vector"):
        return
    vector = message.vector
    fields["vector"] = tuple(vector.values)
    sent["vector"] = {"values": list(fields["vector"])}
    if vector.HasField("model"):
        fields["vector_model"] = sent["vector"]["model"] = vector.model


def _read_explain(message: Asking | planner_pb2.SelectRequest, fields: dict[str, Any], sent: Sent) -> None:
    if message.explain:
        fields["explain"] = sent["explain"] = True
    if message.why_not:
        fields["why_not"], sent["whyNot"] = read_subjects(message.why_not)
    if message.HasField("suggest"):
        fields["suggest"], sent["suggest"] = read_suggest(message.suggest)


def _read_budget(budget: plan_pb2.Budget, fields: dict[str, Any], sent: Sent) -> None:
    sent["budget"] = {}
    for name in ("max_tokens", "max_spans"):
        if budget.HasField(name):
            fields[name] = sent["budget"][_camel(name)] = getattr(budget, name)


def _read_fragment(index: int, message: planner_pb2.Fragment) -> tuple[Fragment, Sent]:
    place = f"pool[{index}]"
    if not message.HasField("span"):
        raise RequestInvalid(field=f"{place}.span", rule="is required")
    span = read_span(f"{place}.span", message.span)
    span_class = _CLASSES.get(message.span_class)
    if span_class is None:
        raise RequestInvalid(field=f"{place}.class", rule="must be a span class that this version knows")
    sent: Sent = {
        "span": {
            "sourceId": message.span.source_id,
            "sourceVersionTx": span.source_version_tx,
            "start": span.start,
            "end": span.end,
        }
    }
    text = tokens = score = None
    if message.kind:
        sent["kind"] = message.kind
    if message.span_class:
        sent["class"] = span_class.name.lower()
    if message.HasField("text"):
        text = sent["text"] = message.text
    if message.HasField("tokens"):
        tokens = sent["tokens"] = message.tokens
    if message.HasField("score"):
        score = sent["score"] = message.score
    return Fragment(span, message.kind or "body", span_class, text, tokens, score), sent


def _leg(index: int, value: int) -> Leg:
    leg = _LEGS.get(value)
    if leg is None:
        raise RequestInvalid(field=f"legs[{index}]", rule="must be a leg that this version knows")
    return leg


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)

"""Answers, read: from the bytes on the wire to the results that callers see."""

from collections.abc import Callable
from typing import Any

from google.protobuf import json_format
from telha.context.v1 import context_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2, planner_pb2
from telha.trace.v1 import traces_pb2

from .explanation import Explanation
from .explanation_answers import CLASSES, explained, span
from .prompt import Citation, Prompt
from .results import (
    BudgetStats,
    Committed,
    Context,
    ContextStats,
    Erasure,
    FoundNode,
    IngestedDocument,
    Ingestion,
    Item,
    ItemSource,
    LegCounts,
    OpenQuestion,
    Page,
    PendingClarification,
    Plan,
    PlannedSpan,
    PlanStats,
    QueryPage,
    RecallStats,
    Reembedding,
    Source,
    SourceText,
    Trace,
    TraceSummary,
    ValidTime,
    Window,
    WrittenArtifact,
    WrittenArtifacts,
)
from .suggestion import Suggestion, suggested

_MAX_EXACT = 2**53 - 1
_OUTCOMES = {
    memory_pb2.INGEST_OUTCOME_CREATED: "created",
    memory_pb2.INGEST_OUTCOME_UPDATED: "updated",
    memory_pb2.INGEST_OUTCOME_UNCHANGED: "unchanged",
}


def plan(raw: bytes) -> Plan:
    """From `PlanResponse`."""
    message = planner_pb2.PlanResponse.FromString(raw)
    return planned(message.plan, _window(message.window), explained(message), suggested(message))


def select(raw: bytes) -> Plan:
    """From `SelectResponse`."""
    message = planner_pb2.SelectResponse.FromString(raw)
    return planned(message.plan, None, explained(message), suggested(message))


def context(raw: bytes) -> Context:
    """From `BuildResponse`."""
    message = context_pb2.BuildResponse.FromString(raw)
    return Context(
        items=tuple(_item(item) for item in message.items),
        open_questions=tuple(
            OpenQuestion(question.clarification_id, question.state, question.question)
            for question in message.open_questions
        ),
        stats=_context_stats(message.stats) if message.HasField("stats") else None,
        trace_id=message.trace_id,
        plan_hash=message.plan_hash,
        window=_window(message.window),
        explanation=explained(message),
        suggestion=suggested(message),
        prompt=_prompt(message.prompt) if message.HasField("prompt") else None,
    )


def ingestion(raw: bytes) -> Ingestion:
    """From `IngestResponse`."""
    message = memory_pb2.IngestResponse.FromString(raw)
    documents = tuple(_ingested(document) for document in message.documents)
    return Ingestion(documents, message.tx_us, message.replayed)


def streamed(raw: bytes) -> Ingestion:
    """From `IngestStreamResponse`."""
    message = memory_pb2.IngestStreamResponse.FromString(raw)
    return Ingestion((_ingested(message.document),), message.tx_us, message.replayed)


def artifacts(raw: bytes) -> WrittenArtifacts:
    """From `PutArtifactsResponse`."""
    message = memory_pb2.PutArtifactsResponse.FromString(raw)
    written = tuple(
        WrittenArtifact(
            artifact_id=artifact.artifact_id,
            source_version_tx=artifact.source_version_tx,
            outcome=_OUTCOMES.get(artifact.outcome, "unknown"),
        )
        for artifact in message.artifacts
    )
    return WrittenArtifacts(written, message.tx_us, message.replayed)


def committed(response_type: Any) -> Callable[[bytes], Committed]:  # noqa: ANN401 (three messages alike)
    """From the answers of `PutNodes`, `PutEdges` and `PutClarifications`."""

    def read(raw: bytes) -> Committed:
        message = response_type.FromString(raw)
        return Committed(message.tx_us, message.replayed)

    return read


def source(raw: bytes) -> SourceText:
    """From `GetSourceResponse`."""
    message = memory_pb2.GetSourceResponse.FromString(raw)
    return SourceText(_source(message.source), message.text if message.HasField("text") else None)


def sources(raw: bytes) -> Page[Source]:
    """From `ListSourcesResponse`."""
    message = memory_pb2.ListSourcesResponse.FromString(raw)
    return Page(tuple(_source(listed) for listed in message.sources), message.next_page_token)


def erasure(raw: bytes) -> Erasure:
    """From `EraseSourceResponse`."""
    message = memory_pb2.EraseSourceResponse.FromString(raw)
    return Erasure(
        source_id=message.source_id,
        tx=message.tx_us,
        versions=message.versions,
        spans=message.spans,
        nodes=message.nodes,
        edges=message.edges,
        vectors=message.vectors,
        artifacts=message.artifacts,
        replayed=message.replayed,
    )


def reembedding(raw: bytes) -> Reembedding:
    """From `ReembedResponse`."""
    message = memory_pb2.ReembedResponse.FromString(raw)
    return Reembedding(
        model=message.model,
        embedded=message.embedded,
        left=message.left if message.HasField("left") else None,
        next_cursor=message.next_cursor,
        finished=message.finished,
        tx=message.tx_us if message.HasField("tx_us") else None,
    )


def query(raw: bytes) -> QueryPage:
    """From `QueryResponse`."""
    message = memory_pb2.QueryResponse.FromString(raw)
    nodes = tuple(_found_node(node) for node in message.nodes)
    return QueryPage(nodes, message.next_page_token or None, _window(message.window))


def trace(raw: bytes) -> Trace:
    """From `GetResponse`."""
    message = traces_pb2.GetResponse.FromString(raw)
    record = _whole_numbers(json_format.MessageToDict(message.record))
    erased = tuple(message.erased_items)
    return Trace(_summary(message.summary), record, message.pool_left_out, message.explained_left_out, erased)


def deleted_trace(raw: bytes) -> TraceSummary:
    """From `DeleteResponse`."""
    return _summary(traces_pb2.DeleteResponse.FromString(raw).trace)


def traces(raw: bytes) -> Page[TraceSummary]:
    """From `ListResponse`."""
    message = traces_pb2.ListResponse.FromString(raw)
    return Page(tuple(_summary(summary) for summary in message.traces), message.next_page_token)


def planned(
    message: plan_pb2.EvidencePlan,
    window: Window | None,
    explanation: Explanation | None,
    suggestion: Suggestion | None = None,
) -> Plan:
    """From `EvidencePlan`."""
    spans = tuple(
        PlannedSpan(
            span=span(held.span),
            kind=held.kind,
            span_class=CLASSES.get(held.span_class, "unknown"),
            weight=held.weight,
            tokens=held.tokens,
            text=held.text,
        )
        for held in message.spans
    )
    return Plan(
        plan_model=message.plan_model,
        budget=message.budget,
        used=message.used,
        spans=spans,
        stats=_stats(message.stats),
        plan_hash=message.plan_hash,
        trace_id=message.trace_id,
        window=window,
        explanation=explanation,
        suggestion=suggestion,
    )


def _stats(message: plan_pb2.PlanStats) -> PlanStats:
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
        legs=_legs(message.legs),
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


def _legs(message: plan_pb2.LegCounts) -> LegCounts:
    return LegCounts(message.query, message.vector, message.lexical, message.traversal)


def _window(message: plan_pb2.Window) -> Window:
    return Window(
        valid_time=message.valid_time_us if message.HasField("valid_time_us") else None,
        tx_time=message.tx_time_us if message.HasField("tx_time_us") else None,
    )


def _prompt(message: context_pb2.Prompt) -> Prompt:
    return Prompt(
        format=message.format,
        text=message.text,
        tokens=message.tokens,
        tokenizer=message.tokenizer,
        citations=tuple(Citation(cited.number, cited.item, span(cited.span)) for cited in message.citations),
        left_out=tuple(span(left) for left in message.left_out),
    )


def _item(message: context_pb2.Item) -> Item:
    where, valid = message.source, message.valid_time
    return Item(
        text=message.text,
        source=ItemSource(where.source_id, where.source_version_tx, where.start, where.end, where.name),
        kind=message.kind,
        span_class=CLASSES.get(message.span_class, "unknown"),
        score=message.score if message.HasField("score") else None,
        valid_time=ValidTime(valid.start_us, valid.end_us if valid.HasField("end_us") else None),
        pending_clarification=_pending(message),
    )


def _pending(message: context_pb2.Item | memory_pb2.FoundNode) -> PendingClarification | None:
    pending = message.pending_clarification
    known = message.HasField("pending_clarification")
    return PendingClarification(pending.clarification_id, pending.state) if known else None


def _found_node(message: memory_pb2.FoundNode) -> FoundNode:
    return FoundNode(
        node_id=message.node_id,
        type=message.type,
        space=message.space,
        properties=_whole_numbers(json_format.MessageToDict(message.properties)),
        valid_from=message.valid_from_us,
        valid_to=message.valid_to_us if message.HasField("valid_to_us") else None,
        provenance=tuple(map(span, message.provenance)),
        pending_clarification=_pending(message),
    )


def _context_stats(message: context_pb2.ContextStats) -> ContextStats:
    budget = message.budget
    return ContextStats(
        legs=_legs(message.legs),
        candidates=message.candidates,
        dedup_dropped=message.dedup_dropped,
        cap_skipped=message.cap_skipped,
        budget_skipped=message.budget_skipped,
        unpackable=message.unpackable,
        span_limit_skipped=message.span_limit_skipped,
        budget=BudgetStats(budget.requested, budget.applied, budget.used, budget.stranded),
        vector_leg_skipped=message.vector_leg_skipped if message.HasField("vector_leg_skipped") else None,
        token_estimate=message.token_estimate,
        tokenizer=message.tokenizer,
        plan=_stats(message.plan),
    )


def _ingested(document: memory_pb2.IngestedDocument) -> IngestedDocument:
    return IngestedDocument(
        source_id=document.source_id,
        source_version_tx=document.source_version_tx,
        outcome=_OUTCOMES.get(document.outcome, "unknown"),
        spans=document.spans,
        nodes_opened=document.nodes_opened,
        nodes_closed=document.nodes_closed,
        nodes_kept=document.nodes_kept,
    )


def _source(message: memory_pb2.Source) -> Source:
    return Source(
        source_id=message.source_id,
        name=message.name,
        uri=message.uri if message.HasField("uri") else None,
        space=message.space,
        source_version_tx=message.source_version_tx,
        length=message.length,
        content_hash=message.content_hash,
        valid_from=message.valid_from_us,
        span_class=CLASSES.get(message.span_class, "truth"),
    )


def _summary(message: traces_pb2.TraceSummary) -> TraceSummary:
    return TraceSummary(
        trace_id=message.trace_id,
        kind=message.kind,
        recorded=message.recorded_us,
        spaces=tuple(message.spaces),
        plan_hash=message.plan_hash,
        budget=message.budget,
        used=message.used,
        items=message.items,
        stranded=message.stranded,
    )


def _whole_numbers(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    # google.protobuf.Struct knows only doubles; an integer that was sent as one is an integer again.
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT:
        return int(value)
    if isinstance(value, dict):
        return {key: _whole_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(inner) for inner in value]
    return value

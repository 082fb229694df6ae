"""Context messages to and from the core's types."""

from collections.abc import Sequence

from telha.context.v1 import context_pb2

from telha_planner.answers import ContextAnswer, ContextItem, OpenQuestion, Prompt
from telha_planner.core.plan import PlanStats, RecallStats
from telha_planner.core.request import PlanRequest
from telha_planner.core.value import format_uuid

from .translate_explanation import span_message
from .translate_plan import CLASS_ON_THE_WIRE, Sent, legs_message, read_plan, stats_message, window_message

INCLUDES = ("open_questions", "scores", "stats")
"""Parts of the response that `include` switches off; all are on by default, and none alters the plan."""
PROMPT = "prompt"
"""The part that `include` switches on."""


def read_build(message: context_pb2.BuildRequest) -> tuple[PlanRequest, frozenset[str], Sent]:
    """
    The request of Context: what to plan, which parts of the response are wanted, and the request as sent.

    Raises:
        RequestInvalid: A field breaks a rule.
    """
    request, sent = read_plan(message)
    wanted = set(INCLUDES)
    if message.HasField("include"):
        chosen = {field.name: value for field, value in message.include.ListFields()}
        sent["include"] = {name.replace("_q", "Q"): value for name, value in chosen.items()}
        wanted -= {name for name, value in chosen.items() if not value}
        wanted |= {PROMPT} & {name for name, value in chosen.items() if value}
    return request, frozenset(wanted), sent


def build_response(answer: ContextAnswer, wanted: frozenset[str]) -> context_pb2.BuildResponse:
    """The answer on the wire, with the *wanted* parts."""
    response = context_pb2.BuildResponse(
        trace_id=answer.trace_id,
        plan_hash=answer.plan.plan_hash,
        window=window_message(answer.window),
    )
    _add_items(response, answer.items, scores="scores" in wanted)
    if "open_questions" in wanted:
        response.open_questions.extend(_question_message(question) for question in answer.open_questions)
    if "stats" in wanted:
        response.stats.CopyFrom(_stats_message(answer.plan.stats, answer.plan.used))
    if answer.prompt is not None:
        response.prompt.CopyFrom(_prompt_message(answer.prompt))
    return response


def _add_items(response: context_pb2.BuildResponse, items: Sequence[ContextItem], *, scores: bool) -> None:
    for item in items:
        added = response.items.add(
            text=item.text,
            kind=item.kind,
            span_class=CLASS_ON_THE_WIRE[item.span_class],
            score=item.score if scores else None,
        )
        source = added.source
        source.source_id = format_uuid(item.span.source_id)
        source.source_version_tx = item.span.source_version_tx
        source.start = item.span.start
        source.end = item.span.end
        source.name = item.name
        added.valid_time.start_us = item.valid_from
        if item.valid_to is not None:
            added.valid_time.end_us = item.valid_to
        if item.caveat is not None:
            added.pending_clarification.clarification_id = format_uuid(item.caveat.clarification_id)
            added.pending_clarification.state = item.caveat.state


def _prompt_message(prompt: Prompt) -> context_pb2.Prompt:
    return context_pb2.Prompt(
        format=prompt.format,
        text=prompt.text,
        tokens=prompt.tokens,
        tokenizer=prompt.tokenizer,
        citations=[
            context_pb2.Citation(number=cited.number, item=cited.item, span=span_message(cited.span))
            for cited in prompt.citations
        ],
        left_out=[span_message(span) for span in prompt.left_out],
    )


def _question_message(question: OpenQuestion) -> context_pb2.OpenQuestion:
    return context_pb2.OpenQuestion(
        clarification_id=format_uuid(question.clarification_id), state=question.state, question=question.question
    )


def _stats_message(stats: PlanStats, used: int) -> context_pb2.ContextStats:
    recall = stats.recall or RecallStats()
    return context_pb2.ContextStats(
        legs=legs_message(recall),
        candidates=stats.pool_spans,
        dedup_dropped=stats.deduped,
        cap_skipped=stats.cap_skipped,
        budget_skipped=stats.budget_skipped,
        unpackable=stats.unpackable,
        span_limit_skipped=stats.span_limit_skipped,
        budget=context_pb2.BudgetStats(
            requested=stats.requested, applied=stats.applied, used=used, stranded=stats.budget_stranded_by_cap
        ),
        vector_leg_skipped=recall.vector_leg_skipped,
        token_estimate=stats.token_estimate,
        tokenizer=stats.tokenizer,
        plan=stats_message(stats),
    )

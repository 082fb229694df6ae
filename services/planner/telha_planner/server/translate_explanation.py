"""
An explanation on the wire, as much of it as the message has room for.

Rule: what is left out stands at the end of the order, and is counted; the plan itself is never shortened, and every
subject that was asked about is answered.
"""

from typing import TypeVar

from telha.context.v1 import context_pb2
from telha.planner.v1 import explanation_pb2, plan_pb2, planner_pb2

from telha_planner.answers import Answer
from telha_planner.core.explained import (
    ExplainedNode,
    ExplainedSpan,
    ExplainedSubject,
    Explanation,
    ScoreConstants,
    ScoreParts,
    TimeAxis,
    Verdict,
)
from telha_planner.core.model import Outcome, SpanRef
from telha_planner.core.request import Leg
from telha_planner.core.subject import Subject
from telha_planner.core.value import format_uuid

from .translate_plan import CLASS_ON_THE_WIRE
from .translate_trace import framed

R = TypeVar("R", planner_pb2.PlanResponse, planner_pb2.SelectResponse, context_pb2.BuildResponse)

OUTCOME_ON_THE_WIRE = {
    Outcome.PACKED: explanation_pb2.SPAN_OUTCOME_PACKED,
    Outcome.DEDUPED: explanation_pb2.SPAN_OUTCOME_DUPLICATE,
    Outcome.UNPACKABLE: explanation_pb2.SPAN_OUTCOME_UNPACKABLE,
    Outcome.BUDGET_SKIPPED: explanation_pb2.SPAN_OUTCOME_BUDGET,
    Outcome.SPAN_LIMIT_SKIPPED: explanation_pb2.SPAN_OUTCOME_SPAN_LIMIT,
    Outcome.CAP_SKIPPED: explanation_pb2.SPAN_OUTCOME_SOURCE_CAP,
}
LEG_ON_THE_WIRE = {
    Leg.STRUCTURED: plan_pb2.LEG_STRUCTURED,
    Leg.SEMANTIC: plan_pb2.LEG_SEMANTIC,
    Leg.LEXICAL: plan_pb2.LEG_LEXICAL,
}
VERDICT_ON_THE_WIRE = {verdict: f"VERDICT_{verdict.name}" for verdict in Verdict}
AXIS_ON_THE_WIRE = {
    TimeAxis.VALID_TIME: explanation_pb2.TIME_AXIS_VALID_TIME,
    TimeAxis.TX_TIME: explanation_pb2.TIME_AXIS_TX_TIME,
}
_COUNT_BYTES = 32
"""More than the fields beside the spans grow by, and the length of the explanation in its answer."""


def explanation_message(explanation: Explanation, room: int) -> explanation_pb2.Explanation:
    """
    *explanation* on the wire.

    Args:
        room: Bytes that it may take in the answer.
    """
    message = explanation_pb2.Explanation(
        source_cap=explanation.source_cap,
        top_k=explanation.top_k,
        constants=None if explanation.constants is None else _constants(explanation.constants),
    )
    room -= message.ByteSize() + _COUNT_BYTES
    for subject in explanation.subjects:
        answered = explained_subject(subject)
        if framed(answered.ByteSize()) > room:
            _leave_out(answered)
        room -= framed(answered.ByteSize())
        message.subjects.append(answered)
    told = 0
    for span in explanation.spans:
        made = explained_span(span)
        room -= framed(made.ByteSize())
        if room < 0:
            break
        message.spans.append(made)
        told += 1
    message.spans_left_out = len(explanation.spans) - told + explanation.spans_left_out
    return message


def explain(response: R, answer: Answer, limit: int) -> R:
    """*response* with the explanation of *answer*, if it has one, in at most *limit* bytes."""
    if answer.explanation is not None:
        room = limit - response.ByteSize()
        response.explanation.CopyFrom(explanation_message(answer.explanation, room))
    return response


def explained_span(of: ExplainedSpan) -> explanation_pb2.ExplainedSpan:
    """One candidate on the wire; weights keep their bits."""
    duplicate = of.duplicate
    return explanation_pb2.ExplainedSpan(
        span=span_message(of.span),
        source_name=of.source_name,
        kind=of.kind,
        span_class=CLASS_ON_THE_WIRE[of.span_class],
        weight=of.weight,
        kind_prior=of.kind_prior,
        cache_discount=of.cache_discount,
        tokens=of.tokens,
        outcome=OUTCOME_ON_THE_WIRE[of.outcome],
        rank=of.rank,
        density=of.density,
        budget_left=of.budget_left,
        source_spent=of.source_spent,
        duplicate=None
        if duplicate is None
        else explanation_pb2.Duplicate(of=span_message(duplicate.of), overlap=duplicate.overlap),
        score=None if of.score is None else score_message(of.score),
        because=of.because,
    )


def explained_subject(of: ExplainedSubject) -> explanation_pb2.ExplainedSubject:
    """The answer to "why not?" for one subject on the wire."""
    return explanation_pb2.ExplainedSubject(
        subject=subject_message(of.subject),
        verdict=VERDICT_ON_THE_WIRE[of.verdict],
        candidates=[explained_span(span) for span in of.candidates],
        candidates_left_out=of.candidates_left_out,
        nodes=[explained_node(node) for node in of.nodes],
        nodes_left_out=of.nodes_left_out,
        because=of.because,
    )


def explained_node(of: ExplainedNode) -> explanation_pb2.ExplainedNode:
    """A node that was no candidate on the wire."""
    return explanation_pb2.ExplainedNode(
        node_id=format_uuid(of.node_id),
        type=of.type,
        span=span_message(of.span),
        verdict=VERDICT_ON_THE_WIRE[of.verdict],
        score=None if of.score is None else score_message(of.score),
        ranks=[explanation_pb2.LegRank(leg=LEG_ON_THE_WIRE[leg], rank=rank) for leg, rank in of.ranks],
        axis=None if of.axis is None else AXIS_ON_THE_WIRE[of.axis],
        since_us=of.since,
        until_us=of.until,
        instead=None if of.instead is None else span_message(of.instead),
        because=of.because,
    )


def subject_message(subject: Subject) -> explanation_pb2.Subject:
    """What was asked about, as it was asked."""
    if isinstance(subject, SpanRef):
        return explanation_pb2.Subject(span=span_message(subject))
    named = explanation_pb2.SourceSubject(source=subject.source, section=subject.section)
    return explanation_pb2.Subject(source=named)


def score_message(of: ScoreParts) -> explanation_pb2.ScoreParts:
    """The parts of a score on the wire."""
    return explanation_pb2.ScoreParts(
        node_id=format_uuid(of.node_id),
        score=of.score,
        similarity=of.similarity,
        semantic=of.semantic,
        lexical=of.lexical,
        context=of.context,
        source=of.source,
        speaker=of.speaker,
        days=of.days,
        window=of.window,
        decay=of.decay,
        hops=of.hops,
        path=[format_uuid(node_id) for node_id in of.path],
        structured=of.structured,
        evidence=of.evidence,
        legs=[explanation_pb2.LegRank(leg=LEG_ON_THE_WIRE[leg], rank=rank) for leg, rank in of.legs],
    )


def span_message(span: SpanRef) -> plan_pb2.SpanRef:
    """A coordinate on the wire."""
    return plan_pb2.SpanRef(
        source_id=format_uuid(span.source_id),
        source_version_tx=span.source_version_tx,
        start=span.start,
        end=span.end,
    )


def _leave_out(subject: explanation_pb2.ExplainedSubject) -> None:
    """Keep of *subject* its verdict and its sentence, and count the rest."""
    subject.candidates_left_out += len(subject.candidates)
    subject.nodes_left_out += len(subject.nodes)
    del subject.candidates[:], subject.nodes[:]


def _constants(of: ScoreConstants) -> explanation_pb2.ScoreConstants:
    return explanation_pb2.ScoreConstants(
        semantic_share=of.semantic_share,
        context_weight=of.context_weight,
        source_weight=of.source_weight,
        speaker_weight=of.speaker_weight,
        greatest=of.greatest,
        sharpening=of.sharpening,
        alpha=of.alpha,
    )

"""Explanations, read: from the messages on the wire to what callers see."""

from collections.abc import Mapping
from typing import Any

from telha.planner.v1 import explanation_pb2, plan_pb2

from .explanation import (
    Duplicate,
    ExplainedNode,
    ExplainedSpan,
    ExplainedSubject,
    Explanation,
    LegRank,
    ScoreConstants,
    ScoreParts,
)
from .inputs import Span, WhyNot

UNRECOGNIZED = "unrecognized"
"""For a word that a newer planner may send; `unknown` is a verdict."""
CLASSES: dict[int, str] = {plan_pb2.SPAN_CLASS_TRUTH: "truth", plan_pb2.SPAN_CLASS_CACHE: "cache"}


def _words(enum: Any, prefix: str) -> Mapping[int, str]:  # noqa: ANN401 (an enum's wrapper, which has no common type)
    return {number: name.removeprefix(prefix).lower() for name, number in enum.items() if number}


_OUTCOMES = _words(explanation_pb2.SpanOutcome, "SPAN_OUTCOME_")
_VERDICTS = _words(explanation_pb2.Verdict, "VERDICT_")
_AXES = _words(explanation_pb2.TimeAxis, "TIME_AXIS_")
_LEGS = _words(plan_pb2.Leg, "LEG_")


def explained(answer: Any) -> Explanation | None:  # noqa: ANN401 (the answers that may hold one)
    """The explanation in *answer*, where one was asked for."""
    return explanation(answer.explanation) if answer.HasField("explanation") else None


def explanation(message: explanation_pb2.Explanation) -> Explanation:
    """From `Explanation`."""
    return Explanation(
        spans=tuple(map(explained_span, message.spans)),
        spans_left_out=message.spans_left_out,
        source_cap=message.source_cap,
        top_k=message.top_k,
        subjects=tuple(map(_subject, message.subjects)),
        constants=_constants(message.constants) if message.HasField("constants") else None,
    )


def span(message: plan_pb2.SpanRef) -> Span:
    """From `SpanRef`."""
    return Span(message.source_id, message.source_version_tx, message.start, message.end)


def explained_span(message: explanation_pb2.ExplainedSpan) -> ExplainedSpan:
    """From `ExplainedSpan`."""
    duplicate = message.duplicate
    return ExplainedSpan(
        span=span(message.span),
        source_name=message.source_name or None,
        kind=message.kind,
        span_class=CLASSES.get(message.span_class, "unknown"),
        weight=message.weight,
        kind_prior=message.kind_prior,
        cache_discount=message.cache_discount,
        tokens=message.tokens,
        outcome=_OUTCOMES.get(message.outcome, UNRECOGNIZED),
        rank=message.rank,
        density=message.density,
        budget_left=message.budget_left,
        source_spent=message.source_spent,
        duplicate=Duplicate(span(duplicate.of), duplicate.overlap) if message.HasField("duplicate") else None,
        score=_score(message.score) if message.HasField("score") else None,
        because=message.because,
    )


def _score(message: explanation_pb2.ScoreParts) -> ScoreParts:
    return ScoreParts(
        node_id=message.node_id,
        score=message.score,
        similarity=message.similarity if message.HasField("similarity") else None,
        semantic=message.semantic,
        lexical=message.lexical,
        context=message.context,
        source=message.source,
        speaker=message.speaker,
        days=message.days,
        window=message.window,
        decay=message.decay,
        hops=message.hops,
        path=tuple(message.path),
        structured=message.structured,
        evidence=message.evidence if message.HasField("evidence") else None,
        legs=tuple(map(_rank, message.legs)),
    )


def _constants(message: explanation_pb2.ScoreConstants) -> ScoreConstants:
    return ScoreConstants(
        semantic_share=message.semantic_share,
        context_weight=message.context_weight,
        source_weight=message.source_weight,
        speaker_weight=message.speaker_weight,
        greatest=message.greatest,
        sharpening=message.sharpening,
        alpha=message.alpha,
    )


def _rank(message: explanation_pb2.LegRank) -> LegRank:
    return LegRank(_LEGS.get(message.leg, UNRECOGNIZED), message.rank)


def _subject(message: explanation_pb2.ExplainedSubject) -> ExplainedSubject:
    asked = message.subject
    if asked.HasField("span"):
        subject = WhyNot(span=span(asked.span))
    else:
        subject = WhyNot(asked.source.source, asked.source.section or None)
    return ExplainedSubject(
        subject=subject,
        verdict=_VERDICTS.get(message.verdict, UNRECOGNIZED),
        candidates=tuple(map(explained_span, message.candidates)),
        candidates_left_out=message.candidates_left_out,
        nodes=tuple(map(_node, message.nodes)),
        nodes_left_out=message.nodes_left_out,
        because=message.because,
    )


def _node(message: explanation_pb2.ExplainedNode) -> ExplainedNode:
    return ExplainedNode(
        node_id=message.node_id,
        type=message.type,
        span=span(message.span) if message.HasField("span") else None,
        verdict=_VERDICTS.get(message.verdict, UNRECOGNIZED),
        score=_score(message.score) if message.HasField("score") else None,
        ranks=tuple(map(_rank, message.ranks)),
        axis=_AXES.get(message.axis, UNRECOGNIZED) if message.axis else None,
        since=message.since_us if message.HasField("since_us") else None,
        until=message.until_us if message.HasField("until_us") else None,
        instead=span(message.instead) if message.HasField("instead") else None,
        because=message.because,
    )

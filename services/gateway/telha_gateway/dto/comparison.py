"""The JSON shapes of replays and of differences between plans."""

from typing import Annotated

from msgspec import Meta
from telha.planner.v1 import difference_pb2 as pb
from telha.planner.v1 import plan_pb2, replay_pb2

from telha_gateway.dto import plans
from telha_gateway.dto.coordinates import CLASS_NAMES, UNKNOWN_CLASS, ClassField, SpanPlace, place
from telha_gateway.dto.explanation import MAX_SUBJECTS, Explanation, WhyNot, explained, subjects
from telha_gateway.dto.plans import ReadWindow, Selection
from telha_gateway.dto.shape import Given, Micros, PlanHash, Sent, Uuid, told

OUTCOMES = {
    number: name.removeprefix("REPLAY_OUTCOME_").lower() for name, number in replay_pb2.ReplayOutcome.items() if number
}
INPUTS = {number: name.removeprefix("PLAN_INPUT_").lower() for name, number in pb.PlanInput.items() if number}
UNRECOGNIZED = "unrecognized"
"""For a word that a newer planner may send."""


class ReplayRequest(Sent):
    """How to replay; the body may be left out."""

    explain: Annotated[bool, Meta(description="Explain the plan as made anew. Default: false.")] | None = None
    why_not: Annotated[list[WhyNot], told("Ask why of these, at most 32.", maxItems=MAX_SUBJECTS)] | None = None


class InputChange(Given, kw_only=True):
    """An input that differs, with the values that do."""

    input: Annotated[str, Meta(description=f"{', '.join(f'`{word}`' for word in INPUTS.values())}; accept others.")]
    before: Annotated[str, Meta(description="Absent where that is not known.")] | None = None
    after: Annotated[str, Meta(description="Absent where that is not known.")] | None = None


class DifferentSpan(Given, kw_only=True):
    """A span as one of two plans holds it."""

    span: SpanPlace
    kind: str
    span_class: ClassField
    weight: float
    tokens: int
    source_name: Annotated[str, Meta(description="Absent where memory does not have it any more.")] | None = None


class ReweighedSpan(Given):
    """A span that both plans hold, with another kind, class, weight or count."""

    span: SpanPlace
    before: DifferentSpan
    after: DifferentSpan


class PlanDifference(Given, kw_only=True):
    """How two plans differ, and which of their inputs do; where the hashes differ, at least one is named."""

    identical: bool
    gone: list[DifferentSpan]
    new: list[DifferentSpan]
    reweighed: list[ReweighedSpan]
    unchanged: Annotated[int, Meta(description="Spans that both hold alike.")]
    changes: list[InputChange]
    because: Annotated[str, Meta(description="The difference in words.")]


class ComparedPlan(Given, kw_only=True):
    """A plan as its trace tells it."""

    trace_id: Uuid
    kind: Annotated[str, Meta(description="`plan`, `context` or `select`; accept others.")]
    recorded: Micros
    plan_hash: PlanHash
    window: Annotated[ReadWindow, Meta(description="Absent of `select`, which reads no memory.")] | None = None
    budget: int
    used: int


class ErasedSource(Given):
    """A source that the trace cites and that has been erased since."""

    source_id: Uuid
    erased: Micros
    spans: Annotated[int, Meta(description="Spans of the trace that went with it.")]


class Replay(Given, kw_only=True):
    """A plan made anew beside what was recorded."""

    outcome: Annotated[str, Meta(description="`identical`, `changed` or `erased`; accept others.")]
    recorded: ComparedPlan
    plan: Annotated[Selection, Meta(description="As made anew. It has no trace; of `select` no texts.")]
    window: Annotated[ReadWindow, Meta(description="Absent of `select`.")] | None = None
    difference: PlanDifference
    erased: list[ErasedSource]
    explanation: (
        Annotated[
            Explanation,
            Meta(description="Of the plan as made anew, which is the recorded one if `identical`."),
        ]
        | None
    ) = None


class TraceDifference(Given):
    """How the plan of one trace differs from that of another."""

    before: ComparedPlan
    after: ComparedPlan
    difference: PlanDifference


def replay_message(trace_id: str, request: ReplayRequest) -> replay_pb2.ReplayRequest:
    """The request for a replay on the wire."""
    asked = subjects(request.why_not)
    return replay_pb2.ReplayRequest(trace_id=trace_id, explain=request.explain or False, why_not=asked)


def diff_message(trace_id: str, other: str) -> replay_pb2.DiffRequest:
    """The request for a difference on the wire."""
    return replay_pb2.DiffRequest(trace_id=trace_id, other_trace_id=other)


def replay_answer(message: replay_pb2.ReplayResponse) -> Replay:
    """The JSON shape of a replay."""
    return Replay(
        outcome=OUTCOMES.get(message.outcome, UNRECOGNIZED),
        recorded=_compared(message.recorded),
        plan=plans.selection(message.plan),
        window=_window(message.window),
        difference=_difference(message.difference),
        erased=[
            ErasedSource(source_id=source.source_id, erased=source.erased_us, spans=source.spans)
            for source in message.erased
        ],
        explanation=explained(message),
    )


def diff_answer(message: replay_pb2.DiffResponse) -> TraceDifference:
    """The JSON shape of a difference between two traces."""
    return TraceDifference(
        before=_compared(message.before),
        after=_compared(message.after),
        difference=_difference(message.difference),
    )


def _compared(message: replay_pb2.ComparedPlan) -> ComparedPlan:
    return ComparedPlan(
        trace_id=message.trace_id,
        kind=message.kind,
        recorded=message.recorded_us,
        plan_hash=message.plan_hash,
        window=_window(message.window),
        budget=message.budget,
        used=message.used,
    )


def _window(message: plan_pb2.Window) -> ReadWindow | None:
    return plans.window(message) if message.HasField("tx_time_us") else None


def _difference(message: pb.PlanDifference) -> PlanDifference:
    return PlanDifference(
        identical=message.identical,
        gone=[_span(span) for span in message.gone],
        new=[_span(span) for span in message.new],
        reweighed=[
            ReweighedSpan(span=place(both.span), before=_span(both.before), after=_span(both.after))
            for both in message.reweighed
        ],
        unchanged=message.unchanged,
        changes=[
            InputChange(
                input=INPUTS.get(change.input, UNRECOGNIZED),
                before=change.before or None,
                after=change.after or None,
            )
            for change in message.changes
        ],
        because=message.because,
    )


def _span(message: pb.DifferentSpan) -> DifferentSpan:
    return DifferentSpan(
        span=place(message.span),
        kind=message.kind,
        span_class=CLASS_NAMES.get(message.span_class, UNKNOWN_CLASS),
        weight=message.weight,
        tokens=message.tokens,
        source_name=message.source_name or None,
    )

"""Replays and differences, read: from the messages on the wire to what callers see."""

from telha.planner.v1 import difference_pb2, plan_pb2, replay_pb2

from .comparison import (
    ComparedPlan,
    DifferentSpan,
    ErasedSource,
    InputChange,
    PlanDifference,
    Replay,
    ReweighedSpan,
    TraceDifference,
)
from .explanation_answers import CLASSES, UNRECOGNIZED, explained, span
from .responses import planned
from .results import Window

_OUTCOMES = {
    number: name.removeprefix("REPLAY_OUTCOME_").lower() for name, number in replay_pb2.ReplayOutcome.items() if number
}
_INPUTS = {
    number: name.removeprefix("PLAN_INPUT_").lower() for name, number in difference_pb2.PlanInput.items() if number
}


def replay(raw: bytes) -> Replay:
    """From `ReplayResponse`."""
    message = replay_pb2.ReplayResponse.FromString(raw)
    return Replay(
        outcome=_OUTCOMES.get(message.outcome, UNRECOGNIZED),
        recorded=_compared(message.recorded),
        plan=planned(message.plan, _window(message.window), explained(message)),
        difference=_difference(message.difference),
        erased=tuple(ErasedSource(source.source_id, source.erased_us, source.spans) for source in message.erased),
    )


def diff(raw: bytes) -> TraceDifference:
    """From `DiffResponse`."""
    message = replay_pb2.DiffResponse.FromString(raw)
    return TraceDifference(_compared(message.before), _compared(message.after), _difference(message.difference))


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


def _window(message: plan_pb2.Window) -> Window | None:
    return Window(message.valid_time_us, message.tx_time_us) if message.HasField("tx_time_us") else None


def _difference(message: difference_pb2.PlanDifference) -> PlanDifference:
    return PlanDifference(
        identical=message.identical,
        gone=tuple(map(_span, message.gone)),
        new=tuple(map(_span, message.new)),
        reweighed=tuple(
            ReweighedSpan(span(both.span), _span(both.before), _span(both.after)) for both in message.reweighed
        ),
        unchanged=message.unchanged,
        changes=tuple(
            InputChange(_INPUTS.get(change.input, UNRECOGNIZED), change.before or None, change.after or None)
            for change in message.changes
        ),
        because=message.because,
    )


def _span(message: difference_pb2.DifferentSpan) -> DifferentSpan:
    return DifferentSpan(
        span=span(message.span),
        kind=message.kind,
        span_class=CLASSES.get(message.span_class, UNRECOGNIZED),
        weight=message.weight,
        tokens=message.tokens,
        source_name=message.source_name or None,
    )

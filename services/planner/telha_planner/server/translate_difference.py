"""Replays and differences on the wire, and a recorded request back into the request that it was."""

from collections.abc import Mapping
from typing import Any

from google.protobuf import json_format
from telha.context.v1 import context_pb2
from telha.planner.v1 import difference_pb2, plan_pb2, planner_pb2, replay_pb2

from telha_planner.core.difference import Difference, HeldSpan, InputChange, in_words
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.core.request import PlanRequest, SelectRequest, Window
from telha_planner.core.value import format_uuid
from telha_planner.replay import Replayed, version_of
from telha_planner.trace.recorded import Recorded

from .translate_explanation import explanation_message
from .translate_plan import CLASS_ON_THE_WIRE, Asking, plan_message, read_plan, read_select, window_message

_TELLING = frozenset({"explain", "whyNot", "suggest"})

Names = Mapping[tuple[bytes, int], str]

_MESSAGES: dict[str, type[Asking | planner_pb2.SelectRequest]] = {
    "plan": planner_pb2.PlanRequest,
    "context": context_pb2.BuildRequest,
    "select": planner_pb2.SelectRequest,
}


def recorded_request(place: str, recorded: Recorded) -> PlanRequest | SelectRequest:
    """
    The request of a record, through the checks of one from the wire; of Select without its pool.

    Args:
        place: The field that names the trace.

    Raises:
        RequestInvalid: It breaks a rule, or has parts that this version does not know.
    """
    message = _MESSAGES[recorded.kind]()
    try:
        json_format.ParseDict(_as_protobuf_spells(recorded.request), message)
    except json_format.ParseError as fault:
        raise RequestInvalid(field=place, rule=f"must hold a request that this version reads: {fault}") from None
    return read_select(message)[0] if isinstance(message, planner_pb2.SelectRequest) else read_plan(message)[0]


def replay_message(recorded: Recorded, replayed: Replayed, limit: int) -> replay_pb2.ReplayResponse:
    """The answer of Replay, of which an explanation takes what is left of *limit* bytes."""
    outcome = replay_pb2.REPLAY_OUTCOME_CHANGED
    if replayed.difference.identical:
        outcome = replay_pb2.REPLAY_OUTCOME_IDENTICAL
    elif not replayed.resolvable:
        outcome = replay_pb2.REPLAY_OUTCOME_ERASED
    response = replay_pb2.ReplayResponse(
        outcome=outcome,
        recorded=compared_message(recorded),
        plan=plan_message(replayed.plan, trace_id=""),
        window=window_message(replayed.window),
        difference=difference_message(replayed.difference, replayed.names),
        erased=[
            replay_pb2.ErasedSource(
                source_id=format_uuid(source.source_id), erased_us=source.erased_us, spans=source.spans
            )
            for source in replayed.erased
        ],
    )
    if replayed.explanation is not None:
        room = limit - response.ByteSize()
        response.explanation.CopyFrom(explanation_message(replayed.explanation, room))
    return response


def compared_message(recorded: Recorded) -> replay_pb2.ComparedPlan:
    """What a record says of its plan."""
    return replay_pb2.ComparedPlan(
        trace_id=recorded.trace_id,
        kind=recorded.kind,
        recorded_us=recorded.recorded_us,
        plan_hash=recorded.plan_hash,
        window=window_message(Window(recorded.valid_t, recorded.tx_t)),
        budget=recorded.budget["applied"],
        used=recorded.budget["used"],
    )


def difference_message(found: Difference, names: Names) -> difference_pb2.PlanDifference:
    """*found* on the wire; *names* of sources by version, as far as memory has them."""
    return difference_pb2.PlanDifference(
        identical=found.identical,
        gone=[_span(held, names) for held in found.gone],
        new=[_span(held, names) for held in found.new],
        reweighed=[
            difference_pb2.ReweighedSpan(
                span=_coordinate(before.span), before=_span(before, names), after=_span(after, names)
            )
            for before, after in found.reweighed
        ],
        unchanged=found.unchanged,
        changes=[_change(change) for change in found.changes],
        because=in_words(found),
    )


def _change(change: InputChange) -> difference_pb2.InputChange:
    return difference_pb2.InputChange(input=f"PLAN_INPUT_{change.input.name}", before=change.before, after=change.after)


def _span(held: HeldSpan, names: Names) -> difference_pb2.DifferentSpan:
    return difference_pb2.DifferentSpan(
        span=_coordinate(held.span),
        kind=held.kind,
        span_class=CLASS_ON_THE_WIRE[held.span_class],
        weight=held.weight,
        tokens=held.tokens,
        source_name=names.get(version_of(held), ""),
    )


def _coordinate(span: SpanRef) -> plan_pb2.SpanRef:
    return plan_pb2.SpanRef(
        source_id=format_uuid(span.source_id),
        source_version_tx=span.source_version_tx,
        start=span.start,
        end=span.end,
    )


def _as_protobuf_spells(request: Mapping[str, Any]) -> dict[str, Any]:
    # What was to be explained of the recorded plan is no part of planning it anew.
    spelled = {key: value for key, value in request.items() if key not in _TELLING}
    if "legs" in spelled:
        spelled["legs"] = [f"LEG_{leg.upper()}" for leg in spelled["legs"]]
    return spelled

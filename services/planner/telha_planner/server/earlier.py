"""
What earlier calls gave, looked up on the way to a plan: between two visits to the plan thread, as questions are.

The plan thread first establishes the caller and checks the request; only then are traces read, and only those that
`Traces.Get` would show that caller. The plan depends on the coordinates alone, which its record keeps: whoever replays
it needs none of these traces.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from google.protobuf import struct_pb2
from telha.planner.v1 import plan_pb2
from telha.trace.v1 import traces_pb2

from telha_planner.caller import Caller
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.core.request import MAX_EXCLUSIONS, PlanRequest, check_span
from telha_planner.core.value import parse_uuid
from telha_planner.models.embedders.questions import QuestionVector
from telha_planner.trace.recorded import RecordUnreadable

from .call import Call
from .ports import Planning
from .questions import QuestionThreads
from .trace_reader import TraceReader

_UNTOLD = "must be a trace that names the spans it gave"

T = TypeVar("T")
Given = tuple[SpanRef, ...]


class GivenNotRead(Exception):
    """The traces *trace_ids* have to be read for *caller* first."""

    def __init__(self, caller: Caller, trace_ids: tuple[str, ...]) -> None:
        super().__init__()
        self.caller = caller
        self.trace_ids = trace_ids


def excluding(
    request: PlanRequest, exclude: plan_pb2.Exclude, given: Given | None, planning: Planning, credential: str
) -> PlanRequest:
    """
    *request* without what the traces of *exclude* gave.

    Args:
        exclude: Checked; without traces, nothing is left out.
        given: What they gave; None if they have not been read.

    Raises:
        GivenNotRead: They have to be read first.
        Unauthenticated, PermissionDenied: The credential reads nothing.
        RequestInvalid: They gave too much.
    """
    if not exclude.trace_ids:
        return request
    if given is None:
        caller = planning.caller(credential)
        caller.need("read")
        raise GivenNotRead(caller, tuple(exclude.trace_ids))
    return replace(request, exclusions=given)


class Earlier:
    """Runs the work of calls on *threads*, and reads what earlier ones gave in between where that is needed."""

    def __init__(self, threads: QuestionThreads, traces: TraceReader) -> None:
        self._threads = threads
        self._traces = traces

    async def run(self, work: Callable[[QuestionVector | None, Given | None], T], call: Call) -> T:
        """
        Run *work* for *call*; once more with what was given before, if it asks for that.

        Raises:
            RequestInvalid: A trace is not there for the caller, or does not say what it gave.
            TracePending: A trace cannot be read at this moment.
            Overloaded, DeadlineExceeded: As of `QuestionThreads.run`.
        """
        try:
            return await self._threads.run(lambda question: work(question, None), call.deadline, call.holder)
        except GivenNotRead as missing:
            caller, trace_ids = missing.caller, missing.trace_ids
        given = await self._given(caller, trace_ids, call.deadline)
        return await self._threads.run(lambda question: work(question, given), call.deadline, call.holder)

    async def _given(self, caller: Caller, trace_ids: tuple[str, ...], deadline: float) -> Given:
        given: set[SpanRef] = set()
        # One after the other: a record with its pool may take as much room as a message can have.
        for index, trace_id in enumerate(trace_ids):
            place = f"exclude.trace_ids[{index}]"
            try:
                found = await self._traces.gave(caller, trace_id, deadline)
            except RecordUnreadable:
                # Another version of the planner may have written it.
                raise RequestInvalid(field=place, rule=_UNTOLD) from None
            if found is None:
                raise RequestInvalid(field=place, rule="must be a trace that this key may read")
            if found.spans is None:
                raise RequestInvalid(field=place, rule=_UNTOLD)
            given.update(found.spans)
            if len(given) > MAX_EXCLUSIONS:
                break  # the request refuses them
        return tuple(sorted(given))


def coordinates(place: str, found: traces_pb2.GetResponse) -> list[SpanRef]:
    """The spans that a trace returned, of whatever kind; raises `RequestInvalid` if it does not say."""
    rows = found.record.fields["item_coords"]
    try:
        if rows.WhichOneof("kind") != "list_value":
            raise ValueError
        return [_coordinate(place, row.list_value) for row in rows.list_value.values]
    except (ValueError, RequestInvalid):
        # Another version of the planner may have written it.
        raise RequestInvalid(field=place, rule=_UNTOLD) from None


def _coordinate(place: str, row: struct_pb2.ListValue) -> SpanRef:
    source_id, *numbers = row.values
    version, start, end = (_whole(number) for number in numbers)
    span = SpanRef(parse_uuid(place, source_id.string_value), version, start, end)
    check_span(place, span)
    return span


def _whole(shown: struct_pb2.Value) -> int:
    """A whole number as traces show it: as a string where a double would not hold it."""
    if shown.WhichOneof("kind") == "string_value":
        return int(shown.string_value)
    if shown.WhichOneof("kind") != "number_value" or not shown.number_value.is_integer():
        raise ValueError
    return int(shown.number_value)

"""Reading the proof of past calls, holding it against memory and against one another, and erasing it."""

import msgspec

from telha_gateway.dto import comparison, traces
from telha_gateway.exchange import Exchange
from telha_gateway.operations import Operation, an_id


async def _trace(exchange: Exchange) -> msgspec.Struct:
    message = traces.get_message(exchange.path_value)
    return traces.trace_answer(await exchange.call(exchange.upstream.traces.Get, message, {"trace_id": "id"}))


async def _traces(exchange: Exchange) -> msgspec.Struct:
    message = traces.list_message(exchange.parameters(traces.TraceListParameters))
    return traces.page_answer(await exchange.call(exchange.upstream.traces.List, message))


async def _replay(exchange: Exchange) -> msgspec.Struct:
    exchange.trace_id = exchange.path_value
    body = await exchange.optional_body(comparison.ReplayRequest)
    message = comparison.replay_message(exchange.path_value, body)
    renames = {"trace_id": "id", "why_not.source": "why_not"}
    return comparison.replay_answer(await exchange.call(exchange.upstream.planner.Replay, message, renames))


async def _diff(exchange: Exchange) -> msgspec.Struct:
    message = comparison.diff_message(*exchange.path_values)
    renames = {"trace_id": "id", "other_trace_id": "other"}
    return comparison.diff_answer(await exchange.call(exchange.upstream.planner.Diff, message, renames))


async def _delete(exchange: Exchange) -> msgspec.Struct:
    message = traces.delete_message(exchange.path_value)
    return traces.deleted_answer(await exchange.call(exchange.upstream.traces.Delete, message, {"trace_id": "id"}))


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/trace/{id}",
        id="getTrace",
        tag="Traces",
        summary="Read one trace",
        description="A caller reads its own calls at once. The record holds coordinates, never span text.",
        path_parameter=an_id("The trace."),
        answer=traces.Trace,
        run=_trace,
        statuses=(404,),
    ),
    Operation(
        method="DELETE",
        path="/v1/trace/{id}",
        id="deleteTrace",
        tag="Traces",
        summary="Erase one trace, its question with it",
        description="For good, and wherever it is on its way. Needs the right `admin`. Answers what was listed of it.",
        path_parameter=an_id("The trace."),
        answer=traces.TraceSummary,
        run=_delete,
        statuses=(404,),
    ),
    Operation(
        method="POST",
        path="/v1/trace/{id}/replay",
        id="replayTrace",
        tag="Traces",
        summary="Make the plan of a trace anew, and compare",
        description="As of the trace's instants, with its query vector: `identical`, `changed` with the inputs that "
        "differ, or `erased`. Leaves no trace, and counts as a plan for the key's rate.",
        path_parameter=an_id("The trace."),
        body=comparison.ReplayRequest,
        body_optional=True,
        example={"explain": True},
        answer=comparison.Replay,
        run=_replay,
        statuses=(404,),
    ),
    Operation(
        method="GET",
        path="/v1/trace/{id}/diff/{other}",
        id="diffTraces",
        tag="Traces",
        summary="Compare the plans of two traces",
        description="From their records alone; nothing is planned anew. They may be of different kinds.",
        path_parameter=an_id("The one trace."),
        other_parameter=an_id("The other trace.", "other"),
        answer=comparison.TraceDifference,
        run=_diff,
        statuses=(404,),
    ),
    Operation(
        method="GET",
        path="/v1/traces",
        id="listTraces",
        tag="Traces",
        summary="List traces, newest first",
        parameters=traces.TraceListParameters,
        answer=traces.TracePage,
        run=_traces,
    ),
)

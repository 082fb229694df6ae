"""Reading the proof of past calls."""

import msgspec

from telha_gateway.dto import traces
from telha_gateway.exchange import Exchange
from telha_gateway.operations import Operation, an_id


async def _trace(exchange: Exchange) -> msgspec.Struct:
    message = traces.get_message(exchange.path_value)
    return traces.trace_answer(await exchange.call(exchange.upstream.traces.Get, message, {"trace_id": "id"}))


async def _traces(exchange: Exchange) -> msgspec.Struct:
    message = traces.list_message(exchange.parameters(traces.TraceListParameters))
    return traces.page_answer(await exchange.call(exchange.upstream.traces.List, message))


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

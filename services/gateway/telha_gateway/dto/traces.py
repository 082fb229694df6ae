"""The JSON shapes of traces."""

from typing import Annotated, Any

from msgspec import Meta
from telha.trace.v1 import traces_pb2

from telha_gateway.dto.properties import object_of
from telha_gateway.dto.shape import (
    Given,
    GivenName,
    InstantParameter,
    Micros,
    PageSize,
    PageToken,
    PlanHash,
    Sent,
    Uuid,
    told,
)
from telha_gateway.instants import parameter_instant


class TraceListParameters(Sent):
    """Which traces to list."""

    kind: Annotated[GivenName, Meta(description="Only this kind, such as `plan`.")] | None = None
    space: Annotated[GivenName, Meta(description="Only traces that read this space; not `*`.")] | None = None
    from_: Annotated[InstantParameter, Meta(description="Recorded at or after.")] | None = None
    to: Annotated[InstantParameter, Meta(description="Recorded before.")] | None = None
    min_used_share: (
        Annotated[float, told("Only those that used at least this share of the budget.", minimum=0, maximum=1)] | None
    ) = None
    max_used_share: (
        Annotated[float, told("Only those that used at most this share of the budget.", minimum=0, maximum=1)] | None
    ) = None
    stranded: (
        Annotated[bool, Meta(description="Only those of which the source cap stranded tokens; `false`: the others.")]
        | None
    ) = None
    page_size: Annotated[PageSize, Meta(description="More than 1000: 1000. 0 and default: 50.")] | None = None
    page_token: PageToken | None = None


class TraceSummary(Given, kw_only=True):
    """What every trace has, whatever its kind."""

    trace_id: Uuid
    kind: Annotated[str, Meta(description="`plan`, `context`, `select`; accept others.")]
    recorded: Micros
    spaces: list[str]
    plan_hash: Annotated[PlanHash, Meta(description="Absent when the call had no plan.")] | None = None
    budget: int
    used: int
    items: int
    stranded: int


class Trace(TraceSummary, kw_only=True):
    """One trace: its summary, and the record of the call."""

    record: dict[str, Any]
    pool_left_out: (
        Annotated[int, Meta(description="Rows at the end of the record's `pool` that were too many for one answer.")]
        | None
    ) = None
    explained_left_out: Annotated[int, Meta(description="The same of the rows of the record's `explained`.")] | None = (
        None
    )
    erased_items: (
        Annotated[
            list[int],
            Meta(description="Places in `item_coords` of spans whose text was erased; absent without any."),
        ]
        | None
    ) = None


class TracePage(Given):
    """
    One page of traces, newest first; without `nextPageToken` it is the last.

    Filtered by the use of the budget, it may hold fewer traces than asked for, or none, and not be the last.
    """

    traces: list[TraceSummary]
    next_page_token: str | None = None


def get_message(trace_id: str) -> traces_pb2.GetRequest:
    """The request for one trace on the wire."""
    return traces_pb2.GetRequest(trace_id=trace_id)


def delete_message(trace_id: str) -> traces_pb2.DeleteRequest:
    """The request to erase one trace on the wire."""
    return traces_pb2.DeleteRequest(trace_id=trace_id)


def list_message(parameters: TraceListParameters) -> traces_pb2.ListRequest:
    """The request for a page on the wire."""
    start, end = parameters.from_, parameters.to
    return traces_pb2.ListRequest(
        kind=parameters.kind,
        space=parameters.space,
        from_us=None if start is None else parameter_instant(start, "/from"),
        to_us=None if end is None else parameter_instant(end, "/to"),
        min_used_share=parameters.min_used_share,
        max_used_share=parameters.max_used_share,
        stranded=parameters.stranded,
        page_size=parameters.page_size or 0,
        page_token=parameters.page_token or "",
    )


def trace_answer(message: traces_pb2.GetResponse) -> Trace:
    """The JSON shape of one trace."""
    summary = message.summary
    return Trace(
        trace_id=summary.trace_id,
        kind=summary.kind,
        recorded=summary.recorded_us,
        spaces=list(summary.spaces),
        plan_hash=summary.plan_hash or None,
        budget=summary.budget,
        used=summary.used,
        items=summary.items,
        stranded=summary.stranded,
        record=object_of(message.record),
        pool_left_out=message.pool_left_out or None,
        explained_left_out=message.explained_left_out or None,
        erased_items=list(message.erased_items) or None,
    )


def deleted_answer(message: traces_pb2.DeleteResponse) -> TraceSummary:
    """The JSON shape of what was erased."""
    return _summary(message.trace)


def page_answer(message: traces_pb2.ListResponse) -> TracePage:
    """The JSON shape of a page."""
    return TracePage(
        traces=[_summary(summary) for summary in message.traces], next_page_token=message.next_page_token or None
    )


def _summary(message: traces_pb2.TraceSummary) -> TraceSummary:
    return TraceSummary(
        trace_id=message.trace_id,
        kind=message.kind,
        recorded=message.recorded_us,
        spaces=list(message.spaces),
        plan_hash=message.plan_hash or None,
        budget=message.budget,
        used=message.used,
        items=message.items,
        stranded=message.stranded,
    )

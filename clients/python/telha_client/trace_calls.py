"""Calls about traces, prepared."""

from collections.abc import Sequence

from telha.planner.v1 import replay_pb2
from telha.trace.v1 import traces_pb2

from . import comparison_answers, responses
from .comparison import Replay, TraceDifference
from .explaining import fill_explain
from .fields import micros, put
from .inputs import Instant, WhyNot
from .requests import Prepared
from .results import Page, Trace, TraceSummary


def trace(trace_id: str, timeout: float | None) -> Prepared[Trace]:
    """`Traces.Get`."""
    message = traces_pb2.GetRequest()
    put(message, "trace_id", trace_id)
    return Prepared("/telha.trace.v1.Traces/Get", message, responses.trace, True, timeout)


def traces(
    kind: str | None,
    space: str | None,
    recorded_from: Instant | None,
    recorded_to: Instant | None,
    min_used_share: float | None,
    max_used_share: float | None,
    stranded: bool | None,
    page_size: int,
    page_token: str,
    timeout: float | None,
) -> Prepared[Page[TraceSummary]]:
    """`Traces.List`."""
    message = traces_pb2.ListRequest()
    put(message, "min_used_share", min_used_share)
    put(message, "max_used_share", max_used_share)
    put(message, "stranded", stranded)
    put(message, "kind", kind)
    put(message, "space", space)
    put(message, "from_us", micros(recorded_from, "from_us"))
    put(message, "to_us", micros(recorded_to, "to_us"))
    put(message, "page_size", page_size)
    put(message, "page_token", page_token)
    return Prepared("/telha.trace.v1.Traces/List", message, responses.traces, True, timeout)


def delete(trace_id: str, timeout: float | None) -> Prepared[TraceSummary]:
    """`Traces.Delete`."""
    message = traces_pb2.DeleteRequest()
    put(message, "trace_id", trace_id)
    return Prepared("/telha.trace.v1.Traces/Delete", message, responses.deleted_trace, False, timeout)


def replay(trace_id: str, explain: bool, why_not: Sequence[WhyNot], timeout: float | None) -> Prepared[Replay]:
    """`Planner.Replay`."""
    message = replay_pb2.ReplayRequest()
    put(message, "trace_id", trace_id)
    fill_explain(message, {"explain": explain, "why_not": why_not})
    return Prepared("/telha.planner.v1.Planner/Replay", message, comparison_answers.replay, True, timeout)


def diff(trace_id: str, other_trace_id: str, timeout: float | None) -> Prepared[TraceDifference]:
    """`Planner.Diff`."""
    message = replay_pb2.DiffRequest()
    put(message, "trace_id", trace_id)
    put(message, "other_trace_id", other_trace_id)
    return Prepared("/telha.planner.v1.Planner/Diff", message, comparison_answers.diff, True, timeout)

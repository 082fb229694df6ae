"""
Trace records as `Traces` messages, for records that are still in this planner's own spool.

The trace writer shows what it has persisted in the same shape; a contract test compares the two.
"""

import base64
import bisect
import itertools
import math
from collections.abc import Mapping
from typing import Any

import msgpack
from google.protobuf.struct_pb2 import ListValue
from telha.trace.v1 import traces_pb2

from telha_planner.core.model import MAX_OFFSET
from telha_planner.core.request import ALL_SPACES, INT64_MAX

DEEPEST_SHOWN = 24
"""Levels of lists and maps that are shown; protobuf readers give up at a hundred of theirs, three to one of ours."""

MAX_NAME_BYTES = 512
"""Longest space or hash that is shown; the trace writer keeps no longer one."""

_SCORE_BITS_AT = 6
_POOL = "pool"
_EXPLAINED = "explained"
_COUNT_BYTES = 16
"""More than a count takes, and what the lengths of the lists around the rows may shrink or grow by."""


def trace_message(record: bytes) -> traces_pb2.GetResponse:
    """The whole trace of *record* (docs/trace-record.md), with the summary that every kind has."""
    content: dict[str, Any] = msgpack.unpackb(record, strict_map_key=True, timestamp=0)
    # Another version of the planner may have written it, so what it holds is looked at, as the trace writer does.
    budget, items = content.get("budget"), content.get("item_coords")
    counts = budget if isinstance(budget, dict) else {}
    response = traces_pb2.GetResponse(
        summary=traces_pb2.TraceSummary(
            trace_id=content["trace_id"],
            kind=content["kind"],
            recorded_us=content["recorded_us"],
            spaces=_spaces(content.get("spaces")),
            plan_hash=_name(content.get("plan_hash")) or "",
            budget=_count(counts.get("applied")),
            used=_count(counts.get("used")),
            items=len(items) if isinstance(items, list) else 0,
            stranded=_count(counts.get("stranded")),
        )
    )
    response.record.update(_shown_record(content))
    return response


def shorten(response: traces_pb2.GetResponse, limit: int) -> None:
    """
    Leave out the last rows of the pool, as many as it takes for *response* to have at most *limit* bytes.

    If that is not enough, so are the last rows of what was explained. Both are counted in it. What is too large without
    them stays too large.
    """
    fields = response.record.fields
    # A null must stay one: whoever reads a list out of it makes it a list.
    if _POOL in fields and fields[_POOL].HasField("list_value"):
        response.pool_left_out = _shortened(response, fields[_POOL].list_value, limit)
    if response.ByteSize() > limit and _EXPLAINED in fields and fields[_EXPLAINED].HasField("struct_value"):
        rows = fields[_EXPLAINED].struct_value.fields["rows"].list_value
        response.explained_left_out = _shortened(response, rows, limit)


def _shortened(response: traces_pb2.GetResponse, rows: ListValue, limit: int) -> int:
    """How many *rows* had to be left out, which are part of *response*."""
    sizes = [framed(row.ByteSize()) for row in rows.values]
    room = limit - (response.ByteSize() - sum(sizes)) - _COUNT_BYTES
    kept = bisect.bisect_right(list(itertools.accumulate(sizes)), room)
    left_out = len(sizes) - kept
    del rows.values[kept:]
    return left_out


def framed(size: int) -> int:
    """Bytes that a part of *size* bytes takes in its message: before it stand a tag of one byte and the size."""
    return 1 + (size.bit_length() + 6) // 7 + size


def _spaces(value: object) -> list[str]:
    if isinstance(value, list) and all(_name(space) and space != ALL_SPACES for space in value):
        return value
    # Unknown reach is the widest reach: only a caller who sees every space may see such a trace.
    return [ALL_SPACES]


def _name(value: object) -> str | None:
    is_name = isinstance(value, str) and 0 < len(value.encode()) <= MAX_NAME_BYTES and "\0" not in value
    return str(value) if is_name else None


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value <= INT64_MAX else 0


def _shown_record(content: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: _shown(value) for key, value in content.items()}
    if isinstance(content.get(_POOL), list):
        # One spelling for all scores, whether or not a number would hold this one.
        for row in shown[_POOL]:
            if isinstance(row, list) and len(row) > _SCORE_BITS_AT and isinstance(row[_SCORE_BITS_AT], int):
                row[_SCORE_BITS_AT] = str(row[_SCORE_BITS_AT])
    return shown


def _shown(value: object, depth: int = 1) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_OFFSET else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, msgpack.ExtType):
        return {"ext": value.code, "data": base64.b64encode(value.data).decode()}
    if depth > DEEPEST_SHOWN:
        return "(nested too deeply to be shown)"
    if isinstance(value, Mapping):
        return {str(key): _shown(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shown(inner, depth + 1) for inner in value]
    return str(value)

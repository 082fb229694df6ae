"""
Trace records as `Traces` messages, for records that are still in this planner's own spool.

The trace writer shows what it has persisted in the same shape; a contract test compares the two.
"""

import base64
import math
from collections.abc import Mapping
from typing import Any

import msgpack
from telha.trace.v1 import traces_pb2

from telha_planner.core.model import MAX_OFFSET
from telha_planner.core.request import ALL_SPACES

_SCORE_BITS_AT = 6


def trace_message(record: bytes) -> traces_pb2.GetResponse:
    """The whole trace of *record* (docs/trace-record.md), with the summary that every kind has."""
    content: dict[str, Any] = msgpack.unpackb(record, strict_map_key=True)
    budget, spaces = content.get("budget") or {}, content.get("spaces")
    response = traces_pb2.GetResponse(
        summary=traces_pb2.TraceSummary(
            trace_id=content["trace_id"],
            kind=content["kind"],
            recorded_us=content["recorded_us"],
            spaces=[ALL_SPACES] if spaces is None else spaces,
            plan_hash=content.get("plan_hash") or "",
            budget=budget.get("applied", 0),
            used=budget.get("used", 0),
            items=len(content.get("item_coords") or ()),
            stranded=budget.get("stranded", 0),
        )
    )
    response.record.update(_shown_record(content))
    return response


def _shown_record(content: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: _shown(value) for key, value in content.items()}
    for row in shown.get("pool") or ():
        # One spelling for all scores, whether or not a number would hold this one.
        row[_SCORE_BITS_AT] = str(row[_SCORE_BITS_AT])
    return shown


def _shown(value: object) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_OFFSET else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _shown(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shown(inner) for inner in value]
    return str(value)

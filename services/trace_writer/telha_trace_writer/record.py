"""
Read trace records: the few fields that every kind has, and the whole as JSON-able values.

docs/trace-record.md describes the fields. Rule: a kind or a version that this program does not know is kept and shown
as it is; only what cannot be listed (no id, tenant, kind or time) is refused.
"""

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgpack
from telha_runtime.frame import Frame

MAX_EXACT: Final = 2**53 - 1
"""Largest whole number that every JSON reader keeps exactly; larger ones become strings."""

DEEPEST_SHOWN: Final = 24
"""Levels of lists and maps that are shown; protobuf readers give up at a hundred of theirs, three to one of ours."""

MAX_NAME_BYTES: Final = 512
"""Longest tenant, kind, space or key id that a store keeps; planners allow a quarter of it."""

_INT64: Final = range(-(2**63), 2**63)
_SCORE_BITS_AT: Final = 6
_EVERY_SPACE: Final = "*"


class RecordMalformed(Exception):
    """The record cannot be stored and never will be; the message says why, without quoting content."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    A record as the store keeps it, with what lists and filters read.

    Attributes:
        key_id: The API key that called; None if the record does not say.
        spaces: Spaces that were read; None means every space of the tenant.
        plan_hash: None when the call had no plan.
    """

    tenant: str
    trace_id: str
    recorded_us: int
    kind: str
    key_id: str | None
    spaces: tuple[str, ...] | None
    plan_hash: str | None
    budget: int
    used: int
    items: int
    stranded: int
    record: bytes


def row_of(frame: Frame) -> Row:
    """
    What the store keeps of *frame*.

    Raises:
        RecordMalformed: It is no map, lacks id, tenant, kind or time, contradicts its frame, or holds a name that no
            store can keep.
    """
    content = _unpacked(frame.record)
    for key, expected in (("trace_id", frame.trace_id), ("tenant", frame.tenant)):
        if content.get(key) != expected:
            raise RecordMalformed(f"{key} of the record is not that of its frame")
    kind = content.get("kind")
    if not isinstance(kind, str) or not kind:
        raise RecordMalformed("kind is absent or no string")
    for key, name in (("kind", kind), ("tenant", frame.tenant)):
        if not is_name(name):
            raise RecordMalformed(f"{key} is longer than {MAX_NAME_BYTES} bytes, empty, or holds U+0000")
    recorded_us = content.get("recorded_us")
    if type(recorded_us) is not int or recorded_us not in _INT64:
        raise RecordMalformed("recorded_us is absent or no 64-bit integer")
    budget = content.get("budget")
    counts = budget if isinstance(budget, dict) else {}
    items = content.get("item_coords")
    return Row(
        tenant=frame.tenant,
        trace_id=frame.trace_id,
        recorded_us=recorded_us,
        kind=kind,
        key_id=_name(content.get("key_id")),
        spaces=_spaces(content.get("spaces")),
        plan_hash=_name(content.get("plan_hash")),
        budget=_count(counts.get("applied")),
        used=_count(counts.get("used")),
        items=len(items) if isinstance(items, list) else 0,
        stranded=_count(counts.get("stranded")),
        record=frame.record,
    )


def key_of(record: bytes) -> str | None:
    """
    The API key that *record* says called; None if it says none.

    Raises:
        RecordMalformed: It is no msgpack map.
    """
    return _name(_unpacked(record).get("key_id"))


def as_json(record: bytes) -> dict[str, Any]:
    """
    The whole record as JSON-able values.

    Bytes become base64; whole numbers beyond 2⁵³ − 1, a pool's score bits and non-finite numbers become strings;
    msgpack extensions become `{ext, data}`.

    Raises:
        RecordMalformed: It is no msgpack map.
    """
    content = _unpacked(record)
    shown = {key: _shown(value) for key, value in content.items()}
    pool = content.get("pool")
    if isinstance(pool, list):
        # One spelling for all scores, whether or not a number would hold this one.
        for row in shown["pool"]:
            if isinstance(row, list) and len(row) > _SCORE_BITS_AT and isinstance(row[_SCORE_BITS_AT], int):
                row[_SCORE_BITS_AT] = str(row[_SCORE_BITS_AT])
    return shown


def is_name(value: object) -> bool:
    """Whether *value* can be a tenant, kind, space or key id in every store: not blank, U+0000-free, short."""
    # PostgreSQL keeps no U+0000 in a text, and no long text in an index.
    return isinstance(value, str) and 0 < len(value.encode()) <= MAX_NAME_BYTES and "\0" not in value


def _unpacked(record: bytes) -> dict[str, Any]:
    try:
        content = msgpack.unpackb(record, strict_map_key=True, timestamp=0)
    except (ValueError, msgpack.UnpackException) as fault:
        raise RecordMalformed("the record is not one msgpack value") from fault
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise RecordMalformed("the record is no map with strings for keys")
    return content


def _spaces(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(is_name(space) and space != _EVERY_SPACE for space in value):
        return tuple(value)
    # Unknown reach is the widest reach: only a caller who sees every space may see such a trace.
    return None


def _name(value: object) -> str | None:
    return value if isinstance(value, str) and is_name(value) else None


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < _INT64.stop else 0


def _shown(value: object, depth: int = 1) -> Any:  # noqa: ANN401  # any JSON value
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_EXACT else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, msgpack.ExtType):
        return {"ext": value.code, "data": base64.b64encode(value.data).decode()}
    if depth > DEEPEST_SHOWN:
        return "(nested too deeply to be shown)"
    if isinstance(value, Mapping):
        return {k if isinstance(k, str) else str(_shown(k)): _shown(inner, depth + 1) for k, inner in value.items()}
    if isinstance(value, list):
        return [_shown(inner, depth + 1) for inner in value]
    return str(value)

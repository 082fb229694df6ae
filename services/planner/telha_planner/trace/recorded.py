"""
A trace record read back: what a replay starts from, and what a diff compares.

Rule 1: records of other versions may lie in the store for years, so every field is looked at before it is believed; a
field that came later is None where the record is older. Rule 2: what cannot be planned anew is refused whole, in words.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgpack

from telha_planner.core.difference import HeldSpan
from telha_planner.core.errors import TelhaError
from telha_planner.core.model import MAX_OFFSET, SpanClass, SpanRef
from telha_planner.core.request import check_span
from telha_planner.core.value import check_range, check_weight, parse_uuid

from .record import RECORD_VERSION, PoolEntry

KINDS = ("plan", "context", "select")


class RecordUnreadable(ValueError):
    """The record is of a kind or a layout that this version cannot plan anew; the message completes "the trace …"."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """
    One record; names and units as in docs/trace-record.md.

    Attributes:
        valid_t, tx_t: None for Select.
        spaces: None is every space of the tenant.
        query_vector: float32 little-endian.
        held: The plan's spans, in canonical order.
        last_tx, settings, software: None in records of before they were kept.
        pool: Of Select alone, in the order sent.
    """

    kind: str
    trace_id: str
    key_id: str
    recorded_us: int
    request: Mapping[str, Any]
    request_hash: str
    valid_t: int | None
    tx_t: int | None
    spaces: tuple[str, ...] | None
    budget: Mapping[str, Any]
    plan_model: str
    score_model: str
    plan_hash: str
    tokenizer: str
    token_estimate: bool
    index_version: str
    config_fingerprint: str
    settings: Mapping[str, Any] | None
    software: str | None
    last_tx: int | None
    query_vector: bytes | None
    vector_model: str | None
    exclusions: tuple[SpanRef, ...]
    held: tuple[HeldSpan, ...]
    stats: Mapping[str, Any]
    pool: tuple[PoolEntry, ...] | None


@dataclass(frozen=True, slots=True)
class Gave:
    """
    What a record says of the spans that its call returned; of any kind and layout.

    Attributes:
        spaces: As in `Recorded`.
        spans: In the order returned; None if the record does not say.
    """

    key_id: str
    spaces: tuple[str, ...] | None
    spans: tuple[SpanRef, ...] | None


def read_gave(record: bytes) -> Gave:
    """
    What the call of *record* gave; nothing else of it is looked at, however large its pool is.

    Raises:
        RecordUnreadable: It does not say who may see it.
    """
    try:
        content: dict[str, Any] = msgpack.unpackb(record, strict_map_key=True, timestamp=0)
        spaces = content["spaces"]
        key_id, named = _text(content["key_id"]), None if spaces is None else tuple(map(_text, spaces))
    except (LookupError, ValueError, TypeError, msgpack.UnpackException) as fault:
        raise RecordUnreadable("must say what it read") from fault
    try:
        spans = tuple(map(_coordinate, content["item_coords"]))
    except (TelhaError, LookupError, ValueError, TypeError):
        return Gave(key_id, named, None)
    return Gave(key_id, named, spans)


def read_record(record: bytes) -> Recorded:
    """
    What *record* says.

    Raises:
        RecordUnreadable: See there.
    """
    try:
        content: dict[str, Any] = msgpack.unpackb(record, strict_map_key=True, timestamp=0)
        if content["v"] != RECORD_VERSION or content["kind"] not in KINDS:
            raise RecordUnreadable("must be of a plan, a context or a selection, as this version records them")
        return _read(content)
    except RecordUnreadable:
        raise
    except (
        TelhaError,
        ArithmeticError,
        LookupError,
        ValueError,
        TypeError,
        struct.error,
        msgpack.UnpackException,
    ) as fault:
        raise RecordUnreadable("must hold a whole record of its call") from fault


def _read(content: Mapping[str, Any]) -> Recorded:
    window = content["window"]
    spaces = content["spaces"]
    facts = content.get("item_facts")
    if facts is None:
        raise RecordUnreadable("must hold kind, weight and tokens of its spans; it was written before these were kept")
    held = [_held(place, fact) for place, fact in zip(content["item_coords"], facts, strict=True)]
    pool = content["pool"]
    return Recorded(
        kind=content["kind"],
        trace_id=_text(content["trace_id"]),
        key_id=_text(content["key_id"]),
        recorded_us=int(content["recorded_us"]),
        request=_map(content["request"]),
        request_hash=_text(content["request_hash"]),
        valid_t=_optional_int(window["validTime"]),
        tx_t=_optional_int(window["txTime"]),
        spaces=None if spaces is None else tuple(map(_text, spaces)),
        budget=_map(content["budget"]),
        plan_model=_text(content["plan_model"]),
        score_model=_text(content["score_model"]),
        plan_hash=_text(content["plan_hash"]),
        tokenizer=_text(content["tokenizer"]),
        token_estimate=bool(content["token_estimate"]),
        index_version=_text(content["index_version"]),
        config_fingerprint=_text(content["config_fingerprint"]),
        settings=content.get("settings"),
        software=content.get("software"),
        last_tx=_optional_int(content.get("last_tx")),
        query_vector=content["query_vector"],
        vector_model=content["vector_model"],
        exclusions=tuple(map(_coordinate, content["exclusions"])),
        held=tuple(sorted(held, key=lambda one: one.span)),
        stats=_map(content["stats"]),
        pool=None if pool is None else tuple(map(_entry, pool)),
    )


def _held(place: list[Any], fact: list[Any]) -> HeldSpan:
    kind, span_class, weight, tokens = fact
    return HeldSpan(_coordinate(place), _text(kind), SpanClass(span_class), float(weight), int(tokens))


def _coordinate(place: list[Any]) -> SpanRef:
    source, version, start, end = place
    if not all(type(number) is int for number in (version, start, end)):
        raise TypeError("no whole numbers")
    span = SpanRef(parse_uuid("source_id", source), version, start, end)
    check_span("span", span)
    return span


def _entry(row: list[Any]) -> PoolEntry:
    *place, kind, span_class, bits, tokens = row
    (score,) = struct.unpack(">d", struct.pack(">Q", bits))
    check_weight("score", score)
    check_range("tokens", tokens, 0, MAX_OFFSET)
    return PoolEntry(_coordinate(place), _text(kind), int(SpanClass(span_class)), score, int(tokens))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _map(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("no map")
    return value


def _optional_int(value: Any) -> int | None:  # noqa: ANN401 (whatever the record holds)
    return None if value is None else int(value)

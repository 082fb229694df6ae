"""What the writer makes of records: any bytes are a row or refused, and any row can be shown."""

import json
from typing import Any
from uuid import uuid4

import msgpack
import pytest
from google.protobuf.struct_pb2 import Struct
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_runtime.frame import Frame
from telha_trace_writer.record import RecordMalformed, as_json, row_of
from trace_path import a_record

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=4)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    ["recorded_us", "kind", "spaces", "budget", "plan_hash", "item_coords", "pool", "stats", "new"]
)


def frame_of(record: bytes, trace_id: str | None = None) -> Frame:
    return Frame("s", 1, trace_id or str(uuid4()), "acme", record)


@settings(deadline=None, max_examples=80)
@given(st.dictionaries(FIELDS, VALUES, max_size=6))
def test_any_record_is_stored_and_shown_or_refused(changes: dict[str, Any]) -> None:
    """X2, X4: whatever a field holds, in any script; what is shown is JSON and fits a protobuf Struct."""
    trace_id = str(uuid4())
    record = a_record(trace_id, **changes)
    try:
        row = row_of(frame_of(record, trace_id))
    except RecordMalformed:
        kind, recorded_us = changes.get("kind", "context"), changes.get("recorded_us", 1)
        assert not isinstance(kind, str) or not kind or type(recorded_us) is not int or recorded_us >= 2**63
        return
    assert (row.tenant, row.trace_id) == ("acme", trace_id)
    assert min(row.budget, row.used, row.items, row.stranded) >= 0
    shown = as_json(row.record)
    json.dumps(shown, allow_nan=False)
    message = Struct()
    message.update(shown)
    assert Struct.FromString(message.SerializeToString()) == message


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=64))
def test_any_bytes_are_refused_as_malformed(record: bytes) -> None:
    """X2: poison never escapes as another error."""
    with pytest.raises(RecordMalformed):
        row_of(frame_of(record))


def test_a_record_that_contradicts_its_frame_is_refused() -> None:
    """A6: a frame cannot put a record into another tenant, or under another id."""
    trace_id = str(uuid4())
    with pytest.raises(RecordMalformed, match="tenant"):
        row_of(frame_of(a_record(trace_id, "other"), trace_id))
    with pytest.raises(RecordMalformed, match="trace_id"):
        row_of(frame_of(a_record(str(uuid4())), trace_id))


def test_deep_nesting_is_shown_as_far_as_readers_can_follow() -> None:
    """X4: deep nesting is shown as far as readers can follow."""
    deep: Any = "bottom"
    for _ in range(200):
        deep = {"in": [deep]}
    message = Struct()
    message.update(as_json(a_record(str(uuid4()), stats=deep)))
    assert b"nested too deeply" in message.SerializeToString()
    assert Struct.FromString(message.SerializeToString()) == message


def test_what_is_unknown_reaches_as_far_as_possible() -> None:
    """M7: spaces that cannot be read count as every space, so that no limited key sees the trace."""
    trace_id = str(uuid4())
    assert row_of(frame_of(a_record(trace_id, spaces="main"), trace_id)).spaces is None
    assert row_of(frame_of(a_record(trace_id, spaces=["a", 1]), trace_id)).spaces is None
    assert row_of(frame_of(a_record(trace_id, spaces=[]), trace_id)).spaces == ()

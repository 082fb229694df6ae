"""The planner shows a trace from its spool exactly as the trace writer shows it from its store."""

from uuid import uuid4

import msgpack
import pytest
from google.protobuf.struct_pb2 import Struct
from telha_planner.server.translate_trace import trace_message
from telha_runtime.frame import Frame
from telha_trace_writer.record import as_json, row_of
from telha_trace_writer.servicer import _summary
from trace_path import a_record

DEEP: dict[str, object] = {}
for _ in range(200):
    DEEP = {"in": [DEEP]}
POOL = [["5d2f0c3b-0000-4000-8000-000000000001", 2**60, 0, 9, "body", 0, 0x3FF0000000000000, 3]]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": "select", "spaces": [], "pool": POOL, "window": {"validTime": None, "txTime": None}},
        {"spaces": None},
        {"error": "INSUFFICIENT_EVIDENCE", "item_coords": [], "plan_hash": None},
        {
            "query_vector": None,
            "request": {"question": "שלום 你好 🧑‍🚀", "budget": {"maxTokens": 7}, "x": [2**53, -1.5]},
        },
        {"kind": "hologram", "pool": "none of ours"},
        {"kind": "hologram", "pool": [7, [], [1, 2, 3, 4, 5, 6, "not bits"]], "x": msgpack.ExtType(5, b"\x00")},
        {"stats": DEEP},
        {"kind": "hologram", "new_in_a_later_version": {"deep": [b"\x00\xff", {"a": 1e300}]}},
    ],
)
def test_spool_and_writer_show_the_same_trace(changes):
    """X4: a trace reads the same wherever it is at the moment."""
    trace_id = str(uuid4())
    record = a_record(trace_id, **changes)
    row = row_of(Frame(str(uuid4()), 1, trace_id, "acme", record))
    shown = Struct()
    shown.update(as_json(record))
    ours = trace_message(record)
    assert ours.record == shown
    assert ours.summary == _summary(row)
    assert msgpack.unpackb(record)["trace_id"] == ours.summary.trace_id

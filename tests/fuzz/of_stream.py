"""The way of a trace record: its frame in the stream, its file in the spool, and both of its readers."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgpack
from fuzz.target import Target, law
from telha_planner.server.translate_trace import trace_message
from telha_planner.trace import segment
from telha_planner.trace.segment import MAGIC, Segment, SegmentUnknown
from telha_runtime import frame
from telha_runtime.frame import Frame, FrameMalformed, FrameUnknown
from telha_trace_writer.record import MAX_EXACT, RecordMalformed, as_json, row_of

_TRACE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
_RECORD = {
    "v": 1,
    "kind": "plan",
    "trace_id": _TRACE,
    "tenant": "acme",
    "recorded_us": 1_780_000_000_000_000,
    "key_id": "abcdefghijkl",
    "request": {"question": "who signs off 電車 deploys?", "budget": {"maxTokens": 800}},
    "request_hash": b"\x01" * 8,
    "window": {"valid_time_us": 1, "tx_time_us": 2},
    "spaces": ["main"],
    "budget": {"requested": 800, "applied": 800, "used": 29, "stranded": 0},
    "plan_hash": "b3:" + "ab" * 32,
    "item_coords": [[b"\x02" * 16, 3, 0, 9]],
    "pool": [[b"\x02" * 16, 3, 0, 9, "paragraph", 0, 2**63, 4]],
    "stats": {"weight": 0.5, "none": None, "yes": True},
}


def _frames() -> Iterator[bytes]:
    packed = msgpack.packb(_RECORD)
    yield frame.encode(Frame("spool", 1, _TRACE, "acme", packed))
    yield msgpack.packb({"v": 2, "anything": [1, 2]})


def _read_frame(data: bytes) -> bool:
    try:
        found = frame.decode({b"f": data})
    except FrameMalformed as refused:
        law(str(refused).isascii(), "a refusal quotes what was sent")
        return False
    except FrameUnknown as unknown:
        law(unknown.version != frame.VERSION, "a known version is unknown")
        return False
    law(frame.decode({b"f": frame.encode(found)}) == found, "a frame does not read back")
    return True


def _records() -> Iterator[bytes]:
    yield msgpack.packb(_RECORD)
    yield msgpack.packb(_RECORD | {"kind": "select", "spaces": None, "item_coords": None, "budget": None})


def _read_record(data: bytes) -> bool:
    try:
        content = msgpack.unpackb(data, timestamp=0)
        named = [content.get("trace_id"), content.get("tenant")] if isinstance(content, dict) else []
    except (ValueError, TypeError, msgpack.UnpackException):
        named = []
    trace_id, tenant = [*(each if isinstance(each, str) else "x" for each in named), "x", "x"][:2]
    try:
        row = row_of(Frame("spool", 1, trace_id, tenant, data))
        shown = as_json(data)
    except RecordMalformed:
        return False
    law(0 < len(row.kind.encode()) <= 512 and 0 <= row.used < 2**63 and -(2**63) <= row.recorded_us < 2**63, "no row")
    json.loads(json.dumps(shown, allow_nan=False))
    _check_exact(shown)
    message = trace_message(data)
    law(message.summary.used == row.used, "the two readers count differently")
    law(message.summary.items == row.items, "the two readers count items differently")
    law((message.summary.plan_hash or None) == row.plan_hash, "the two readers see another hash")
    type(message).FromString(message.SerializeToString())
    return True


def _check_exact(value: object) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _check_exact(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_exact(inner)
    elif type(value) is int:
        law(abs(value) <= MAX_EXACT, "a number is shown that a reader would round")


def _files() -> Iterator[bytes]:
    record = msgpack.packb(_RECORD)
    entries = [segment.pack(seq, _TRACE, "acme", record).content for seq in (1, 2, 5)]
    yield MAGIC + b"".join(entries)
    yield MAGIC + entries[0] + b"\0" * 40 + entries[1]
    yield MAGIC[:7]


def _read_file(data: bytes) -> bool:
    # Checksums would keep every mutant out; so bytes behind the magic may ask to have theirs mended.
    data = _sealed(data)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / "00000000000000000001.spool"
        path.write_bytes(data)
        try:
            opened, entries, lost = Segment.reopen(path)
        except SegmentUnknown:
            law(path.read_bytes() == data, "a file of strangers was changed")
            return False
        try:
            last_seq, last_end = 0, len(MAGIC)
            for entry in entries:
                law(last_seq < entry.seq and last_end <= entry.start < entry.end <= len(data), "entries out of order")
                law(entry.start < entry.offset <= entry.end == entry.offset + entry.length, "a record out of its entry")
                law(len(opened.read(entry)) == entry.length, "a record is cut short")
                last_seq, last_end = entry.seq, entry.end
            law(lost >= 0 and path.stat().st_size == opened.size, "sizes disagree")
        finally:
            opened.close()
        again, found, _ = Segment.reopen(path)
        again.close()
        law(found == entries, "a file reads differently the second time")
    return bool(entries)


def _sealed(data: bytes) -> bytes:
    """*data* with right checksums for entries that end in an odd byte."""
    start = len(MAGIC)
    whole = bytearray(data)
    while start + segment._HEAD.size <= len(whole):
        length, _, seq = segment._HEAD.unpack_from(whole, start)
        begin = start + segment._HEAD.size
        body = bytes(whole[begin : begin + length])
        if len(body) != length:
            break
        if body and body[-1] & 1:
            whole[start + 4 : start + 8] = segment._checksum(seq, body).to_bytes(4)
        start = begin + length
    return bytes(whole)


TARGETS = (
    Target("frame", "msgpack", _frames, _read_frame, ("v", "spool", "seq", "trace_id", "tenant", "record")),
    Target("record", "msgpack", _records, _read_record, tuple(_RECORD)),
    Target("segment", "bytes", _files, _read_file, ("\0\0\0\x1c", "\0\0\0\x10", "acme", "\xff\xff")),
)

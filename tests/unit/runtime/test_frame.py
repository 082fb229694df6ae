"""The frame of a stream entry."""

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_runtime.frame import FIELD, Frame, FrameMalformed, FrameUnknown, decode, encode

FRAME = Frame("spool", 7, "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", "acme", b"\x81\xa1v\x01")


def entry(**changes: object) -> dict[bytes, bytes]:
    content = msgpack.unpackb(encode(FRAME)) | changes
    return {FIELD: msgpack.packb({key: value for key, value in content.items() if value is not None})}


@settings(deadline=None, max_examples=50)
@given(st.text(), st.integers(1, 2**63), st.uuids(), st.text(), st.binary())
def test_what_was_encoded_is_decoded(spool: str, seq: int, trace_id: object, tenant: str, record: bytes) -> None:
    """X2: a frame carries its record unread, whatever the bytes."""
    frame = Frame(spool, seq, str(trace_id), tenant, record)
    assert decode({FIELD: encode(frame)}) == frame


@settings(deadline=None, max_examples=100)
@given(st.binary())
def test_any_bytes_are_a_frame_or_refused(value: bytes) -> None:
    """X2: poison never escapes as another error."""
    with pytest.raises((FrameMalformed, FrameUnknown)):
        decode({FIELD: value})


@pytest.mark.parametrize(
    "changes",
    [
        {"spool": 1},
        {"seq": "1"},
        {"seq": True},
        {"trace_id": "0197A3F2-7C1E-7D7B-9A53-2F0C3B7F9E10"},
        {"trace_id": "x"},
        {"tenant": None},
        {"record": "text"},
        {"v": None},
        {"v": "1"},
        {"v": True},
    ],
)
def test_a_malformed_frame_is_refused(changes: dict[str, object]) -> None:
    """X2: a malformed frame is refused."""
    with pytest.raises(FrameMalformed):
        decode(entry(**changes))


def test_an_entry_without_the_field_is_refused() -> None:
    """X2: an entry without the field is refused."""
    with pytest.raises(FrameMalformed, match="no field f"):
        decode({b"g": b""})


def test_another_version_is_kept_apart_from_malformed() -> None:
    """X2: a frame of a newer planner waits for a newer writer; it is no poison."""
    with pytest.raises(FrameUnknown) as unknown:
        decode(entry(v=2, spool=None))
    assert unknown.value.version == 2

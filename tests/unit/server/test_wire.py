import pytest
from google.protobuf import struct_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import planner_pb2
from telha_planner.core.errors import RequestInvalid
from telha_planner.server.wire import decode

UNKNOWN = b"\x98\x06\x01"  # field 99, varint 1


def length_delimited(number: int, content: bytes) -> bytes:
    assert number < 16
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def refusal(message_type, raw: bytes) -> RequestInvalid:
    with pytest.raises(RequestInvalid) as caught:
        decode(message_type, raw)
    return caught.value


def test_a_known_message_passes_unchanged():
    """A1: a known message passes unchanged."""
    message = planner_pb2.PlanRequest(question="o que é? 你好 🧑‍🚀", spaces=["main"])
    message.budget.max_tokens = 800
    assert decode(planner_pb2.PlanRequest, message.SerializeToString()) == message


def test_a_field_sent_twice_is_no_unknown_field():
    """A1: a field sent twice is no unknown field."""
    raw = planner_pb2.PlanRequest(question="a").SerializeToString() * 2
    assert decode(planner_pb2.PlanRequest, raw).question == "a"


@pytest.mark.parametrize(
    ("message_type", "raw", "field"),
    [
        (planner_pb2.PlanRequest, UNKNOWN, "99"),
        (planner_pb2.PlanRequest, length_delimited(6, UNKNOWN), "budget.99"),
        (planner_pb2.SelectRequest, length_delimited(1, b"") + length_delimited(1, UNKNOWN), "pool[1].99"),
        (
            planner_pb2.SelectRequest,
            length_delimited(1, b"") + length_delimited(1, length_delimited(1, UNKNOWN)),
            "pool[1].span.99",
        ),
        (
            memory_pb2.PutNodesRequest,
            length_delimited(1, length_delimited(4, length_delimited(1, b"\x0a\x01a" + length_delimited(2, UNKNOWN)))),
            "nodes[0].properties.fields[a].99",
        ),
    ],
)
def test_an_unknown_field_is_refused_with_its_place(message_type, raw, field):
    """A1: unknown fields are refused, at any depth."""
    assert refusal(message_type, raw).field == field


def test_broken_utf8_is_refused():
    """A1: a string field that is not UTF-8 is the caller's mistake, not an internal error."""
    assert "UTF-8" in refusal(planner_pb2.PlanRequest, b"\x0a\x02\xff\xfe").rule


def test_bytes_that_are_no_message_are_refused():
    """A1: bytes that are no message are refused."""
    assert refusal(planner_pb2.PlanRequest, b"\x0a\xff").rule == "must be a valid message"


def test_a_struct_nested_beyond_the_parser_is_refused():
    """A1: a struct nested beyond the parser is refused."""
    value = b"\x20\x01"  # Value.bool_value
    for _ in range(150):
        for number in (1, 6):  # ListValue.values, Value.list_value
            value = bytes([number << 3 | 2, *_varint(len(value))]) + value
    entry = length_delimited(1, b"a") + bytes([2 << 3 | 2, *_varint(len(value))]) + value
    assert refusal(struct_pb2.Struct, bytes([1 << 3 | 2, *_varint(len(entry))]) + entry).field == "request"


def _varint(number: int) -> list[int]:
    return [number] if number < 128 else [number & 127 | 128, *_varint(number >> 7)]

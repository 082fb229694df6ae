"""
Free JSON objects and `google.protobuf.Struct`, both ways.

A Struct holds every number as float64. Rule: on the way in, what float64 cannot hold exactly is refused; on the way
out, whole numbers within ±(2^53 − 1) become integers again.
"""

import math
from typing import Any, cast

from google.protobuf import struct_pb2

from telha_gateway.dto.shape import MAX_OFFSET
from telha_gateway.faults import RequestFault, child

ROOM_FOR_PROPERTIES = 69
"""Levels of the hundred that protobuf parses; an object takes three of them, a list two."""
ROOM_FOR_CONDITIONS = 90
"""As much as fits; the planner's own ceiling is reached before."""

_OBJECT, _LIST = 3, 2


def struct_of(value: dict[str, Any], pointer: str, room: int = ROOM_FOR_PROPERTIES) -> struct_pb2.Struct:
    """
    *value* as a Struct.

    Args:
        room: Levels that its nesting may take.

    Raises:
        RequestFault: A number does not fit, or the nesting has no end.
    """
    _check(value, pointer, room)
    message = struct_pb2.Struct()
    message.update(value)
    return message


def object_of(message: struct_pb2.Struct) -> dict[str, object]:
    """The JSON object that *message* stands for, with its names in order, since the wire keeps none."""
    return {key: _value(message.fields[key]) for key in sorted(message.fields)}


def _check(value: object, pointer: str, room: int) -> None:
    if room < 0:
        raise RequestFault(pointer, "must not be nested so deep")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RequestFault(pointer, "must be a finite number")
    elif isinstance(value, int):
        if not -MAX_OFFSET <= value <= MAX_OFFSET:
            raise RequestFault(pointer, "must be within ±(2^53 - 1), or a string")
    elif isinstance(value, dict):
        for key, member in cast("dict[str, object]", value).items():
            _check(member, child(pointer, key), room - _OBJECT)
    elif isinstance(value, list):
        for index, member in enumerate(cast("list[object]", value)):
            _check(member, child(pointer, index), room - _LIST)


def _value(message: struct_pb2.Value) -> object:
    match message.WhichOneof("kind"):
        case "number_value":
            number = message.number_value
            return int(number) if number.is_integer() and abs(number) <= MAX_OFFSET else number
        case "string_value":
            return message.string_value
        case "bool_value":
            return message.bool_value
        case "struct_value":
            return object_of(message.struct_value)
        case "list_value":
            return [_value(member) for member in message.list_value.values]
        case _:
            return None

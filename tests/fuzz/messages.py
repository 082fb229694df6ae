"""
The requests of every method that a planner serves, by number, and mutation of their fields.

An input is one byte, the number of the method, and the message on the wire.
"""

import random
from collections.abc import Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from telha.administration.v1 import administration_pb2
from telha.context.v1 import context_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import planner_pb2
from telha.trace.v1 import traces_pb2

METHODS: list[tuple[str, str, type[Message]]] = [
    (service.full_name, method.name, method.input_type._concrete_class)
    for file in (planner_pb2, context_pb2, memory_pb2, traces_pb2, administration_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]
"""Service, method and type of its request, in the contract's order."""

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_ENUM: (-(2**31), 2**31 - 1),
}
_FLOATS = (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)


def mutated_message(
    head: bytes, data: bytes, other: bytes, scalars: Sequence[Any], words: Sequence[str], rng: random.Random
) -> bytes | None:
    """*data* with one field changed; None if it is no message of the method that *head* numbers."""
    _, _, kind = METHODS[head[0] % len(METHODS)]
    try:
        message = kind.FromString(data)
    except DecodeError:
        return None
    if rng.random() < 0.1:
        try:
            message.MergeFromString(other)
        except DecodeError:
            return None
    for _ in range(1 + rng.randrange(3)):
        _change(message, scalars, words, rng)
    return message.SerializeToString()


def _change(message: Message, scalars: Sequence[Any], words: Sequence[str], rng: random.Random) -> None:
    while True:
        fields = message.DESCRIPTOR.fields
        if not fields:
            return
        field = rng.choice(fields)
        inner = _inner(message, field, words, rng)
        if inner is None or rng.random() < 0.1:
            break
        message = inner
    if rng.random() < 0.1:
        message.ClearField(field.name)
        return
    if field.message_type is not None:
        return
    value = _value(field, scalars, words, rng)
    if value is None:
        return
    if field.is_repeated:
        getattr(message, field.name).extend([value] * rng.choice((1, 1, 1, 2, 40, 1100)))
    else:
        setattr(message, field.name, value)


def _inner(message: Message, field: FieldDescriptor, words: Sequence[str], rng: random.Random) -> Message | None:
    """A message below *field* to go on with, made if there is none."""
    if field.message_type is None:
        return None
    if not field.is_repeated:
        inner: Message = getattr(message, field.name)
        inner.SetInParent()
        return inner
    held = getattr(message, field.name)
    if field.message_type.GetOptions().map_entry:
        keys = sorted(held)
        key = rng.choice(keys) if keys and rng.random() < 0.7 else rng.choice([*words, "", "a.b", "\0", "ﷺ"])
        try:
            entry = held[key]
        except (TypeError, ValueError):
            return None
        return entry if isinstance(entry, Message) else None
    if held and rng.random() < 0.2:
        held.extend([held[0]] * rng.choice((1, 1, 20)))
    if not held or rng.random() < 0.1:
        held.add()
    return held[rng.randrange(len(held))]


def _value(field: FieldDescriptor, scalars: Sequence[Any], words: Sequence[str], rng: random.Random) -> Any:
    kind = field.cpp_type
    if kind in _INTEGERS:
        low, high = _INTEGERS[kind]
        numbers = [value for value in scalars if type(value) is int and low <= value <= high]
        return rng.choice([low, high, *numbers])
    if kind in _FLOATS:
        return rng.choice(
            [float(value) for value in scalars if type(value) is float or (type(value) is int and abs(value) < 2**64)]
        )
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return rng.random() < 0.5
    texts = [*words, *(value for value in scalars if isinstance(value, str))]
    text = rng.choice(texts).encode("utf-8", "replace")
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.choice((text, rng.randbytes(9), b"", text * 40))
    return (text * rng.choice((1, 1, 1, 40)).__int__()).decode()

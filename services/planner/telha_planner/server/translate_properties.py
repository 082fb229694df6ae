"""What comes as `google.protobuf.Struct`: properties, to the JSON text that is stored (RFC 8785), and conditions."""

import math
from typing import Any

import rfc8785
from google.protobuf import struct_pb2

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.predicate import Where, member, read_where
from telha_planner.core.value import check_text

MAX_PROPERTIES_BYTES = 65_536
"""Longest JSON text of one node's properties; what is longer is a document, and documents are ingested."""


def read_properties(place: str, struct: struct_pb2.Struct) -> str:
    """
    The properties at *place* as RFC 8785 JSON: equal properties have equal text.

    Raises:
        RequestInvalid: A number is not finite, a text cannot be stored, a value is missing, or the whole is too long.
    """
    text = rfc8785.dumps(read_object(place, struct))
    if len(text) > MAX_PROPERTIES_BYTES:
        raise RequestInvalid(field=place, rule=f"must be at most {MAX_PROPERTIES_BYTES:,} bytes as JSON")
    return text.decode()


def read_conditions(place: str, struct: struct_pb2.Struct) -> tuple[Where, dict[str, Any]]:
    """
    The `where` at *place*, checked, and as sent.

    Raises:
        RequestInvalid: It breaks the grammar.
    """
    sent = read_object(place, struct)
    return read_where(place, sent), sent


def read_object(place: str, struct: struct_pb2.Struct) -> dict[str, Any]:
    """
    The JSON object at *place*, of dicts, lists, texts, finite numbers, booleans and None.

    Raises:
        RequestInvalid: A number is not finite, a text cannot be stored, or a value is missing.
    """
    read = {}
    for key, value in struct.fields.items():
        check_text(place, key)
        read[key] = _value(member(place, key), value)
    return read


def _value(place: str, value: struct_pb2.Value) -> Any:  # noqa: ANN401 (any JSON value)
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return read_object(place, value.struct_value)
    if kind == "list_value":
        return [_value(f"{place}[{index}]", inner) for index, inner in enumerate(value.list_value.values)]
    if kind == "string_value":
        check_text(place, value.string_value)
        return value.string_value
    if kind == "number_value":
        if not math.isfinite(value.number_value):
            raise RequestInvalid(field=place, rule="must be finite")
        return value.number_value + 0.0  # −0.0 becomes +0.0
    if kind == "bool_value":
        return value.bool_value
    if kind == "null_value":
        return None
    raise RequestInvalid(field=place, rule="must have a value")

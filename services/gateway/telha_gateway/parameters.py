"""
Query strings as structs, as strict as bodies.

Whole numbers are plain digits, other numbers as in JSON, flags are `true` or `false`, and only lists may be given
several times.
"""

import re
from functools import cache
from typing import TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import inspect

from telha_gateway.dto.shape import Sent
from telha_gateway.faults import RequestFault, child
from telha_gateway.shapes import shaped

T = TypeVar("T", bound=msgspec.Struct)

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,30})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?")
_FLAGS: dict[str, bool] = {"true": True, "false": False}


class Nothing(Sent):
    """For operations without query parameters, so that a misspelt one is refused and not ignored."""


def read(query: bytes, shape: type[T]) -> T:
    """
    The parameters of the raw *query* as a *shape*.

    Raises:
        RequestFault: A parameter is unknown, repeated or malformed.
    """
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise RequestFault("", "must have query parameters in UTF-8, percent-encoded") from None
    kinds = _kinds(shape)
    values: dict[str, object] = {}
    lists: dict[str, list[str]] = {}
    for name, text in pairs:
        kind = kinds.get(name)
        if kind is inspect.ListType:
            lists.setdefault(name, []).append(text)
        elif name in values:
            raise RequestFault(child("", name), "must not be given twice")
        elif kind is inspect.IntType and _WHOLE.fullmatch(text):
            values[name] = int(text)
        elif kind is inspect.FloatType and _NUMBER.fullmatch(text):
            values[name] = float(text)
        elif kind is inspect.BoolType:
            values[name] = _FLAGS.get(text, text)
        else:
            values[name] = text
    return shaped(values | lists, shape)


@cache
def _kinds(shape: type[msgspec.Struct]) -> dict[str, type[inspect.Type]]:
    described = inspect.type_info(shape)
    fields = described.fields if isinstance(described, inspect.StructType) else ()
    return {field.encode_name: _kind(field.type) for field in fields}


def _kind(described: inspect.Type) -> type[inspect.Type]:
    """The kind of a value, without its bounds and without `null`."""
    while not isinstance(described, inspect.NoneType):
        if isinstance(described, inspect.Metadata):
            described = described.type
        elif isinstance(described, inspect.UnionType):
            described = next(branch for branch in described.types if not isinstance(branch, inspect.NoneType))
        else:
            break
    return type(described)

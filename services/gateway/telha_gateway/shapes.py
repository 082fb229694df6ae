"""
From strict JSON to a struct, and from what msgspec says about a mismatch to a place and a rule.

Rule: a caller reads our words, never the library's; a message that this module does not know still gives the place.
"""

import re
from typing import TypeVar

import msgspec

from telha_gateway.dto.shape import MAX_OFFSET
from telha_gateway.faults import RequestFault, child

T = TypeVar("T")

_PLACE = re.compile(r"(.*) - at `\$(.*)`", re.DOTALL)
_STEP = re.compile(r"\.([A-Za-z0-9_]+)|\[([0-9]+)\]")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
_BOUND = re.compile(r"Expected `[a-z |]*` (>=|<=) (-?[0-9]+)")
_EXPECTED = re.compile(r"Expected `([a-z |]+)`")

_NOUNS = {
    "array": "an array",
    "bool": "true or false",
    "float": "a number",
    "int": "an integer",
    "int | str": "an RFC 3339 time with an offset, or whole microseconds",
    "object": "an object",
    "str": "a string",
}
_CHOICES = {
    "class": "must be truth or cache",
    "legs": "must name structured, semantic or lexical",
}


def shaped(value: object, shape: type[T]) -> T:
    """
    *value* as a *shape*.

    Raises:
        RequestFault: A field is unknown, missing, of the wrong type or out of its range.
    """
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        if "got `float`" not in str(error):
            raise fault_of(str(error)) from None
    try:
        return msgspec.convert(_with_integers(value), shape)
    except msgspec.ValidationError as error:
        raise fault_of(str(error)) from None


def _with_integers(value: object) -> object:
    """*value* with 2.0 as 2: JSON has one kind of number, and some writers spell every one with a fraction."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= MAX_OFFSET else value
    if isinstance(value, list):
        return [_with_integers(member) for member in value]
    if isinstance(value, dict):
        return {key: _with_integers(member) for key, member in value.items()}
    return value


def fault_of(message: str) -> RequestFault:
    """What msgspec's *message* means to the caller."""
    placed = _PLACE.fullmatch(message)
    what, path = (placed[1], placed[2]) if placed else (message, "")
    pointer, name = "", ""
    for step in _STEP.finditer(path):
        pointer = child(pointer, step[1] or int(step[2]))
        name = step[1] or name
    if unknown := _UNKNOWN.fullmatch(what):
        return RequestFault(child(pointer, unknown[1]), "is not a known field")
    if missing := _MISSING.fullmatch(what):
        return RequestFault(child(pointer, missing[1]), "is required")
    return RequestFault(pointer, _rule(what, name))


def _rule(what: str, name: str) -> str:
    if bound := _BOUND.fullmatch(what):
        return f"must be at {'least' if bound[1] == '>=' else 'most'} {int(bound[2]):,}"
    if what.startswith("Expected `str` of length >= 1"):
        return "must not be empty"
    if what.startswith("Invalid enum value"):
        return _CHOICES.get(name, "must be one of the documented values")
    if "out of range" in what:
        return "must fit a 64-bit number"
    expected = _EXPECTED.match(what)
    kinds = expected[1].removesuffix(" | null") if expected else ""
    return f"must be {_NOUNS[kinds]}" if kinds in _NOUNS else "is not valid"

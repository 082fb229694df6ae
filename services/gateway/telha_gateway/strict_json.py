"""
JSON as RFC 8259 means it, and nothing that two readers could understand differently.

Refused, with the place: keys given twice, `NaN` and `Infinity`, lone surrogates, integers beyond all reason, bytes that
are not UTF-8, nesting without end. The first parse only detects; a second one, after a fault, finds the place.
"""

import json
import re
from collections.abc import Iterator
from typing import NoReturn, cast

from telha_gateway.faults import RequestFault, child

_MAX_DIGITS = 40
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")

_GIVEN_TWICE = "must not be given twice"
_NOT_FINITE = "must be a finite number"
_TOO_LARGE = "must fit a 64-bit number"
_SURROGATE = "must not contain lone surrogates"
_TOO_DEEP = "must not be nested so deep"


def decode(raw: bytes) -> object:
    """
    The value that *raw* holds.

    Raises:
        RequestFault: Not strict JSON.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise RequestFault("", f"must be UTF-8; byte {error.start} is not") from None
    if not text or text.isspace():
        raise RequestFault("", "must be a JSON object, not empty")
    try:
        return _checked(text)
    except json.JSONDecodeError as error:
        raise RequestFault("", f"must be JSON; {error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise RequestFault("", _TOO_DEEP) from None


def _checked(text: str) -> object:
    try:
        value = _detecting.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise _located(text) from None
    # Halves of a pair, written as two escapes, have become one character by now.
    if _SURROGATE_ESCAPE.search(text):
        for fault in _surrogates("", value):
            raise fault
    return value


def _refuse(_: str) -> NoReturn:
    raise ValueError


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


_detecting = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse)


class _Mark:
    """Stands where a value was that must be refused."""

    def __init__(self, rule: str) -> None:
        self.rule = rule


def _marked_constant(_: str) -> _Mark:
    return _Mark(_NOT_FINITE)


def _marked_integer(digits: str) -> object:
    return int(digits) if len(digits) <= _MAX_DIGITS else _Mark(_TOO_LARGE)


def _marked_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members: dict[str, object] = {}
    for key, value in pairs:
        members[key] = _Mark(_GIVEN_TWICE) if key in members else value
    return members


_marking = json.JSONDecoder(
    object_pairs_hook=_marked_members, parse_constant=_marked_constant, parse_int=_marked_integer
)


def _located(text: str) -> RequestFault:
    marks = _marks("", _marking.decode(text))
    return next(marks, RequestFault("", "must be JSON"))


def _marks(pointer: str, value: object) -> Iterator[RequestFault]:
    if isinstance(value, _Mark):
        yield RequestFault(pointer, value.rule)
    for key, member in _members(value):
        yield from _marks(child(pointer, key), member)


def _surrogates(pointer: str, value: object) -> Iterator[RequestFault]:
    if isinstance(value, str) and not _encodable(value):
        yield RequestFault(pointer, _SURROGATE)
    for key, member in _members(value):
        if isinstance(key, str) and not _encodable(key):
            yield RequestFault(pointer, "must not have a name with lone surrogates")
        else:
            yield from _surrogates(child(pointer, key), member)


def _members(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, dict):
        yield from cast("dict[str, object]", value).items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

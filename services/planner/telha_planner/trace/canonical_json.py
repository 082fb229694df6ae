"""
RFC 8785 JSON of a request, fast enough for the hash of every call.

The `rfc8785` package is the yardstick (a property test compares the two) and too slow for a pool of a thousand
fragments or a query vector: it takes longer than planning. Numbers whose Python spelling is not the canonical one are
left to it. One rule comes on top: integers beyond 2^53 − 1 become strings, so that each JSON parser reads the same.
"""

import json
from typing import Any

import rfc8785

from telha_planner.core.model import MAX_OFFSET

_string = json.encoder.encode_basestring  # its escapes are exactly those of RFC 8785, and so is the hexadecimal case


def dumps(value: Any) -> bytes:  # noqa: ANN401 (any JSON value)
    """*value* (dicts, lists, tuples, scalars) as canonical JSON in UTF-8; numbers must be finite."""
    return _text(value, {}).encode()


_Shapes = dict[tuple[str, ...], list[tuple[str, str]]]
"""For each row of keys that was met: the keys in canonical order, with their text; most objects are alike."""


def _text(value: Any, shapes: _Shapes) -> str:  # noqa: ANN401 (any JSON value)
    kind = type(value)
    if kind is str:
        return _string(value)
    if kind is dict:
        shape = shapes.get(tuple(value)) or _shape(tuple(value), shapes)
        return "{" + ",".join([text + _text(value[key], shapes) for key, text in shape]) + "}"
    if kind is int:
        return str(value) if -MAX_OFFSET <= value <= MAX_OFFSET else f'"{value}"'
    if kind is float:
        return _number(value)
    if kind is list or kind is tuple:
        return "[" + ",".join([_text(inner, shapes) for inner in value]) + "]"
    if value is None or kind is bool:
        return "null" if value is None else ("true" if value else "false")
    raise TypeError(f"{kind.__name__} is no JSON value")


def _shape(keys: tuple[str, ...], shapes: _Shapes) -> list[tuple[str, str]]:
    ordered = sorted(keys) if all(map(str.isascii, keys)) else sorted(keys, key=lambda key: key.encode("utf-16-be"))
    shape = shapes[keys] = [(key, f"{_string(key)}:") for key in ordered]
    return shape


def _number(value: float) -> str:
    text = repr(value)
    # Both spell the shortest digits that read back; they differ in whole numbers, exponents and what is not finite.
    if "." in text and not text.endswith(".0") and "e" not in text:
        return text
    return rfc8785.dumps(value).decode()

"""
RFC 8785 JSON of a request, fast enough for the hash of every call.

The `rfc8785` package is the yardstick (a property test compares the two) and too slow for a pool of a thousand
fragments or a query vector: it takes longer than planning. Numbers whose Python spelling is not the canonical one are
left to it. One rule comes on top: integers beyond 2^53 − 1 become strings, so that each JSON parser reads the same.
"""

import json
from collections.abc import Mapping
from typing import Any

import rfc8785

from telha_planner.core.model import MAX_OFFSET

_string = json.encoder.encode_basestring  # its escapes are exactly those of RFC 8785, and so is the hexadecimal case


def dumps(value: Any) -> bytes:  # noqa: ANN401 (any JSON value)
    """*value* as canonical JSON in UTF-8; numbers must be finite and strings free of lone surrogates."""
    return _text(value).encode()


def _text(value: Any) -> str:  # noqa: ANN401 (any JSON value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, float):
        return _number(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else ("true" if value else "false")
    if isinstance(value, int):
        return str(value) if -MAX_OFFSET <= value <= MAX_OFFSET else f'"{value}"'
    if isinstance(value, Mapping):
        keys = sorted(value)
        if not all(map(str.isascii, keys)):
            keys.sort(key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join([f"{_string(key)}:{_text(value[key])}" for key in keys]) + "}"
    return "[" + ",".join([_text(inner) for inner in value]) + "]"


def _number(value: float) -> str:
    text = repr(value)
    # Both spell the shortest digits that read back; they differ in whole numbers, exponents and what is not finite.
    if "." in text and not text.endswith(".0") and "e" not in text:
        return text
    return rfc8785.dumps(value).decode()

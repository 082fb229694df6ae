"""JSON: what the gateway reads, what is hashed, and the grammar of `where`."""

import json
from collections.abc import Iterator
from typing import Any

import rfc8785
from fuzz.target import Target, law
from telha_gateway import strict_json
from telha_gateway.faults import RequestFault
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.predicate import OPERATORS, read_where
from telha_planner.core.request import OPEN_END
from telha_planner.memory.query import NodeFacts, compiled
from telha_planner.trace import canonical_json

_DEEPEST_REQUEST = 200
"""Brackets; protobuf parses a hundred levels."""


def _values() -> Iterator[bytes]:
    yield b'{"question": "who?", "budget": {"maxTokens": 800}}'
    yield b'[1, 2.5, -0.0, 1e21, null, true, "\\u00e9\\ud83d\\ude00"]'
    yield b'[[[[{"a": [{}]}]]]]'
    yield b"9007199254740993"


def _read(data: bytes) -> bool:
    try:
        value = strict_json.decode(data)
    except RequestFault as fault:
        law(fault.rule and fault.rule.isprintable(), "a refusal has no rule")
        str(fault).encode("utf-8", "backslashreplace")
        return False
    law(_alike(value, json.loads(data)), "two readers understand the value differently")
    json.dumps(value, ensure_ascii=False).encode()  # no lone surrogate has come through
    if _depth(data) < _DEEPEST_REQUEST:
        _canonical(value)
    return True


def _alike(left: Any, right: Any) -> bool:
    return bool(repr(left) == repr(right))


def _canonical(value: Any) -> None:
    try:
        theirs = rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        return  # integers beyond 2^53 − 1, which ours spells as strings
    text = canonical_json.dumps(value)
    law(text == theirs, "the two writers of canonical JSON differ")
    law(text == canonical_json.dumps(json.loads(text, parse_int=_number)), "canonical JSON is not a fixed point")


def _number(digits: str) -> int | float:
    return int(digits) if abs(int(digits)) < 2**53 else float(digits)


def _conditions() -> Iterator[bytes]:
    yield b'{"tier": {"lte": 2}, "name": {"startsWith": "check"}}'
    yield b'{"or": [{"a.b": {"in": [1, "x", null]}}, {"not": {"@id": {"exists": true}}}]}'
    yield '{"and": [{"c": {"match": "電車"}}]}'.encode()
    yield b'{"list": {"contains": "a"}}'
    yield b'{"n": {"gt": 1e308, "lt": -0.0, "gte": "x", "ne": false, "eq": 9007199254740991}}'


_NODES = [
    NodeFacts(properties, 50, 1, 2, "service", "main", 5, valid_to)
    for properties, valid_to in (
        ({}, OPEN_END),
        ({"tier": 1, "name": "checkout", "a": {"b": 1}, "list": ["a", 1, None], "c": "電車 at six"}, OPEN_END),
        ({"tier": 2.5, "name": None, "a": [1], "list": "abc", "n": -0.0, "c": ["x", {"y": 1}]}, 9),
        ({"tier": "1", "n": 1e308, "a": {"b": {"c": True}}, "": "x", "@id": 1}, 9),
    )
]


def _where(data: bytes) -> bool:
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return False
    try:
        where = read_where("where", given)
        predicate = compiled(where)
    except RequestInvalid as fault:
        law(fault.field.startswith("where") and fault.rule, "a refusal names no place")
        law(len(fault.field) < 4096, "the place is longer than anybody reads")
        return False
    except RecursionError:
        law(_depth(data) > 300, "a shallow condition went too deep")
        raise
    answers = [predicate.holds(node) for node in _NODES]
    law(all(type(answer) is bool for answer in answers), "a predicate is neither true nor false")
    again = read_where("where", json.loads(where.text))
    law(again.text == where.text and again.conditions == where.conditions, "the text of a where reads differently")
    law([compiled(again).holds(node) for node in _NODES] == answers, "equal conditions decide differently")
    inverse = read_where("where", {"not": json.loads(where.text)}) if not _deepest(where.text) else None
    if inverse is not None:
        law([not compiled(inverse).holds(node) for node in _NODES] == answers, "not is not the inverse")
    return True


def _depth(data: bytes) -> int:
    return data.count(b"{") + data.count(b"[")


def _deepest(text: str) -> bool:
    return text.count("{") > 14 or len(text) > 65_000


TARGETS = (
    Target("json", "json", _values, _read, ('"a"', "{}", "[]", "1e999", "-0", "\\u0000", "\\ud800", "NaN", "Infinity")),
    Target("where", "json", _conditions, _where, ("and", "or", "not", "@id", "@type", "@validTo", "a.b", *OPERATORS)),
)

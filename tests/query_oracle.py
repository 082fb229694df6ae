"""
What a `where` means, written a second time from docs/query-language.md alone: raw JSON in, a boolean out.

It shares nothing with the evaluator: no parsing beforehand, exact fractions for numbers, analysis term by term.
"""

import re
from fractions import Fraction
from typing import Any

from telha_planner.models.analysis import terms

NOTHING = object()
"""A field that is not there."""


def satisfies(node: dict[str, Any], where: dict[str, Any]) -> bool:
    """Whether *node* ({"properties", "@id", "@type", …}) satisfies *where*."""
    for name, wanted in where.items():
        if name == "and":
            held = all(satisfies(node, part) for part in wanted)
        elif name == "or":
            held = any(satisfies(node, part) for part in wanted)
        elif name == "not":
            held = not satisfies(node, wanted)
        else:
            found = value_of(node, name)
            held = all(_holds(found, operator, value) for operator, value in wanted.items())
        if not held:
            return False
    return True


def value_of(node: dict[str, Any], name: str) -> Any:
    """The value at a path, or `NOTHING`."""
    if name.startswith("@"):
        return node.get(name, NOTHING)
    value: Any = node["properties"]
    for escaped in re.findall(r"(?:[^.\\]|\\.)+", name, re.DOTALL):
        step = re.sub(r"\\(.)", r"\1", escaped, flags=re.DOTALL)
        if not isinstance(value, dict) or step not in value:
            return NOTHING
        value = value[step]
    return value


def _kind(value: Any) -> str:
    if value is NOTHING:
        return "nothing"
    if value is None:
        return "null"
    names = ((bool, "boolean"), ((int, float), "number"), (str, "text"), (list, "list"), (dict, "object"))
    return next(name for types, name in names if isinstance(value, types))


def _same(one: Any, other: Any) -> bool:
    if _kind(one) != _kind(other) or _kind(one) in {"nothing", "list", "object"}:
        return False
    return Fraction(float(one)) == Fraction(float(other)) if _kind(one) == "number" else bool(one == other)


def _before(one: Any, other: Any) -> bool:
    if _kind(one) == "number":
        return Fraction(float(one)) < Fraction(float(other))
    return [ord(c) for c in one] < [ord(c) for c in other]


def _holds(found: Any, operator: str, value: Any) -> bool:  # noqa: C901 one case for each operator
    comparable = _kind(found) == _kind(value) and _kind(found) in {"number", "text"}
    match operator:
        case "eq":
            return _same(found, value)
        case "ne":
            return not _same(found, value)
        case "lt":
            return comparable and _before(found, value)
        case "gte":
            return comparable and not _before(found, value)
        case "gt":
            return comparable and _before(value, found)
        case "lte":
            return comparable and not _before(value, found)
        case "in":
            return any(_same(found, choice) for choice in value)
        case "contains":
            if _kind(found) == "list":
                return any(_same(one, value) for one in found)
            return _kind(found) == _kind(value) == "text" and found.find(value) >= 0
        case "startsWith":
            return _kind(found) == "text" and found[: len(value)] == value
        case "exists":
            return (found is not NOTHING) == value
        case "match":
            texts = found if _kind(found) == "list" else [found]
            return any(_kind(text) == "text" and set(terms(value)) <= set(terms(text)) for text in texts)
    raise AssertionError(operator)

"""
The grammar of `where`: what a structured query asks of a node, read once, at the door.

    where      = { field: operators, … }  |  { "and": [where, …] }  |  { "or": [where, …] }  |  { "not": where }
    operators  = { operator: value, … }

All members of an object must hold. docs/query-language.md has the meaning of every operator; `memory.query` decides it.
Rule 1: what breaks the grammar is refused at its very place, spelled as `member` spells it. Rule 2: ceilings are
errors. Rule 3: numbers are float64; an integer that float64 cannot hold is refused, and equal queries have equal text.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .errors import RequestInvalid
from .model import MAX_OFFSET

MAX_DEPTH = 16
"""Levels of `where`: itself is one, and each `and`, `or` and `not` adds one."""
MAX_CONDITIONS = 256
"""Operators in one `where`."""
MAX_CHOICES = 1000
"""Values of one `in`."""
MAX_VALUE_BYTES = 4096
"""UTF-8 bytes of one text that is compared with."""
MAX_FIELD_BYTES = 512
"""UTF-8 bytes of one field's path."""
MAX_WHERE_BYTES = 65_536
"""UTF-8 bytes of a whole `where` as JSON."""

BUILT_INS = ("@id", "@type", "@space", "@validFrom", "@validTo")
"""What a node has beside its properties."""

Scalar = str | float | bool | None

_SIMPLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN_NAME = 128
_STEP = re.compile(r"\\(.)|(\.)|([^\\.]+)", re.DOTALL)

_ANY = "must be a string, a number, true, false or null"
_ORDERED = "must be a string or a number"
_TEXT = "must be a string"
_VALUES: Mapping[str, tuple[tuple[type, ...], str]] = MappingProxyType(
    {
        "eq": ((str, float, bool, type(None)), _ANY),
        "ne": ((str, float, bool, type(None)), _ANY),
        "lt": ((str, float), _ORDERED),
        "lte": ((str, float), _ORDERED),
        "gt": ((str, float), _ORDERED),
        "gte": ((str, float), _ORDERED),
        "in": ((str, float, bool, type(None)), _ANY),
        "contains": ((str, float, bool, type(None)), _ANY),
        "startsWith": ((str,), _TEXT),
        "exists": ((bool,), "must be true or false"),
        "match": ((str,), _TEXT),
    }
)
OPERATORS = tuple(_VALUES)


@dataclass(frozen=True, slots=True)
class Field:
    """
    What a condition looks at.

    Attributes:
        path: Names of properties, from the outermost in; or one of `BUILT_INS` alone.
        built_in: Whether *path* is a built-in.
    """

    path: tuple[str, ...]
    built_in: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """*operator* of *field* and *value*; a tuple of values for `in`. *place* is where it stands in the request."""

    field: Field
    operator: str
    value: Scalar | tuple[Scalar, ...]
    place: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """*part* does not hold."""

    part: "Expression"


Expression = Condition | AllOf | AnyOf | Not


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """
    A whole `where`.

    Attributes:
        text: As JSON, names in order: equal conditions in equal arrangement have equal text.
        conditions: How many there are.
        place: The field that holds it, for faults that only show later.
    """

    expression: Expression
    text: str
    conditions: int
    place: str


def read_where(place: str, given: object) -> Where:
    """
    The `where` that *given* (JSON values: dicts, lists, texts, numbers, booleans, None) is.

    Raises:
        RequestInvalid: It breaks the grammar or passes a ceiling.
    """
    reader = _Reader()
    expression = reader.group(place, given, 1)
    text = json.dumps(_plain(given), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if len(text.encode()) > MAX_WHERE_BYTES:
        raise RequestInvalid(field=place, rule=f"must be at most {MAX_WHERE_BYTES:,} bytes as JSON")
    return Where(expression, text, reader.conditions, place)


def member(place: str, name: str) -> str:
    """
    The path of the member *name* below *place*: `place.name`, or `place["odd name"]` with the name as JSON.

    A name that nobody would read to its end is cut short.
    """
    if _SIMPLE_NAME.fullmatch(name) and len(name) <= _SHOWN_NAME:
        return f"{place}.{name}"
    shown = name if len(name) <= _SHOWN_NAME else f"{name[:_SHOWN_NAME]}…"
    return f"{place}[{json.dumps(shown, ensure_ascii=not _encodable(shown))}]"


class _Reader:
    """Counts conditions on its way down."""

    def __init__(self) -> None:
        self.conditions = 0

    def group(self, place: str, given: object, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            raise RequestInvalid(field=place, rule=f"must not be nested deeper than {MAX_DEPTH} levels")
        if not isinstance(given, Mapping):
            raise RequestInvalid(field=place, rule="must be an object of conditions")
        if not given:
            raise RequestInvalid(field=place, rule="must hold at least one condition")
        parts: list[Expression] = []
        for name, value in sorted(given.items()):  # the wire keeps no order, and the first fault is the one told
            inner = member(place, name)
            if name in {"and", "or"}:
                parts.append(self._list(inner, name, value, depth))
            elif name == "not":
                parts.append(Not(self.group(inner, value, depth + 1)))
            else:
                parts += self._operators(inner, _field(inner, name), value)
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _list(self, place: str, name: str, given: object, depth: int) -> Expression:
        if not isinstance(given, list | tuple) or not given:
            raise RequestInvalid(field=place, rule="must be a list of at least one object of conditions")
        parts = tuple(self.group(f"{place}[{index}]", part, depth + 1) for index, part in enumerate(given))
        return AllOf(parts) if name == "and" else AnyOf(parts)

    def _operators(self, place: str, field: Field, given: object) -> list[Expression]:
        if not isinstance(given, Mapping):
            raise RequestInvalid(
                field=place, rule='must be an object of operators, such as {"eq": …}, not a bare value'
            )
        if not given:
            raise RequestInvalid(field=place, rule="must hold at least one operator")
        found: list[Expression] = []
        for operator, value in sorted(given.items()):
            inner = member(place, operator)
            if operator not in _VALUES:
                known = ", ".join(OPERATORS)
                raise RequestInvalid(field=inner, rule=f"is not an operator; known are {known}")
            self.conditions += 1
            if self.conditions > MAX_CONDITIONS:
                raise RequestInvalid(field=inner, rule=f"is one condition more than the {MAX_CONDITIONS} allowed")
            found.append(Condition(field, operator, _operand(inner, operator, value), inner))
        return found


def _operand(place: str, operator: str, given: object) -> Scalar | tuple[Scalar, ...]:
    if operator != "in":
        return _scalar(place, operator, given)
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= MAX_CHOICES:
        raise RequestInvalid(field=place, rule=f"must be a list of 1 to {MAX_CHOICES:,} values")
    return tuple(_scalar(f"{place}[{index}]", operator, value) for index, value in enumerate(given))


def _scalar(place: str, operator: str, given: object) -> Scalar:
    value = float(given) if type(given) is int and abs(given) <= MAX_OFFSET else given
    kinds, rule = _VALUES[operator]
    if type(value) is int and float in kinds:
        raise RequestInvalid(field=place, rule="must be within ±(2^53 - 1), or a string")
    if type(value) not in kinds:
        raise RequestInvalid(field=place, rule=rule)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RequestInvalid(field=place, rule="must be a finite number")
        return value + 0.0  # −0.0 becomes +0.0
    if isinstance(value, str):
        _check_text(place, value, MAX_VALUE_BYTES)
        return value
    return bool(value) if value is not None else None


def _field(place: str, name: str) -> Field:
    _check_text(place, name, MAX_FIELD_BYTES)
    if name.startswith("@"):
        if name not in BUILT_INS:
            rule = f"is not known; beside properties there are {', '.join(BUILT_INS)}"
            raise RequestInvalid(field=place, rule=rule)
        return Field((name,), built_in=True)
    path = [""]
    end = 0
    for step in _STEP.finditer(name):
        end = step.end()
        if step[2]:
            path.append("")
        else:
            path[-1] += step[1] or step[3]
    if end != len(name):
        raise RequestInvalid(field=place, rule="must not end in a backslash that nothing follows")
    if not all(path):
        raise RequestInvalid(field=place, rule="must not have an empty name")
    return Field(tuple(path))


def _check_text(place: str, text: str, max_bytes: int) -> None:
    if "\0" in text:
        raise RequestInvalid(field=place, rule="must not contain U+0000")
    if not _encodable(text):
        raise RequestInvalid(field=place, rule="must not contain lone surrogates")
    if len(text.encode()) > max_bytes:
        raise RequestInvalid(field=place, rule=f"must be at most {max_bytes:,} bytes")


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """*value* with whole numbers as integers, so that 5 and 5.0 are the same text."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_OFFSET else value

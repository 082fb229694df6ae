"""
Whether a node satisfies a `where`: the one evaluator, whatever engine holds the memory.

SQL and columns narrow by tenant, space, type and visibility; every predicate is decided here, over the properties as
stored, so that two engines cannot differ. docs/query-language.md says what each operator means.
Rule 1: a predicate is true or false of every node; a missing field or another type than the operator's is no error.
Rule 2: a predicate is a function of one node version; it reads no clock and no other node.
"""

import operator
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from telha_planner import patience
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.predicate import AllOf, AnyOf, Condition, Expression, Field, Not, Scalar, Where
from telha_planner.core.request import OPEN_END
from telha_planner.core.value import format_uuid
from telha_planner.models.analysis import term_counts


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """
    One version of a node, as predicates see it.

    Attributes:
        properties: As `decode_properties` gives them.
        size: Characters of their JSON text.
        hi, lo: Halves of the node id.
        valid_to: `OPEN_END` where there is none.
    """

    properties: Mapping[str, Any]
    size: int
    hi: int
    lo: int
    node_type: str
    space: str
    valid_from: int
    valid_to: int

    @property
    def node_id(self) -> bytes:
        """The id, 16 bytes."""
        return self.hi.to_bytes(8, "big") + self.lo.to_bytes(8, "big")


_TERMS_HELD = 1 << 17
"""Characters of text whose terms are held; properties of one node are half as long at most."""

Test = Callable[[NodeFacts], bool]
_ValueTest = Callable[[object], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Predicate:
    """
    A `where`, ready to be asked.

    Attributes:
        holds: Whether a node satisfies it.
        text: Equal texts are equal predicates.
        conditions: How many it has.
        analysed: Characters of text that were taken apart for `match` up to now.
        place: The request's field that holds it.
    """

    holds: Test
    text: str
    conditions: int
    analysed: Callable[[], int]
    place: str


def compiled(where: Where) -> Predicate:
    """
    *where* as one function.

    Raises:
        RequestInvalid: A `match` holds no word.
    """
    terms = _Terms()
    holds = _Compiler(terms).test(where.expression)
    return Predicate(holds, where.text, where.conditions, lambda: terms.analysed, where.place)


class _Missing:
    """Stands for the value of a field that a node does not have."""


_MISSING = _Missing()

_BUILT_INS: dict[str, Callable[[NodeFacts], object]] = {
    "@id": lambda node: format_uuid(node.node_id),
    "@type": lambda node: node.node_type,
    "@space": lambda node: node.space,
    "@validFrom": lambda node: node.valid_from,
    "@validTo": lambda node: _MISSING if node.valid_to == OPEN_END else node.valid_to,
}


class _Compiler:
    """Compiles one predicate; its `match` conditions share what they analysed."""

    def __init__(self, terms: "_Terms") -> None:
        self._terms = terms

    def test(self, expression: Expression) -> Test:
        match expression:
            case Condition(field, name, value, place):
                return _of_field(field, self._value_test(name, value, place))
            case Not(part):
                inner = self.test(part)
                return lambda node: not inner(node)
            case AllOf(parts):
                tests = [self.test(part) for part in parts]
                return lambda node: all(test(node) for test in tests)
            case AnyOf(parts):
                tests = [self.test(part) for part in parts]
                return lambda node: any(test(node) for test in tests)

    def _value_test(self, name: str, value: Scalar | tuple[Scalar, ...], place: str) -> _ValueTest:
        if name in _ORDERS:
            return _order(_ORDERS[name], value)
        match name, value:
            case "eq", _:
                wanted = _identity(value)
                return lambda found: _identity(found) == wanted
            case "ne", _:
                wanted = _identity(value)
                return lambda found: _identity(found) != wanted
            case "in", tuple():
                choices = frozenset(_identity(choice) for choice in value)
                return lambda found: _identity(found) in choices
            case "contains", _:
                return _contains(value)
            case "startsWith", str():
                return lambda found: type(found) is str and found.startswith(value)
            case "exists", bool():
                return lambda found: (found is not _MISSING) is value
            case "match", str():
                return self._match(value, place)
        raise ValueError(f"{name} of {value!r} has passed the grammar")

    def _match(self, value: str, place: str) -> _ValueTest:
        wanted = frozenset(term_counts(value))
        if not wanted:
            raise RequestInvalid(field=place, rule="must hold a word to look for")
        terms = self._terms

        def matches(found: object) -> bool:
            if type(found) is str:
                return wanted <= terms.of(found)
            return type(found) is list and any(type(one) is str and wanted <= terms.of(one) for one in found)

        return matches


class _Terms:
    """
    The terms of the texts met last, so that many conditions on one node analyse each of its texts once.

    Attributes:
        analysed: Characters taken apart since the beginning.
    """

    def __init__(self) -> None:
        self._held: dict[str, AbstractSet[int]] = {}
        self._held_until = _TERMS_HELD
        self.analysed = 0

    def of(self, text: str) -> AbstractSet[int]:
        """The ids of the terms of *text*."""
        found = self._held.get(text)
        if found is None:
            patience.check()
            if self.analysed > self._held_until:
                self._held.clear()
                self._held_until = self.analysed + _TERMS_HELD
            found = self._held[text] = term_counts(text).keys()
            self.analysed += len(text)
        return found


def _of_field(field: Field, test: _ValueTest) -> Test:
    first, *rest = field.path
    if field.built_in:
        read = _BUILT_INS[first]
        return lambda node: test(read(node))
    if not rest:
        return lambda node: test(node.properties.get(first, _MISSING))

    def nested(node: NodeFacts) -> bool:
        value: Any = node.properties.get(first, _MISSING)
        for name in rest:
            if type(value) is not dict:
                return test(_MISSING)
            value = value.get(name, _MISSING)
        return test(value)

    return nested


def _identity(value: object) -> tuple[type, object] | None:
    """Equal for equal scalars, where a number is a float64 and a boolean is none; None for anything else."""
    kind = type(value)
    if kind is str or kind is float or kind is bool or value is None:
        return kind, value
    return (float, float(value)) if isinstance(value, int) else None


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}


def _order(compare: Callable[[Any, Any], bool], value: object) -> _ValueTest:
    if isinstance(value, str):
        return lambda found: type(found) is str and compare(found, value)
    return lambda found: (type(found) is float or type(found) is int) and compare(float(found), value)


def _contains(value: object) -> _ValueTest:
    wanted = _identity(value)

    def contains(found: object) -> bool:
        if type(found) is list:
            return any(_identity(one) == wanted for one in found)
        return isinstance(value, str) and type(found) is str and value in found

    return contains

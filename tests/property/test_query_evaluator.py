"""The evaluator of `where` against the meaning of the page, written independently."""

import json
import uuid
from typing import Any

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from query_oracle import satisfies
from query_strategies import properties, wheres
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.predicate import OPERATORS, Where, read_where
from telha_planner.core.request import OPEN_END
from telha_planner.memory.properties import decode_properties
from telha_planner.memory.query import NodeFacts, compiled

NODE = uuid.UUID("0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10")


def holds(held: dict[str, Any], where: dict[str, Any], valid_to: int = OPEN_END) -> bool:
    """As the planner decides it: properties go through the store's own text first."""
    stored = decode_properties(rfc8785.dumps(held).decode())
    hi, lo = divmod(NODE.int, 1 << 64)
    facts = NodeFacts(stored, 0, hi, lo, "fact", "main", 7, valid_to)
    return compiled(read_where("where", where)).holds(facts)


def told(held: dict[str, Any], where: dict[str, Any], valid_to: int = OPEN_END) -> bool:
    node = {"properties": held, "@id": str(NODE), "@type": "fact", "@space": "main", "@validFrom": 7}
    return satisfies(node if valid_to == OPEN_END else {**node, "@validTo": valid_to}, where)


@settings(max_examples=400, deadline=None)
@given(properties, wheres, st.sampled_from([OPEN_END, 9]))
def test_a_predicate_agrees_with_brute_force(held: dict[str, Any], where: dict[str, Any], valid_to: int) -> None:
    """M4: any predicate over any properties is what the page says, types and missing fields included."""
    assert holds(held, where, valid_to) == told(held, where, valid_to)


names = st.sampled_from([*OPERATORS, "and", "or", "not", "@id", "a", "a.b", "\\", ""]) | st.text(max_size=3)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


def _read(value: Any) -> Where | RequestInvalid:
    try:
        return read_where("where", value)
    except RequestInvalid as refused:
        return refused


@settings(max_examples=300, deadline=None)
@given(anything)
def test_whatever_is_sent_is_read_or_refused_with_its_place(given_where: Any) -> None:
    """M4: any JSON value has one of two outcomes."""
    read = _read(given_where)
    if isinstance(read, RequestInvalid):
        assert read.field.startswith("where")
        assert read.rule
    else:
        assert read.conditions >= 1
        assert read_where("where", json.loads(read.text)).text == read.text


@settings(max_examples=100, deadline=None)
@given(properties, wheres)
def test_not_is_the_opposite(held: dict[str, Any], where: dict[str, Any]) -> None:
    """M4: two values, no third."""
    assert holds(held, {"not": where}) is not holds(held, where)


@settings(max_examples=100, deadline=None)
@given(properties, wheres)
def test_the_text_of_a_where_is_the_where(held: dict[str, Any], where: dict[str, Any]) -> None:
    """M4: what a predicate is remembered under says all of it; whole numbers have one spelling."""
    first = read_where("where", where)
    again = read_where("where", json.loads(first.text))
    assert again.text == first.text
    as_floats = json.loads(first.text, parse_int=float)
    assert read_where("where", as_floats).text == first.text
    assert holds(held, json.loads(first.text)) == holds(held, where)

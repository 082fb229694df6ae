"""`where` as an attacker writes it: ceilings are errors, and what is accepted is decided in bounded time."""

import json
import time

import pytest
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.predicate import MAX_CHOICES, MAX_CONDITIONS, MAX_DEPTH, read_where
from telha_planner.core.request import OPEN_END
from telha_planner.memory.query import NodeFacts, compiled

LONG = NodeFacts({"text": "ab " * 20_000, "list": ["x"] * 20_000}, 60_000, 1, 2, "service", "main", 5, OPEN_END)


def nested(name: str, depth: int) -> object:
    inner: object = {"a": {"eq": 1}}
    for _ in range(depth):
        inner = {name: inner} if name == "not" else {name: [inner]}
    return inner


REFUSED = {
    "ten thousand conditions": {f"f{n}": {"eq": n} for n in range(10_000)},
    "ten thousand branches": {"or": [{"a": {"eq": n}} for n in range(10_000)]},
    "deep not": nested("not", 500),
    "deep and": nested("and", 400),
    "deep or": nested("or", 400),
    "a huge list": {"a": {"in": list(range(MAX_CHOICES + 1))}},
    "a list of nothing": {"a": {"in": []}},
    "a megabyte": {"a": {"contains": "x" * 1_000_000}},
    "a name of a megabyte": {"a" * 1_000_000: {"eq": 1}},
    "an operator of a megabyte": {"a": {"b" * 1_000_000: 1}},
    "large altogether": {f"f{n}": {"eq": "x" * 4000} for n in range(200)},
    "a pattern": {"a": {"regex": "(a+)+$"}},
    "an integer that no float holds": {"a": {"eq": 2**53 + 1}},
    "an integer of ten thousand digits": {"a": {"eq": 10**10_000}},
    "beyond a float": {"a": {"eq": float("inf")}},
    "no number": {"a": {"lt": float("nan")}},
    "half a character": {"a": {"eq": "\ud800"}},
    "an object to compare with": {"a": {"eq": {"b": 1}}},
}


@pytest.mark.parametrize("given", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_too_much_is_refused_at_once(given: object) -> None:
    """M4, C7: depth, number and size have ceilings that are errors with a place, told before the work is done."""
    began = time.process_time()
    with pytest.raises(RequestInvalid) as refused:
        compiled(read_where("where", given))
    assert time.process_time() - began < 1
    assert refused.value.field.startswith("where")
    assert len(refused.value.field) < 4096
    assert len(refused.value.rule) < 512


TAKEN = {
    "as many as may be": {"or": [{"text": {"contains": f"q{n}"}} for n in range(MAX_CONDITIONS)]},
    "as many matches": {"or": [{"text": {"match": f"q{n} (a+)+$ .*"}} for n in range(MAX_CONDITIONS)]},
    "as deep as may be": nested("not", MAX_DEPTH - 1),
    "as long a list": {"text": {"in": [f"x{n}" for n in range(MAX_CHOICES)]}},
    "what nearly stands there": {"text": {"contains": "ab " * 1300 + "c"}},
    "what a list does not hold": {"list": {"contains": "y"}},
    "the largest number": {"n": {"lt": 1e308, "gt": -1e308}},
    "no positive zero": {"n": {"eq": -0.0}},
    "the last whole number": {"n": {"eq": 2**53 - 1}},
}


@pytest.mark.parametrize("given", TAKEN.values(), ids=TAKEN.keys())
def test_what_is_accepted_is_decided_in_bounded_time(given: object) -> None:
    """M4: on the largest properties a node may have, whatever the conditions; no operator is a pattern."""
    predicate = compiled(read_where("where", given))
    began = time.process_time()
    answer = predicate.holds(LONG)
    assert time.process_time() - began < 1
    assert type(answer) is bool
    text = json.loads(predicate.text)
    assert compiled(read_where("where", text)).holds(LONG) is answer

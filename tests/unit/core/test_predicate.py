"""The grammar of `where`: what is read, and what is refused at which place."""

import math

import pytest
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.predicate import (
    BUILT_INS,
    MAX_CHOICES,
    MAX_CONDITIONS,
    MAX_DEPTH,
    MAX_FIELD_BYTES,
    MAX_VALUE_BYTES,
    MAX_WHERE_BYTES,
    OPERATORS,
    Field,
    member,
    read_where,
)
from telha_planner.core.request import PlanRequest, QueryRequest

GOOD = {"price": {"gte": 1}}


def nested(levels, inner=GOOD):
    """*inner* below so many levels of `and`; *inner* is a level itself."""
    return inner if levels == 1 else {"and": [nested(levels - 1, inner)]}


CASES = {
    "a list": ([], "where", "object of conditions"),
    "a text": ("price > 5", "where", "object of conditions"),
    "nothing": (None, "where", "object of conditions"),
    "empty": ({}, "where", "at least one condition"),
    "bare number": ({"price": 5}, "where.price", "bare value"),
    "bare text": ({"and": [GOOD, {"name": "x"}]}, "where.and[1].name", "bare value"),
    "bare null": ({"name": None}, "where.name", "bare value"),
    "bare list": ({"name": ["x"]}, "where.name", "bare value"),
    "bare, odd name": ({"unit price": True}, 'where["unit price"]', "bare value"),
    "no operator": ({"price": {}}, "where.price", "at least one operator"),
    "unknown operator": (
        {"price": {"gte": 1, "above": 5}},
        "where.price.above",
        "is not an operator; known are eq, ne",
    ),
    "operator in another case": ({"name": {"startswith": "x"}}, "where.name.startswith", "not an operator"),
    "nested object": ({"owner": {"name": {"eq": "x"}}}, "where.owner.name", "not an operator"),
    "empty and": ({"and": []}, "where.and", "at least one object"),
    "empty or": ({"or": []}, "where.or", "at least one object"),
    "and of no list": ({"and": {"price": {"eq": 1}}}, "where.and", "must be a list"),
    "empty part": ({"or": [GOOD, {}]}, "where.or[1]", "at least one condition"),
    "part of no object": ({"or": [GOOD, 7]}, "where.or[1]", "object of conditions"),
    "empty not": ({"not": {}}, "where.not", "at least one condition"),
    "not of a list": ({"not": [GOOD]}, "where.not", "object of conditions"),
    "empty in": ({"price": {"in": []}}, "where.price.in", "1 to 1,000"),
    "in of no list": ({"price": {"in": 5}}, "where.price.in", "1 to 1,000"),
    "in of lists": ({"price": {"in": [1, [2]]}}, "where.price.in[1]", "must be a string, a number"),
    "too many choices": ({"price": {"in": [1] * (MAX_CHOICES + 1)}}, "where.price.in", "1 to 1,000"),
    "eq of a list": ({"tags": {"eq": ["a"]}}, "where.tags.eq", "must be a string, a number"),
    "eq of an object": ({"tags": {"eq": {"a": 1}}}, "where.tags.eq", "must be a string, a number"),
    "lt of a boolean": ({"price": {"lt": True}}, "where.price.lt", "must be a string or a number"),
    "gte of null": ({"price": {"gte": None}}, "where.price.gte", "must be a string or a number"),
    "startsWith of a number": ({"name": {"startsWith": 4}}, "where.name.startsWith", "must be a string"),
    "match of a number": ({"name": {"match": 4}}, "where.name.match", "must be a string"),
    "exists of a number": ({"name": {"exists": 1}}, "where.name.exists", "true or false"),
    "NaN": ({"price": {"eq": math.nan}}, "where.price.eq", "finite"),
    "infinity in a list": ({"price": {"in": [1, math.inf]}}, "where.price.in[1]", "finite"),
    "an integer that no double holds": ({"price": {"eq": 2**53}}, "where.price.eq", "±(2^53 - 1)"),
    "too deep": (nested(MAX_DEPTH + 1), "where" + ".and[0]" * MAX_DEPTH, "deeper than 16"),
    "too deep by not": ({"not": nested(MAX_DEPTH)}, "where.not" + ".and[0]" * (MAX_DEPTH - 1), "deeper than 16"),
    "a depth bomb": (nested(900), "where" + ".and[0]" * MAX_DEPTH, "deeper than 16"),
    "too many conditions": (
        {"or": [GOOD] * (MAX_CONDITIONS + 1)},
        f"where.or[{MAX_CONDITIONS}].price.gte",
        "one condition more than the 256",
    ),
    "a long text": ({"a": {"eq": "é" * (MAX_VALUE_BYTES // 2 + 1)}}, "where.a.eq", "4,096 bytes"),
    "a long name": ({"a" * (MAX_FIELD_BYTES + 1): GOOD}, f'where["{"a" * 128}…"]', "512 bytes"),
    "a long whole": (
        {"a": {"in": [f"{number:04}" + "x" * 90 for number in range(MAX_WHERE_BYTES // 90)]}},
        "where",
        "65,536 bytes",
    ),
    "U+0000 in a value": ({"a": {"eq": "\0"}}, "where.a.eq", "U+0000"),
    "lone surrogate in a value": ({"a": {"eq": "\ud800"}}, "where.a.eq", "surrogates"),
    "lone surrogate in a name": ({"\ud800": {"eq": 1}}, 'where["\\ud800"]', "surrogates"),
    "lone surrogate as an operator": ({"a": {"\ud800": 1}}, 'where.a["\\ud800"]', "not an operator"),
    "no name": ({"": {"eq": 1}}, 'where[""]', "empty name"),
    "no name between dots": ({"a..b": {"eq": 1}}, 'where["a..b"]', "empty name"),
    "no name after a dot": ({"a.": {"eq": 1}}, 'where["a."]', "empty name"),
    "a backslash at the end": ({"a\\": {"eq": 1}}, 'where["a\\\\"]', "backslash"),
    "an unknown built-in": ({"@ID": {"eq": "x"}}, 'where["@ID"]', "is not known"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_breaks_the_grammar_is_refused_at_its_place(case):
    """M4: the place and the rule; nothing is clamped or guessed."""
    given, place, rule = CASES[case]
    with pytest.raises(RequestInvalid) as refused:
        read_where("where", given)
    assert refused.value.field == place
    assert rule in refused.value.rule


def test_what_stands_at_a_ceiling_is_taken():
    """M4: a ceiling is the last value that is allowed."""
    read_where("where", nested(MAX_DEPTH))
    read_where("where", {"or": [GOOD] * MAX_CONDITIONS})
    read_where("where", {"a": {"in": list(range(MAX_CHOICES)), "eq": "x" * MAX_VALUE_BYTES}})
    read_where("where", {"a" * MAX_FIELD_BYTES: {"eq": 2**53 - 1}})


def test_names_are_paths():
    """M4: dots go down; a backslash takes the next character as it is."""

    def path(name):
        return read_where("where", {name: {"exists": True}}).expression.field

    assert path("a.b.c") == Field(("a", "b", "c"))
    assert path("a\\.b.c") == Field(("a.b", "c"))
    assert path("\\and") == Field(("and",))
    assert path("\\@id") == Field(("@id",))
    assert path("a\\\\b") == Field(("a\\b",))
    assert path("名.🧑\u200d🚀") == Field(("名", "🧑\u200d🚀"))
    assert path("@id") == Field(("@id",), built_in=True)
    assert path("a.@id") == Field(("a", "@id"))
    assert all(path(name).built_in for name in BUILT_INS)


def test_one_and_true_are_two_texts():
    """M4: what a predicate is remembered under tells booleans, numbers and texts apart."""
    values = (1, True, "1", 0, False, None, "", "true", "null", 0.5)
    texts = [read_where("where", {"a": {"eq": value}}).text for value in values]
    assert len(set(texts)) == len(values)
    assert read_where("where", {"a": {"eq": 1.0}}).text == texts[0]
    assert read_where("where", {"a": {"eq": -0.0}}).expression == read_where("where", {"a": {"eq": 0}}).expression


def test_every_operator_is_read():
    """M4: every operator is read."""
    values = {"in": [1], "startsWith": "a", "match": "a", "exists": False}
    for operator in OPERATORS:
        value = values.get(operator, 1)
        assert read_where("where", {"a": {operator: value}}).expression.operator == operator


def test_a_place_can_be_read_back():
    """M4: a place can be read back."""
    assert member("where", "price") == "where.price"
    assert member("where", "a.b") == 'where["a.b"]'
    assert member("where", 'q"]') == 'where["q\\"]"]'
    assert member("where", "名") == 'where["名"]'
    assert len(member("where", "x" * 10_000)) < 200


@pytest.mark.parametrize("find", [None, ""])
def test_where_needs_find(find):
    """M4: conditions on nodes of no type are refused at `where`."""
    where = read_where("query.where", GOOD)
    with pytest.raises(RequestInvalid, match=r"query\.where must not be given without find"):
        PlanRequest(question="q", find=find, where=where)
    with pytest.raises(RequestInvalid, match="where must not be given without find"):
        QueryRequest(find="", where=where)


@pytest.mark.parametrize("size", [0, -1, 1001])
def test_a_page_beyond_the_ceiling_is_an_error(size):
    """M4: a result ceiling is no clamp."""
    with pytest.raises(RequestInvalid, match="page_size must be between 1 and 1,000"):
        QueryRequest(find="t", page_size=size)

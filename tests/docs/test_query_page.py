"""docs/query-language.md: its table of examples is decided, its operators and ceilings are those of the code."""

import json
import re
from pathlib import Path

import pytest
from query_oracle import satisfies
from telha_planner.core import predicate
from telha_planner.core.predicate import read_where
from telha_planner.core.request import MAX_FIND_LIMIT, MAX_QUERY_PAGE, OPEN_END
from telha_planner.memory.query import NodeFacts, compiled
from telha_planner.recall.structured import MAX_EXAMINED, MAX_WORK

PAGE = Path(__file__).parents[2].joinpath("docs/query-language.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\| `(\{.*\})` \| `(\{.*\})` \| (yes|no) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("properties", "where", "holds"), EXAMPLES)
def test_an_example_is_decided_as_the_page_says(properties, where, holds):
    """M4: page, evaluator and the evaluator of the tests agree."""
    facts = NodeFacts(json.loads(properties), 0, 0, 1, "t", "main", 0, OPEN_END)
    assert compiled(read_where("where", json.loads(where))).holds(facts) is (holds == "yes")
    assert satisfies({"properties": json.loads(properties)}, json.loads(where)) is (holds == "yes")


def test_there_are_examples_of_both():
    """M4: there are examples of both."""
    assert len(EXAMPLES) >= 25
    assert len({holds for *_, holds in EXAMPLES}) == 2


def test_operators_and_built_ins_are_those_of_the_code():
    """M4: the page lists every operator and every built-in, and no other."""
    table = PAGE[PAGE.index("| operator | value |") :].split("\n\n")[0]
    first = [row.split("|")[1] for row in table.splitlines()[2:]]
    assert re.findall(r"`(\w+)`", " ".join(first)) == list(predicate.OPERATORS)
    assert re.findall(r"^\| `(@\w+)` \|", PAGE, re.MULTILINE) == list(predicate.BUILT_INS)


def test_ceilings_are_those_of_the_code():
    """M4: in the page's own order."""
    table = PAGE[PAGE.index("## Ceilings") :]
    stated = [int(number.replace(",", "")) for number in re.findall(r"\| ([\d,]+)(?: bytes)? \|$", table, re.MULTILINE)]
    assert stated == [
        predicate.MAX_DEPTH,
        predicate.MAX_CONDITIONS,
        predicate.MAX_CHOICES,
        predicate.MAX_VALUE_BYTES,
        predicate.MAX_FIELD_BYTES,
        predicate.MAX_WHERE_BYTES,
        MAX_QUERY_PAGE,
        MAX_EXAMINED,
        MAX_WORK,
    ]
    assert MAX_QUERY_PAGE == MAX_FIND_LIMIT

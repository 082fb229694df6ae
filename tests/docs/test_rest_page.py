import json
import re
from pathlib import Path

import pytest
from telha_gateway import app, problems
from telha_gateway.shapes import shaped

PAGE = Path(__file__).parents[2].joinpath("docs/rest.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"`(POST) (/[^`]+)`[^`]*\n\n```json\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_lists_every_operation_and_no_other():
    """A2: the page and the routes agree."""
    listed = re.findall(r"^\| `(GET|POST|DELETE) ([^`]+)` \|", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted((operation.method, operation.path) for operation in app.OPERATIONS)


def test_the_page_names_every_parameter():
    """A2: the page names every parameter."""
    for operation in app.OPERATIONS:
        if operation.parameters is None:
            continue
        row = re.search(rf"^\| `{operation.method} {re.escape(operation.path)}` \|.*$", PAGE, re.MULTILINE)
        assert row is not None
        for name in operation.parameters.__struct_encode_fields__:
            assert f"`{name}`" in row[0]


@pytest.mark.parametrize(("method", "path", "text"), EXAMPLES)
def test_every_example_is_a_request_that_is_taken(method, path, text):
    """A2: every example is a request that is taken."""
    operation = next(op for op in app.OPERATIONS if (op.method, op.path) == (method, path))
    assert operation.body is not None
    shaped(json.loads(text), operation.body)


def test_there_are_examples():
    """A2: there are examples."""
    assert len(EXAMPLES) == 7


def test_the_page_lists_every_code_under_its_status():
    """A2: the table of failures is the table in the code."""
    rows = re.findall(r"^\| ([0-9]{3}) \| (.*) \|$", PAGE, re.MULTILINE)
    listed = {code: int(status) for status, codes in rows for code in re.findall(r"`([A-Z_]+)`", codes)}
    assert set(listed) == set(problems.TITLES)

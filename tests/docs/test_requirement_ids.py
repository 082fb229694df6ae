"""What CONTRIBUTING.md promises of tests: each says which requirement it proves."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
LAST = {"S": 13, "T": 5, "R": 8, "M": 8, "C": 11, "X": 7, "A": 9, "G": 1, "E": 1}
"""The last requirement of each chapter."""
IDS = re.compile(r"([A-Z])([1-9]\d?)(?:(?:, |–)([A-Z])([1-9]\d?))*[.:]")


def docstrings():
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield f"{path.relative_to(TESTS)}::{node.name}", ast.get_docstring(node) or ""


def test_every_test_says_what_it_proves():
    """A9: the docstring begins with the ids of requirements, and they are requirements."""
    found = dict(docstrings())
    assert len(found) > 1000
    silent = [name for name, told in found.items() if not IDS.match(told)]
    assert not silent
    for name, told in found.items():
        stated = IDS.match(told)
        assert stated
        for chapter, number in re.findall(r"([A-Z])(\d+)", stated[0]):
            assert int(number) <= LAST.get(chapter, 0), name

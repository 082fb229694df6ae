"""docs/invariants.md names tests that exist, three parts per law."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAWS = re.split(r"^## ", (ROOT / "docs" / "invariants.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.splitlines()[0])
def test_a_law_has_statement_responsibility_and_proof(law: str) -> None:
    """A9: and the tests and modules that it names exist."""
    parts = re.split(r"\*(Statement|Responsibility|Validation)\.\*", law)
    assert parts[1::2] == ["Statement", "Responsibility", "Validation"]
    proofs = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", parts[6])
    assert proofs
    for path, name in proofs:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert name in found, f"{path} has no {name}"
    for place in re.findall(r"`((?:telha_\w+|core|memory|models)/[\w/.]*)`", parts[4]):
        roots = (
            "services/planner",
            "services/trace_writer",
            "services/gateway",
            "services/runtime",
            "services/planner/telha_planner",
        )
        assert any((ROOT / root / place).exists() for root in roots), place

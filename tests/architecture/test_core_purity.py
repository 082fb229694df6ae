"""
The core computes and does nothing else: what import rules cannot see is banned here, by reading the code.

Banned: calls of `hash` and `id` (they differ between runs), `open`, `print` and the like; iterating over a set without
sorting it; mutable values at module or class level; `async`; `global` and `nonlocal`.
"""

import ast
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "services/planner/telha_planner/core"
BANNED_CALLS = {"hash", "id", "open", "print", "input", "eval", "exec", "globals", "vars", "setattr", "__import__"}
# What these make of a set does not depend on its order …
ORDER_FREE = {"sorted", "set", "frozenset", "len", "any", "all", "min", "max", "sum"}
# … and what these make of it does.
ORDERED = {"list", "tuple", "enumerate", "zip", "map", "filter", "iter", "next", "join", "fromiter", "array"}
MUTABLE_MAKERS = {
    "list",
    "dict",
    "set",
    "bytearray",
    "defaultdict",
    "deque",
    "Counter",
    "array",
    "empty",
    "zeros",
    "ones",
}


def faults(source: str) -> list[str]:
    """What *source* does that the core must not, each with its line."""
    tree = ast.parse(source)
    found = [*called(tree), *kept_at_module_level(tree), *iterated_sets(tree)]
    for node in ast.walk(tree):
        if isinstance(node, (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)):
            found.append((node.lineno, "async"))
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.append((node.lineno, "global"))
    return [f"line {line}: {what}" for line, what in sorted(found)]


def called(tree: ast.AST) -> list[tuple[int, str]]:
    """Calls of banned built-ins."""
    return [
        (node.lineno, f"{node.func.id}()")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BANNED_CALLS
    ]


def kept_at_module_level(tree: ast.Module) -> list[tuple[int, str]]:
    """Assignments of mutable values in modules and class bodies."""
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    found = []
    for statement in (statement for body in bodies for statement in body):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            value = statement.value
            literal = isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))
            if literal or (isinstance(value, ast.Call) and last_name(value.func) in MUTABLE_MAKERS):
                found.append((statement.lineno, "mutable module value"))
    return found


def last_name(node: ast.expr) -> str:
    """`array` of `np.array`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def iterated_sets(tree: ast.AST) -> list[tuple[int, str]]:
    """Places where a set's order could show."""
    names = set_names(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    harmless = {id(argument) for call in calls if last_name(call.func) in ORDER_FREE for argument in call.args}
    found = []
    for node in ast.walk(tree):
        iterated: list[ast.expr] = []
        if isinstance(node, ast.For):
            iterated = [node.iter]
        elif isinstance(node, (ast.ListComp, ast.DictComp, ast.GeneratorExp)) and id(node) not in harmless:
            iterated = [generator.iter for generator in node.generators]
        elif isinstance(node, ast.Call) and last_name(node.func) in ORDERED:
            iterated = node.args
        elif isinstance(node, ast.Starred):
            iterated = [node.value]
        found += [(node.lineno, "set iterated unsorted") for each in iterated if is_set(each, names)]
    return found


def set_names(tree: ast.AST) -> frozenset[str]:
    """Names that are bound or declared as sets anywhere."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_set(node.value, frozenset()):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and says_set(node.annotation):
            names.add(node.target.id)
        elif isinstance(node, ast.arg) and node.annotation is not None and says_set(node.annotation):
            names.add(node.arg)
    return frozenset(names)


def says_set(annotation: ast.expr) -> bool:
    """Whether a type is a set."""
    base = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return last_name(base) in {"set", "frozenset", "Set", "AbstractSet", "MutableSet"}


def is_set(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression is a set, as far as the text tells."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)):
        return is_set(node.left, names) or is_set(node.right, names)
    if isinstance(node, ast.Call):
        return last_name(node.func) in {"set", "frozenset"}
    return last_name(node) in names


@pytest.mark.parametrize("module", sorted(CORE.glob("*.py")), ids=lambda path: path.name)
def test_the_core_is_pure(module: Path):
    """S7: no clock, I/O, run-dependent value or hidden state can reach a plan."""
    assert faults(module.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "x = hash('a')",
        "def f(a):\n    return id(a)",
        "def f():\n    return open('a')",
        "def f():\n    print(1)",
        "CACHE = {}",
        "CACHE: dict[str, int] = {}",
        "SEEN = set()",
        "ROWS = np.zeros(3)",
        "class A:\n    seen = []",
        "async def f(): ...",
        "def f():\n    global x\n    x = 1",
        "def f(a):\n    for x in {1, a}: yield x",
        "def f(a):\n    return [x for x in set(a)]",
        "def f(a):\n    return list({x for x in a})",
        "def f(a: frozenset[str]):\n    return tuple(a)",
        "def f(a):\n    names = {x for x in a}\n    return {x: 1 for x in names}",
        "def f(a: set[str], b: set[str]):\n    return ','.join(a | b)",
        "def f(a: set[str]):\n    return [*a]",
        "class A:\n    legs: frozenset[int]\ndef f(a):\n    return [x for x in a.legs]",
    ],
)
def test_what_is_banned_is_found(source: str):
    """S7: the check can fail."""
    assert len(faults(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "NAMES = ('a', 'b')\nKINDS = frozenset({'a'})",
        "def f(a):\n    return [x for x in sorted(set(a))]",
        "def f(a):\n    return sorted(x for x in {1, a})",
        "def f(a: set[str]):\n    return {x for x in a}, len(a), 'b' in a",
        "def f():\n    rows = []\n    return rows",
    ],
)
def test_what_is_allowed_passes(source: str):
    """S7: the check does not cry wolf."""
    assert faults(source) == []

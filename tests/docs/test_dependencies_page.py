"""docs/dependencies.md says why each dependency is there, and names no other."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _declared() -> tuple[set[str], set[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[<>=;\[ ]", requirement, maxsplit=1)[0] for requirement in requirements}

    extras = set().union(*(names(listed) for listed in project["optional-dependencies"].values()))
    return names(project["dependencies"]), extras


def test_each_dependency_has_its_reason() -> None:
    """A9: the page and pyproject.toml list the same packages, once each, with a reason."""
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    run_time, more = page.split("## Extras")
    development = more.replace("## For development", "")
    told = [
        re.findall(r"^\| ([a-z0-9-]+) \|(?: [a-z0-9-]+ \|)?? (.+) \|$", half, flags=re.MULTILINE)
        for half in (run_time, development)
    ]
    listed = [[name for name, _ in half if name != "package" and not set(name) <= {"-"}] for half in told]
    assert tuple(map(set, listed)) == _declared()
    assert all(len(half) == len(set(half)) for half in listed)
    assert all(reason.strip() for half in told for _, reason in half)

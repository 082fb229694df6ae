"""Every `telha` command in a document exists, with the options that are shown."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from telha_cli.main import app
from typer.main import get_command
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
_LINE = re.compile(r"^(?:\.venv/bin/)?telha ([a-z].*)$", flags=re.MULTILINE)
_INLINE = re.compile(r"`telha ([a-z][^`]*)`")


def _shown() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fenced = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))
        found += [(page.name, line) for line in [*_LINE.findall(fenced), *_INLINE.findall(text)]]
    return found


@pytest.mark.parametrize(("page", "line"), _shown(), ids=lambda value: value[:40])
def test_a_command_exists_as_shown(page: str, line: str) -> None:
    """A9: command, subcommand and options."""
    words = shlex.split(line, comments=True)
    path: list[str] = []
    group = get_command(app)
    for word in words:
        inner = getattr(group, "commands", {}).get(word)
        if inner is None:
            break
        path.append(word)
        group = inner
    assert path, f"{page}: telha {line}"
    shown = CliRunner().invoke(app, [*path, "--help"])
    assert shown.exit_code == 0
    for word in words:
        if word.startswith("--"):
            assert re.search(rf"(?<![\w-]){word}(?![\w-])", shown.output), f"{page}: telha {line}"


def test_commands_are_found() -> None:
    """A9: the search itself works."""
    assert len(_shown()) >= 15


def test_the_demo_asks_as_many_questions_as_is_said() -> None:
    """A9: wherever the demo is described, the number is that of its corpus."""
    corpus = tomllib.loads((ROOT / "examples/corpus.toml").read_text(encoding="utf-8"))
    numbers = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    said = [
        (page.name, word)
        for page in [*PAGES, ROOT / "Makefile"]
        for word in re.findall(r"(?:ask|shows) (\w+) questions", page.read_text(encoding="utf-8"))
    ]
    assert {page for page, _ in said} >= {"README.md", "Makefile"}
    assert {word for _, word in said} == {numbers[len(corpus["questions"])]}

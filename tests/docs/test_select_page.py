"""docs/select.md: its example runs as it stands."""

import re
from pathlib import Path

from telha_cli import pool

PAGE = Path(__file__).parents[2] / "docs" / "select.md"


def test_the_pool_is_one_that_the_command_line_reads(tmp_path: Path) -> None:
    """S11: as it stands."""
    (example,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "pool.json").write_text(example, encoding="utf-8")
    (fragment,), told = pool.read(tmp_path / "pool.json")
    assert told == {}
    assert fragment.text is not None
    assert fragment.span.end - fragment.span.start == len(fragment.text.encode())


def test_the_example_selects_in_this_process(capsys) -> None:
    """S11: in process from Python, without a store."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(example, PAGE.name, "exec"), {})
    printed = capsys.readouterr().out
    assert re.match(r"b3:[0-9a-f]{64} ", printed)
    assert "Refunds are paid within 14 days." in printed

"""docs/select.md: its example runs as it stands."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "select.md"


def test_the_example_selects_in_this_process(capsys) -> None:
    """S11: in process from Python, without a store."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(example, PAGE.name, "exec"), {})
    printed = capsys.readouterr().out
    assert re.match(r"b3:[0-9a-f]{64} ", printed)
    assert "Refunds are paid within 14 days." in printed

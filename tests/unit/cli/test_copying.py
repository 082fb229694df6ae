"""`telha copy` passes on what the planner's own command says."""

import json
from pathlib import Path

import pytest
from memory_builders import a_tenant, dump, opened
from telha_cli.main import app
from typer.testing import CliRunner


@pytest.mark.process
def test_progress_answer_and_exit_code_are_the_planners(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A3, M6: a copy, then a second one that is refused."""
    source = opened(tmp_path)
    a_tenant(source)
    target = f"sqlite:///{tmp_path / 'copy' / 'memory.db'}"
    arguments = ["copy", "--from", f"sqlite:///{tmp_path / 'memory.db'}", "--to", target, "--json"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    told = capfd.readouterr()
    assert json.loads(told.out)["rows"]["tenant"] == 1
    assert "directory: api_key, 1 rows" in told.err
    assert CliRunner().invoke(app, arguments).exit_code == 69
    assert "the target of the copy is not empty" in capfd.readouterr().err
    for flag, wrong in (("--from", [*arguments]), ("--to", [*arguments])):
        wrong[wrong.index(flag) + 1] = "nonsense"
        assert CliRunner().invoke(app, wrong).exit_code == 69
        assert capfd.readouterr().err.startswith(f"{flag}: is not an address; write sqlite:///")
    copied = opened(tmp_path / "copy")
    assert dump(copied) == dump(source)
    copied.close()
    source.close()

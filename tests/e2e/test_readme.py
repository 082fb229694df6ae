"""README's first calls work as they stand; only ports are those of the system under test."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from running_telha import ROOT, Up
from tools import needed

pytestmark = pytest.mark.process

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def _block(mark: str) -> str:
    (found,) = (text for _, text in BLOCKS if text.startswith(mark))
    return str(found)


@pytest.fixture
def home(up: Up, tmp_path: Path) -> Path:
    """A folder that looks like the repository of somebody who ran `make up`."""
    for name in ("docs", "README.md", ".venv"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "data").symlink_to(up.data)
    return tmp_path


def _run(up: Up, home: Path, command: list[str], text: str) -> str:
    here = text.replace("127.0.0.1:7340", up.grpc).replace("http://127.0.0.1:7380", up.http)
    assert here != text or "7340" not in text
    environ = {**up.environ, "TELHA_KEY": up.key}
    done = subprocess.run(
        command, input=here, capture_output=True, text=True, cwd=home, env=environ, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_cli_block(up: Up, home: Path) -> None:
    """A3: ingest, then ask."""
    out = _run(up, home, ["bash", "-eu"], _block("# CLI"))
    assert "docs/invariants.md" in out
    assert "b3:" in out


def test_the_curl_block(up: Up, home: Path) -> None:
    """A2: the key from connection.json, the question over REST."""
    answer = json.loads(_run(up, home, ["bash", "-eu"], _block("# curl")))
    assert answer["items"]
    assert answer["stats"]["budget"]["applied"] == 800


def test_the_grpcurl_block(up: Up, home: Path) -> None:
    """A1: through reflection, without proto files."""
    needed("grpcurl")
    answer = json.loads(_run(up, home, ["bash", "-eu"], _block("# grpcurl")))
    assert answer["items"]


def test_the_python_block(up: Up, home: Path) -> None:
    """A5: the same question, and the hash recomputed."""
    out = _run(up, home, [sys.executable, "-"], _block("from telha_client"))
    assert re.search(r"^\d(?:\.\d+)?(?:e-\d+)?  .+ \[\d+:\d+\]$", out, flags=re.MULTILINE)


def test_the_why_not_block(up: Up, home: Path) -> None:
    """X6: why a source is in the plan or out of it, in words."""
    out = _run(up, home, ["bash", "-eu"], _block("# CLI") + _block("# why not"))
    assert "docs/select.md" in out


def test_every_block_is_run() -> None:
    """A9: no example in README is only text."""
    marks = ("# CLI", "# curl", "# grpcurl", "from telha_client", "# why not")
    assert [next(mark for mark in marks if text.startswith(mark)) for _, text in BLOCKS] == list(marks)

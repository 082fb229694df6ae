"""`telha up` and `telha keys` on files that they cannot use: one sentence, nothing changed, nothing left running."""

import os
import sqlite3
import subprocess
from pathlib import Path

import psutil
import pytest
from running_telha import TELHA

pytestmark = pytest.mark.process


def run(*words: str) -> tuple[int, list[str]]:
    """Exit code, and what was said on standard error beside what got ready."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    done = subprocess.run([TELHA, *words], capture_output=True, text=True, check=False, timeout=60, env=environ)
    return done.returncode, [line for line in done.stderr.splitlines() if " is ready after " not in line]


def make_newer(path: Path) -> None:
    assert run("keys", "list", "--data", str(path.parent))[0] == 0
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE telha_schema SET version_num = '9999_from_the_future'")
    connection.close()


def make_newer_traces(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def make_garbage(path: Path) -> None:
    path.write_bytes(b"no database " * 1000)


def make_another(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name)")
    connection.close()


@pytest.mark.parametrize(
    ("file", "make", "words"),
    [
        ("memory.db", make_newer, "was written by a newer version"),
        ("memory.db", make_garbage, "cannot be opened: file is not a database"),
        ("memory.db", make_another, "is a database of something else"),
        ("traces.db", make_newer_traces, "has version 99; this program knows"),
        ("traces.db", make_garbage, "cannot be used: file is not a database"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_sentence(tmp_path: Path, file: str, make, words: str) -> None:
    """M6, A3: a newer schema, something else, garbage: told with the path, and left as it was."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "memory.db").touch()
    make(data / file)
    before = (data / file).read_bytes()
    code, said = run("up", "--data", str(data), "--ephemeral-ports")
    assert code == 1
    told = [line for line in said if words in line]
    assert len(told) == 1, said
    assert str(data / file) in told[0]
    assert not [line for line in said if "Traceback" in line or "sqlalchemy" in line]
    assert (data / file).read_bytes() == before
    assert not [each for each in psutil.process_iter(["cmdline"]) if str(data) in " ".join(each.info["cmdline"] or [])]
    if file == "memory.db":
        assert [line for line in run("keys", "list", "--data", str(data))[1] if words in line]

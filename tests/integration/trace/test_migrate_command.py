"""`telha migrate` and the services' own `migrate`, as processes, on both engines."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from running_telha import TELHA

OLD = Path(__file__).parents[2] / "fixtures" / "traces-version-1.db"
WRITER = (sys.executable, "-P", "-m", "telha_trace_writer", "migrate")

pytestmark = pytest.mark.process


@pytest.fixture(params=["sqlite", "postgres"])
def environ(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Variables that name both stores: two files, or one database."""
    if request.param == "sqlite":
        named = {
            "TELHA_STORE__URL": f"sqlite:///{tmp_path / 'memory.db'}",
            "TELHA_WRITER__STORE": str(tmp_path / "traces.db"),
        }
    else:
        url = request.getfixturevalue("empty_postgres")
        named = {"TELHA_STORE__URL": url, "TELHA_WRITER__STORE": url}
    return clean() | named


def clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}


def migrate(environ: dict[str, str], *words: str) -> tuple[int, Any]:
    """Exit code and answer of `telha migrate --json`."""
    command = [TELHA, "migrate", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environ)
    return done.returncode, json.loads(done.stdout or done.stderr)


def states(answer: dict[str, Any]) -> list[tuple[str, bool, bool]]:
    return [(store["store"], store["pending"], store["migrated"]) for store in answer["stores"]]


def test_both_stores_are_migrated_once(environ: dict[str, str], tmp_path: Path) -> None:
    """A9, M6: check tells and changes nothing; of two that migrate at once each succeeds; then nothing is pending."""
    code, answer = migrate(environ, "--check")
    assert (code, states(answer)) == (1, [("memory", True, False), ("traces", True, False)])
    assert [store["found"] for store in answer["stores"]] == [None, None]
    assert list(tmp_path.iterdir()) == []
    running = [
        subprocess.Popen([TELHA, "migrate", "--json"], stdout=subprocess.PIPE, text=True, env=environ) for _ in range(2)
    ]
    answers = [json.loads(process.communicate(timeout=120)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    for number in range(2):
        assert any(answer["stores"][number]["migrated"] for answer in answers)
    code, answer = migrate(environ, "--check")
    assert (code, states(answer)) == (0, [("memory", False, False), ("traces", False, False)])


def test_a_data_folder_of_before_is_migrated(tmp_path: Path) -> None:
    """A9: `--data` names the folder of `telha up`; people get a line for each store."""
    data = tmp_path / "da ta"
    data.mkdir()
    shutil.copy(OLD, data / "traces.db")
    command = [TELHA, "migrate", "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=clean())
    memory, traces = done.stdout.splitlines()
    assert memory.split() == ["memory", "migrated", "to", "schema", memory.split()[4], "was", "empty"]
    assert traces.startswith("traces  migrated to schema 0006, was schema 0001")
    assert (data / "memory.db").exists()


def test_a_store_that_fails_does_not_keep_the_other_back(tmp_path: Path) -> None:
    """A9: each is told, and nothing is half."""
    (tmp_path / "traces.db").write_text("no database, but long enough to look like one" * 10)
    named = {
        "TELHA_STORE__URL": f"sqlite:///{tmp_path / 'memory.db'}",
        "TELHA_WRITER__STORE": str(tmp_path / "traces.db"),
    }
    code, problem = migrate(clean() | named)
    assert code == 1
    assert problem["detail"] == f"the trace store {tmp_path / 'traces.db'} cannot be used: file is not a database"
    assert problem["hint"].startswith("memory: migrated to schema")


def test_a_file_that_names_a_store_beside_a_folder_is_refused(tmp_path: Path) -> None:
    """G1: nothing is overruled in silence."""
    file = tmp_path / "telha.toml"
    file.write_text("[writer]\nstore = 'elsewhere.db'\n")
    code, problem = migrate(clean(), "--config", str(file), "--data", str(tmp_path / "data"))
    assert (code, problem["code"]) == (1, "CONFIGURATION_INVALID")
    assert problem["detail"] == f"{file} sets [writer] store, which --data says too"
    file.write_text("[writer]\nstores = 'elsewhere.db'\n[planner]\nalpha = 2\n")
    code, problem = migrate(clean(), "--config", str(file))
    assert code == 1
    assert "writer.stores: unknown key; did you mean writer.store?" in problem["detail"]
    assert "planner.alpha = 2: must be" in problem["detail"]


@pytest.mark.parametrize("words", [(), ("--check",)])
def test_the_writers_own_command_needs_its_store_alone(tmp_path: Path, words: tuple[str, ...]) -> None:
    """A9: no internal token, no Redis; exit code 1 while something is pending."""
    environ = clean() | {"TELHA_WRITER__STORE": str(tmp_path / "t.db"), "TELHA_TRACE__REDIS_URL": "redis://nowhere"}
    done = subprocess.run([*WRITER, *words], capture_output=True, text=True, check=False, timeout=60, env=environ)
    expected = (1, "pending: from nothing to 0006\n") if words else (0, "migrated from nothing to 0006\n")
    assert (done.returncode, done.stdout) == expected, done.stderr
    wrong = subprocess.run(
        WRITER,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environ | {"TELHA_WRITER__STORE": "http://x"},
    )
    assert (wrong.returncode, "must be a path, or an address" in wrong.stderr) == (78, True)

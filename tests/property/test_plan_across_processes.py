"""The same whole plans, recall and vectors included, in every process, after every restart, and on both engines."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixtures.postgres import PostgresServer

HERE = Path(__file__).parent
ENVIRONMENTS = {
    "restarted": ({}, ()),
    "hash seed 0, New York": ({"PYTHONHASHSEED": "0", "TZ": "America/New_York"}, ()),
    "hash seed 1, Kolkata": ({"PYTHONHASHSEED": "1", "TZ": "Asia/Kolkata"}, ()),
    "Prescott": ({"OPENBLAS_CORETYPE": "Prescott"}, ()),
    "without simsimd": ({}, ("without-simsimd",)),
    "without simsimd, Prescott, one thread": (
        {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"},
        ("without-simsimd",),
    ),
}
CASES = [
    *(("sqlite", name) for name in ENVIRONMENTS),
    *(("postgres", name) for name in ("hash seed 1, Kolkata", "without simsimd, Prescott, one thread")),
]


def answer(url: str, environment: dict[str, str], arguments: tuple[str, ...]) -> str:
    """What the script prints in a process of its own."""
    command = [sys.executable, "-W", "error", str(HERE / "plan_in_a_process.py"), url, *arguments]
    paths = {"PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(
        command, env={**os.environ, **paths, **environment}, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A memory, and the answer of the process that made it."""
    url = f"sqlite:///{tmp_path_factory.mktemp('memory') / 'memory.db'}"
    return url, answer(url, {}, ("new",))


@pytest.fixture(scope="module")
def on_postgres(postgres: PostgresServer) -> Iterator[tuple[str, str]]:
    """The same on the other engine."""
    name = postgres.create()
    url = postgres.url(name)
    yield url, answer(url, {}, ("new",))
    postgres.drop(name)


@pytest.mark.process
@pytest.mark.parametrize(("engine", "name"), CASES)
def test_every_process_plans_alike(request: pytest.FixtureRequest, on_sqlite: tuple[str, str], engine: str, name: str):
    """S7, R8: equal plans and score bits under hash seeds, time zones, BLAS kernels, and without simsimd."""
    url, _ = request.getfixturevalue(f"on_{engine}")
    _, expected = on_sqlite
    assert len(expected) == 64
    assert answer(url, *ENVIRONMENTS[name]) == expected


@pytest.mark.process
def test_the_same_memory_made_anew_plans_alike(on_sqlite: tuple[str, str], store_url: str):
    """S7, M6: the same writes under the same clock give the same plans in another store, whatever its engine."""
    assert answer(store_url, {"PYTHONHASHSEED": "5"}, ("new",)) == on_sqlite[1]

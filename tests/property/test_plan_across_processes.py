"""The same whole plans, recall and vectors included, in every process and after every restart."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def answer(folder: Path, environment: dict[str, str], arguments: tuple[str, ...]) -> str:
    """What the script prints in a process of its own."""
    command = [sys.executable, "-W", "error", str(HERE / "plan_in_a_process.py"), str(folder), *arguments]
    paths = {"PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(
        command, env={**os.environ, **paths, **environment}, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def remembered(tmp_path_factory) -> tuple[Path, str]:
    """A memory, and the answer of the process that made it."""
    folder = tmp_path_factory.mktemp("memory")
    return folder, answer(folder, {}, ())


@pytest.mark.process
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_process_plans_alike(name: str, remembered: tuple[Path, str]):
    """S7, R8: equal plans and score bits under hash seeds, time zones, BLAS kernels, and without simsimd."""
    folder, expected = remembered
    assert len(expected) == 64
    assert answer(folder, *ENVIRONMENTS[name]) == expected


@pytest.mark.process
def test_the_same_memory_made_anew_plans_alike(remembered: tuple[Path, str], tmp_path: Path):
    """S7, M6: the same writes under the same clock give the same plans in another store."""
    assert answer(tmp_path, {"PYTHONHASHSEED": "5"}, ()) == remembered[1]

"""The same plans in every process, whatever its environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

HERE = Path(__file__).parent
# Every instruction set that NumPy would choose at run time, so that it falls back to its baseline.
WITHOUT_SIMD = " ".join(feature for feature in __cpu_dispatch__ if __cpu_features__[feature])
ENVIRONMENTS = {
    "plain": {},
    "hash seed 0": {"PYTHONHASHSEED": "0"},
    "hash seed 1, Kolkata": {"PYTHONHASHSEED": "1", "TZ": "Asia/Kolkata"},
    "New York, C locale": {"TZ": "America/New_York", "LC_ALL": "C"},
    "Prescott, one thread": {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"},
    "NumPy without SIMD": {"NPY_DISABLE_CPU_FEATURES": WITHOUT_SIMD},
}


def answer(seed: int, environment: dict[str, str]) -> str:
    """What the script prints in a process of its own."""
    path = {"PYTHONPATH": str(HERE.parent)}
    command = [sys.executable, "-W", "error", str(HERE / "selection_in_a_process.py"), str(seed)]
    done = subprocess.run(
        command, env={**os.environ, **path, **environment}, capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def expected() -> str:
    """The answer of an ordinary process."""
    return answer(0, {})


@pytest.mark.process
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_process_plans_alike(name: str, expected: str):
    """S7: S9: equal hashes under hash seeds, time zones, locales, BLAS kernels, SIMD levels and shuffled pools."""
    seed = 1 + list(ENVIRONMENTS).index(name)
    assert len(expected) == 64
    assert answer(seed, ENVIRONMENTS[name]) == expected

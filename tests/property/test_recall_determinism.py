"""The same bits of every score on other processors' kernels, without the accelerator, under other hash seeds."""

import os
import subprocess
import sys
from pathlib import Path

import plan_embedded
import pytest
import recall_elsewhere
from recall_memory import Memory

TESTS = Path(recall_elsewhere.__file__).parent
SETTINGS = {
    "as is": ({}, []),
    "another kernel": ({"OPENBLAS_CORETYPE": "Prescott", "PYTHONHASHSEED": "1"}, []),
    "no accelerator": ({"PYTHONHASHSEED": "2"}, ["without-simsimd"]),
    "no accelerator, another kernel": ({"OPENBLAS_CORETYPE": "Haswell"}, ["without-simsimd"]),
    "older vector units": ({"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512_SKX AVX2 FMA3", "TZ": "Asia/Kolkata"}, []),
}


@pytest.mark.process
def test_every_score_has_the_same_bits_everywhere(tmp_path):
    """R8: kernels, thread counts, hash seeds and the accelerator change no bit of what recall answers."""
    memory = Memory(tmp_path)
    try:
        recall_elsewhere.write(memory)
        expected = recall_elsewhere.digest(memory)
    finally:
        memory.close()
    assert _digests(TESTS / "recall_elsewhere.py", tmp_path) == dict.fromkeys(SETTINGS, expected)


@pytest.mark.process
def test_plans_over_an_embedded_memory_have_the_same_bits_everywhere(tmp_path):
    """R8: questions that are embedded, over vectors of passages, some of them true since before 1970."""
    parts = plan_embedded.remembered(tmp_path)
    try:
        expected = plan_embedded.digest(parts)
    finally:
        parts.close()
    assert _digests(Path(plan_embedded.__file__), tmp_path) == dict.fromkeys(SETTINGS, expected)


def _digests(program, folder):
    """What *program* prints of the memory in *folder*, under each of the settings."""
    digests = {}
    for name, (environment, arguments) in SETTINGS.items():
        run = subprocess.run(
            [sys.executable, "-W", "ignore", str(program), str(folder), *arguments],
            env={**os.environ, "PYTHONPATH": str(TESTS), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        digests[name] = run.stdout.strip()
    return digests

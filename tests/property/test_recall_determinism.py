"""The same bits of every score on other processors' kernels, without the accelerator, under other hash seeds."""

import os
import subprocess
import sys
from pathlib import Path

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
    digests = {}
    for name, (environment, arguments) in SETTINGS.items():
        run = subprocess.run(
            [sys.executable, "-W", "ignore", str(TESTS / "recall_elsewhere.py"), str(tmp_path), *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        digests[name] = run.stdout.strip()
    assert digests == dict.fromkeys(SETTINGS, expected)

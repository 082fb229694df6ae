"""The OpenAPI document held against a whole running system by schemathesis: every phase, every check, no failure."""

import pytest
from openapi_fuzzing import all_rights, fuzz, seed_memory
from running_telha import start

pytestmark = pytest.mark.process


@pytest.mark.timeout(900)  # a minute on an idle machine
def test_schemathesis_finds_no_failure(tmp_path):
    """A2: what the document allows is accepted, what it forbids is refused, and every answer is one that it tells."""
    up = start(tmp_path)
    try:
        key = all_rights(up)
        seed_memory(up, key)
        done = fuzz(up, key, 4, "--generation-deterministic")
    finally:
        up.process.terminate()
        up.process.wait(60)
    assert done.returncode == 0, done.stdout + done.stderr
    for phase in ("Examples", "Coverage", "Fuzzing", "Stateful"):
        assert f"✅  {phase}" in done.stdout
    assert "Seed" in done.stdout

"""Plans need no network: no model, no tokenizer and no embedder is fetched or asked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.process
def test_everything_is_answered_with_the_network_cut(tmp_path):
    """C2, T2: never an LLM, no egress; tokenizers are offline; without an embedder the question is still answered."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(HERE / "plan_without_network.py"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "The first tram leaves at five." in " ".join(answer["plan"])
    assert "五点" in " ".join(answer["context"])
    assert answer["select"] == ["tram"]
    assert answer["estimated"] is True
    assert answer["skipped"] == "no embedder is configured and the request carries no vector"

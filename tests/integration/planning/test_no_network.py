"""Plans need no network: no model, no tokenizer and no embedder is fetched or asked."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from embedding_endpoint import Endpoint
from telha_planner.models.embedders.opening import NEEDS
from tools import needed_package

HERE = Path(__file__).parent
pytestmark = pytest.mark.process


def run(program: str, *arguments: str) -> Any:
    """What *program* of this folder answers."""
    proxies = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}
    environ = {name: value for name, value in os.environ.items() if name.upper() not in proxies}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(HERE / program), *arguments],
        env={**environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_everything_is_answered_with_the_network_cut(tmp_path: Path) -> None:
    """C2, T2: never an LLM, no egress; tokenizers are offline; without an embedder the question is still answered."""
    answer = run("plan_without_network.py", str(tmp_path))
    assert "The first tram leaves at five." in " ".join(answer["plan"])
    assert "五点" in " ".join(answer["context"])
    assert answer["select"] == ["tram"]
    assert answer["estimated"] is True
    assert answer["skipped"] == "no embedder is configured and the request carries no vector"


@pytest.mark.parametrize("provider", ["use", "e5", "minilm"])
def test_a_local_embedder_needs_no_network(tmp_path: Path, provider: str) -> None:
    """C2: passages and questions are embedded with the network cut."""
    for package in NEEDS[provider][0]:
        needed_package(package)
    answer = run("embed_without_network.py", str(tmp_path), provider)
    assert answer["vector"] > 0
    assert answer["skipped"] is None
    assert "The last boat to the island leaves at eleven." in answer["plan"]


def test_a_remote_embedder_is_the_only_thing_that_is_reached(tmp_path: Path) -> None:
    """C2: texts and question go to the endpoint that the operator named, and nothing goes anywhere else."""
    with Endpoint() as endpoint:
        port = endpoint.url.split(":")[2].split("/")[0]
        answer = run("embed_without_network.py", str(tmp_path), "http", port)
    assert answer["vector"] > 0
    assert answer["skipped"] is None
    assert "ferry.md\nFerry\nThe last boat to the island leaves at eleven." in endpoint.texts
    assert endpoint.texts[-1].startswith("A que horas")

"""
Schemathesis against a whole running system, every phase and every check on.

`make schemathesis EXAMPLES=500` runs it for as long as wanted, with a seed that it prints; the suite runs a short,
repeatable round.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
from running_telha import ROOT, Up, start

EXECUTABLE = Path(sys.executable).with_name("schemathesis")


def all_rights(up: Up) -> str:
    """A key that may do everything, which the first key may not."""
    words = (
        "keys",
        "create",
        "--name",
        "fuzzing",
        "--rights",
        "read,write,admin,operator",
        "--data",
        str(up.data),
        "--json",
    )
    made = up.run(*words)
    assert made.code == 0, made.err
    return str(made.json["key"])


def seed_memory(up: Up, key: str) -> None:
    """Write what the document's examples write, in an order in which each finds what it needs."""
    with httpx.Client(base_url=up.http, headers={"authorization": f"Bearer {key}"}, timeout=60) as rest:
        paths = rest.get("/openapi.json").json()["paths"]
        for kind in ("sources", "nodes", "edges", "clarifications", "artifacts"):
            path = f"/v1/memory/{kind}"
            example = paths[path]["post"]["requestBody"]["content"]["application/json"]["example"]
            rest.post(path, json=example).raise_for_status()


def fuzz(up: Up, key: str, examples: int, *options: str) -> subprocess.CompletedProcess[str]:
    """Run schemathesis on *up* with *examples* per operation and phase; its report is the standard output."""
    environ = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": "openapi_hooks",
        "PYTHONPATH": str(ROOT / "tests"),
        "FUZZING_KEEPS": f"default {key.split('_')[1]}",
    }
    command = [
        *(str(EXECUTABLE), "run", f"{up.http}/openapi.json"),
        *("--header", f"Authorization: Bearer {key}"),
        *("--checks", "all", "--max-examples", str(examples), "--continue-on-failure"),
        # The first large document starts a process, on a machine that is busy; speed is not what is held here.
        *("--request-timeout", "60", "--max-response-time", "60"),
        *(() if "--generation-deterministic" in options else ("--generation-database", "none")),
        *("--no-color", "--warnings", "off"),
        *options,
    ]
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(command, env=environ, cwd=folder, capture_output=True, text=True, check=False)


def main() -> int:
    """Start a system, fuzz it, stop it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=100, help="per operation and phase")
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        up = start(Path(folder))
        try:
            key = all_rights(up)
            seed_memory(up, key)
            done = fuzz(up, key, options.examples, *rest)
        finally:
            up.process.terminate()
            up.process.wait(60)
    sys.stdout.write(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

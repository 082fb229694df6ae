"""A running `telha up`, and the command line as a user calls it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TELHA = str(Path(sys.executable).with_name("telha"))


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, read as JSON."""
        return json.loads(self.out)

    @property
    def problem(self) -> Any:
        """Standard error, read as the problem object of `--json`."""
        return json.loads(self.err)


@dataclass(frozen=True)
class Up:
    """A running system."""

    process: subprocess.Popen[str]
    data: Path
    grpc: str
    http: str
    key: str
    environ: Mapping[str, str]

    def run(self, *words: str, typed: str | None = None, cwd: Path = ROOT, **environ: str) -> Ran:
        """Run `telha` in *cwd* as a user of this system who types *typed*."""
        done = subprocess.run(
            [TELHA, *words],
            input=typed,
            capture_output=True,
            text=True,
            cwd=cwd,
            env={**self.environ, **environ},
            check=False,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


def start(folder: Path, *words: str) -> Up:
    """Start `telha up` on free ports with all it keeps below *folder*; without an embedder unless *words* say so."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    environ = {**clean, "XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder)}
    data = folder / "data"
    # Quick, and the same on machines with and without the package; tests/e2e/test_embedding.py is about the rest.
    embedder = [] if "--embedder" in words or "--config" in words else ["--embedder", "none"]
    stderr = (folder / "up.stderr").open("ab")
    process = subprocess.Popen(
        [TELHA, "up", "--data", str(data), "--ephemeral-ports", "--json", *embedder, *words],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env=environ,
    )
    stderr.close()
    assert process.stdout is not None
    with process.stdout as out:
        line = out.readline()
    assert line, (folder / "up.stderr").read_text()
    told = json.loads(line)
    return Up(process, data, told["grpc"], told["http"], told["key"], environ)

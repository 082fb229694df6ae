"""
`make fuzz`: every target for its share of the time, each in a process with bounds, and a table at the end.

    SECONDS=60 of all targets together; TARGET=name one alone; SEED=number the same inputs again (mutation engine);
    ENGINE=atheris or mutation; without it, atheris where it is installed.
Inputs that show a defect are left in FOUND=folder, ready to be moved to tests/fuzz/corpus.
"""

import argparse
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from fuzz.targets import NAMES  # noqa: E402

COLUMNS = ("target", "inputs", "accepted", "slowest_ms", "memory_mb", "seconds")
STARTS_S = 120.0


def fuzz(name: str, seconds: float, seed: int, engine: str, found: Path, work: Path) -> dict[str, Any]:
    """Fuzz the target *name*; what its process told, with `fault` where it found one."""
    command = [sys.executable, str(HERE / "child.py"), name, str(seconds), str(seed), str(found), engine]
    bound = seconds * 3 + STARTS_S
    environ = {**os.environ, "TMPDIR": str(work), "PYTHONPATH": ""}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=bound, check=False, env=environ
        )
    except subprocess.TimeoutExpired:
        return {"target": name, "fault": f"the process did not end within {bound:.0f} s"}
    told = [line for line in done.stdout.splitlines() if line.startswith('{"target"')]
    counts: dict[str, Any] = json.loads(told[-1]) if told else {"target": name}
    if done.returncode or not told:
        counts["fault"] = f"exit code {done.returncode}\n{done.stderr[-6000:]}"
    return counts


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--target", choices=NAMES)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--engine", choices=("atheris", "mutation"))
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"))
    options = parser.parse_args()
    names = [options.target] if options.target else list(NAMES)
    engine = options.engine or ("atheris" if importlib.util.find_spec("atheris") else "mutation")
    seed = options.seed if options.seed is not None else secrets.randbelow(1 << 31)
    workers = min(len(names), max(1, os.cpu_count() or 1))
    each = options.seconds * workers / len(names)
    sys.stdout.write(f"engine {engine}, seed {seed}, {each:.1f} s for each of {len(names)} targets\n")
    with tempfile.TemporaryDirectory(prefix="fuzzing-") as work, ThreadPoolExecutor(workers) as pool:
        running = [pool.submit(fuzz, name, each, seed, engine, options.found.resolve(), Path(work)) for name in names]
        told = [one.result() for one in running]
    widths = [max(len(column), *(len(str(row.get(column, "-"))) for row in told)) for column in COLUMNS]
    for row in [dict(zip(COLUMNS, COLUMNS, strict=True)), *told]:
        cells = [str(row.get(column, "-")).rjust(width) for column, width in zip(COLUMNS, widths, strict=True)]
        sys.stdout.write("  ".join([row["target"].ljust(widths[0]), *cells[1:]]) + "\n")
    faults = [row for row in told if "fault" in row]
    for row in faults:
        sys.stdout.write(f"\n{row['target']}: {row['fault']}\n")
    total = sum(row.get("inputs", 0) for row in told)
    sys.stdout.write(f"{total:,} inputs, {len(faults)} of {len(told)} targets with a defect\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""
`telha copy`: a whole memory store into an empty one, by the planner's own entry point in a process of its own.

Nothing is decided here: the addresses pass on as they came, and so do progress, output, faults and exit code.
"""

import subprocess

from . import parts
from .problems import FAILED, INTERRUPTED


def run(source: str, target: str, *, as_json: bool) -> int:
    """Run `telha-planner copy`; returns the exit code."""
    form = ("--json",) if as_json else ()
    command = parts.module("telha_planner", "copy", f"--from={source}", f"--to={target}", *form)
    try:
        code = subprocess.run(parts.tied(command), check=False).returncode  # noqa: S603  # our own entry point
    except KeyboardInterrupt:
        return INTERRUPTED
    return code if code >= 0 else FAILED

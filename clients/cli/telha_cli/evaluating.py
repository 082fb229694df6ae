"""
`telha eval`: the planner's own evaluation, run by its own entry point in a process of its own.

Nothing is decided here: the arguments pass on as they came, and so do output, faults and exit code.
"""

import subprocess
from collections.abc import Sequence

from . import parts
from .problems import FAILED, INTERRUPTED


def run(arguments: Sequence[str]) -> int:
    """Run `telha-planner eval` with *arguments*; returns the exit code."""
    command = parts.module("telha_planner", "eval", *arguments)
    try:
        code = subprocess.run(parts.tied(command), check=False).returncode  # noqa: S603  # our own entry point
    except KeyboardInterrupt:
        return INTERRUPTED
    return code if code >= 0 else FAILED

"""
API keys, made and revoked on the server's own data folder.

Whoever may write the folder may make keys: the planner's own entry point does it, in a process of its own.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import parts
from .problems import Problem


def create(data: Path, tenant: str, name: str, rights: str, spaces: Sequence[str]) -> dict[str, Any]:
    """
    Make a key and return what the planner says of it, the key itself included: it is shown once.

    Raises:
        Problem: Refused; the sentence is the planner's.
    """
    limits = [word for space in spaces for word in ("--space", space)]
    return _administer(data, "create", "--tenant", tenant, "--name", name, "--rights", rights, *limits)


def listing(data: Path) -> dict[str, Any]:
    """
    All keys of the folder, without their secrets.

    Raises:
        Problem: See `create`.
    """
    return _administer(data, "list")


def revoke(data: Path, key_id: str) -> dict[str, Any]:
    """
    End a key at once.

    Raises:
        Problem: See `create`.
    """
    return _administer(data, "revoke", key_id)


def _administer(data: Path, *arguments: str) -> dict[str, Any]:
    command = parts.module("telha_planner", "keys", *arguments, "--data", str(data), "--json")
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own entry point
    if done.returncode == 0:
        answer = json.loads(done.stdout)
        return answer if isinstance(answer, dict) else {"keys": answer}
    lines = done.stderr.strip().splitlines() or ["the planner's key administration failed without a word"]
    raise Problem("FAILED", lines[-1])

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
    limits = [f"--space={space}" for space in spaces]
    return _administer(data, "create", f"--tenant={tenant}", f"--name={name}", f"--rights={rights}", *limits)


def listing(data: Path) -> dict[str, Any]:
    """
    All keys of the folder, without their secrets.

    Raises:
        Problem: See `create`.
    """
    return _administer(data, "list")


def need_data(data: Path) -> None:
    """
    Refuse a folder that holds no memory: a misspelt one must not become a new one.

    Raises:
        Problem: There is none.
    """
    if not (data / "memory.db").is_file():
        hint = "name the folder that `telha up` was started with"
        raise Problem("NOT_FOUND", f"the folder {data} holds no memory", hint=hint)


def revoke(data: Path, key_id: str) -> dict[str, Any]:
    """
    End a key at once.

    Raises:
        Problem: See `create`.
    """
    return _administer(data, "revoke", key_id)


def _administer(data: Path, *arguments: str) -> dict[str, Any]:
    command = parts.module("telha_planner", "keys", *arguments, f"--data={data}", "--json")
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own entry point
    if done.returncode == 0:
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer
    lines = done.stderr.strip().splitlines() or ["the planner's key administration failed without a word"]
    raise Problem("FAILED", lines[-1])

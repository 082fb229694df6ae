"""
`telha migrate`: the schema of both stores, brought up to date by the services that own them.

    telha-planner migrate ──► memory        telha-trace-writer migrate ──► traces

Rule 1: each store is migrated in one transaction of its own, so a store is old or new, never between. Rule 2: both are
tried, and each is told; running it again does what is left.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import parts
from .problems import FAILED, Problem

_OWNERS = {"memory": "telha_planner", "traces": "telha_trace_writer"}
_PENDING = 1
"""Exit code of a service that was asked to check, and found something to do."""


def run(config: Path | None, data: Path | None, environ: Mapping[str, str], *, check: bool) -> dict[str, Any]:
    """
    Migrate, or with *check* look, and say of each store where it stood.

    Args:
        config: Where the stores are, beside *environ*; None with neither is `./data`.
        data: A folder of `telha up`, whose stores are meant instead.

    Raises:
        Problem: A store cannot be used. The other one is migrated all the same.
    """
    settings = dict(environ)
    if data is not None:
        parts.refuse_owned(config)
        settings |= parts.stores(data.absolute())
    options = [*(("--config", str(config)) if config else ()), *(("--check",) if check else ()), "--json"]
    told: list[dict[str, Any]] = []
    faults: list[str] = []
    for store, owner in _OWNERS.items():
        command = parts.module(owner, "migrate", *options)
        done = subprocess.run(parts.tied(command), env=settings, capture_output=True, text=True, check=False)  # noqa: S603  # our own entry points
        if done.returncode in (0, _PENDING) and done.stdout:
            told.append({"store": store, **json.loads(done.stdout)})
        else:
            lines = done.stderr.strip().splitlines() or [f"the migration of {store} failed without a word"]
            faults.extend(lines if done.returncode == os.EX_CONFIG else lines[-1:])
    if faults:
        done_so = "; ".join(f"{store['store']}: {sentence(store)}" for store in told)
        raise Problem("FAILED", "; ".join(dict.fromkeys(faults)), hint=done_so or None)
    return {"stores": told}


def exit_code(answer: Mapping[str, Any]) -> int:
    """1 if anything is pending, so that a script can ask."""
    return FAILED if any(store["pending"] for store in answer["stores"]) else 0


def sentence(store: Mapping[str, Any]) -> str:
    """What happened to one store, or is still to happen."""
    stood = f"schema {store['found']}" if store["found"] else "empty"
    if store["pending"]:
        return f"{stood}; schema {store['needed']} is pending"
    if store["migrated"]:
        return f"migrated to schema {store['needed']}, was {stood}"
    return f"up to date, {stood}"

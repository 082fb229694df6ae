"""
`telha-trace-writer migrate [--config FILE] [--check] [--json]`: bring the trace store's schema up to date, or tell.

The answer is one JSON object in camelCase, or one line for people. Exit codes: 0 up to date; 1 with `--check`, and
something is pending; 69 the store cannot be used; 78 the configuration is wrong.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from telha_runtime import entry

from .config import FOREIGN_SECTIONS, StoreConfig

EXIT_PENDING: Final = 1


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `migrate` to the command line."""
    parser = commands.add_parser("migrate", help="bring the schema of the trace store up to date")
    parser.add_argument("--config", type=Path, help="the TOML file; without it, defaults and TELHA_ variables alone")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if something is pending")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Carry out `migrate` and return the exit code."""
    config = entry.read_settings(StoreConfig, options.config, FOREIGN_SECTIONS | {"trace"})
    if config is None:
        return entry.EXIT_CONFIG
    from . import opening  # noqa: PLC0415  # heavy: see entry
    from .faults import StoreUnusable  # noqa: PLC0415

    act = opening.examine if options.check else opening.migrate
    try:
        found = act(config.writer.store, config.writer.busy_timeout_ms)
    except StoreUnusable as fault:
        return entry.refused(fault, entry.EXIT_UNAVAILABLE)
    migrated = found.pending and not options.check
    pending = found.pending and not migrated
    steps = f"from {found.revision or 'nothing'} to {found.newest}"
    if options.json:
        told = {"found": found.revision, "needed": found.newest, "pending": pending, "migrated": migrated}
        said = json.dumps(told)
    elif found.pending:
        said = f"migrated {steps}" if migrated else f"pending: {steps}"
    else:
        said = f"nothing to do: the store stands at {found.newest}"
    sys.stdout.write(f"{said}\n")
    return EXIT_PENDING if pending else 0

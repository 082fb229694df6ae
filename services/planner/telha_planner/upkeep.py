"""
`telha-planner migrate` and `telha-planner copy`: the store as a whole, by whoever may open it.

Answers are JSON objects in camelCase, or a line for people. Exit codes: 0 done, or nothing to do; 1 migrations are
pending (`migrate --check`); 69 a store cannot be used, with one sentence on stderr; 78 the configuration is wrong.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from telha_runtime import entry

from telha_planner.config import FOREIGN_SECTIONS, PlannerConfig, StoreSettings
from telha_planner.core.errors import TelhaError
from telha_planner.memory import copying
from telha_planner.memory.store import Store, StoreUnusable

COMMANDS = ("migrate", "copy")
EXIT_PENDING = 1


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `migrate` and `copy` to the command line."""
    migrating = commands.add_parser("migrate", help="bring the memory store to the schema of this version")
    place = migrating.add_mutually_exclusive_group()
    place.add_argument("--config", type=Path, help="the TOML file that names the store; else TELHA_STORE__URL does")
    place.add_argument("--url", help="the store's address; a password is better kept in PGPASSWORD")
    migrating.add_argument(
        "--check", action="store_true", help="change nothing; exit code 1 if there is something to do"
    )
    copies = commands.add_parser(
        "copy", prog="telha copy", help="copy a whole memory store into an empty one, of either engine"
    )
    copies.add_argument("--from", dest="source", required=True, metavar="URL", help="the store to read")
    copies.add_argument("--to", dest="target", required=True, metavar="URL", help="the empty store to fill")
    for command in (migrating, copies):
        command.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Carry out one of `COMMANDS`; returns the exit code."""
    try:
        return _migrate(options) if options.command == "migrate" else _copy(options)
    except (TelhaError, StoreUnusable) as refusal:
        return entry.refused(refusal, entry.EXIT_UNAVAILABLE)


def _migrate(options: argparse.Namespace) -> int:
    settings = _settings(options)
    if settings is None:
        return entry.EXIT_CONFIG
    before = Store.schema(settings.url, busy_timeout_ms=settings.busy_timeout_ms)
    pending = before.found != before.needed
    if pending and not options.check:
        Store.open(settings.url, busy_timeout_ms=settings.busy_timeout_ms, migrate="auto").close()
    migrated = pending and not options.check
    answer = {"found": before.found, "needed": before.needed, "pending": pending and not migrated, "migrated": migrated}
    if migrated:
        words = f"migrated from {before.found or 'nothing'} to {before.needed}"
    elif pending:
        words = f"pending: from {before.found or 'nothing'} to {before.needed}"
    else:
        words = f"nothing to do: the store stands at {before.needed}"
    _say(options, answer, words)
    return EXIT_PENDING if answer["pending"] else 0


def _settings(options: argparse.Namespace) -> StoreSettings | None:
    if options.url is not None:
        return StoreSettings(url=options.url)
    config = entry.read_settings(PlannerConfig, options.config, FOREIGN_SECTIONS)
    return None if config is None else config.store


def _copy(options: argparse.Namespace) -> int:
    wait = StoreSettings().busy_timeout_ms
    with _said_of("--from"):
        before = Store.schema(options.source, busy_timeout_ms=wait)
    if before.found != before.needed:
        # Opening would make or migrate it, and a source is not to be changed.
        raise StoreUnusable("the store to copy from is empty or of an older schema; run telha migrate on it first")
    with _said_of("--from"):
        source = Store.open(options.source, busy_timeout_ms=wait)
    try:
        with _said_of("--to"):
            target = Store.open(options.target, busy_timeout_ms=wait)
        try:
            rows = copying.copy(source, target, _progress)
        finally:
            target.close()
    finally:
        source.close()
    _say(options, {"rows": rows}, f"copied {sum(rows.values()):,} rows of {rows['tenant']:,} tenants")
    return 0


@contextmanager
def _said_of(option: str) -> Iterator[None]:
    """Name *option* in the refusal of a store: of two addresses, a reader must know which."""
    try:
        yield
    except StoreUnusable as refusal:
        raise StoreUnusable(f"{option}: {str(refusal).removeprefix('store.url ')}") from refusal


def _progress(tenant: str, table: str, rows: int) -> None:
    if rows:
        sys.stderr.write(f"{tenant or 'directory'}: {table}, {rows:,} rows\n")


def _say(options: argparse.Namespace, answer: dict[str, Any], words: str) -> None:
    sys.stdout.write((json.dumps(answer, ensure_ascii=False) if options.json else words) + "\n")

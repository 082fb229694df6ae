"""
`telha backup`: the data folder as of one moment, while the system on it runs or stands still.

    spool ──► traces.db ──► memory.db ──► manifest ──► renamed to its name

Rule 1: in this order. A record leaves the spool when it is in `traces.db`, so each trace that was answered before the
backup began is in the one copy or the other; and a trace cites what was committed before it, so whatever a copied trace
cites is in the copied memory.
Rule 2: a backup is there whole, checked and durable, or not at all.
Rule 3: nothing that belongs to the machine or the moment goes in: no sockets, logs, addresses, stream, and no key in
clear (`connection.json`); keys stand in `memory.db` as hashes.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from . import manifest, migrate, snapshot
from .manifest import DATABASES, EMBEDDER, SPOOL, Manifest
from .problems import Problem, UsageInvalid
from .snapshot import SnapshotFailed


def take(data: Path, target: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """
    Back the data folder *data* up into the new folder *target*.

    Raises:
        UsageInvalid: *target* lies in *data*.
        Problem: *data* holds no memory, *target* holds something, or a copy cannot be made or does not hold.
    """
    if not (data / "memory.db").is_file():
        hint = "name the folder that `telha up` was started with"
        raise Problem("NOT_FOUND", f"the folder {data} holds no memory", hint=hint)
    if target.resolve().is_relative_to(data.resolve()):
        raise UsageInvalid("BACKUP", "must lie outside of the data folder")
    refuse_filled(target)
    stands = migrate.run(None, data, environ, check=True)["stores"]
    begun_us = time.time_ns() // 1000
    with told(target), snapshot.made_whole(target.absolute()) as draft:
        snapshot.tree(data / SPOOL, draft / SPOOL)
        for database in reversed(DATABASES):
            if (data / database).is_file():
                snapshot.database(data / database, draft / database)
        if (data / EMBEDDER).is_file():
            snapshot.file(data / EMBEDDER, draft / EMBEDDER)
        schemas = {store["store"]: store["found"] or "" for store in stands}
        made = Manifest(begun_us, version("telha"), schemas, manifest.describe(draft))
        manifest.write(draft, made)
        manifest.check(draft)
    return answer(target, made)


def check(source: Path) -> dict[str, Any]:
    """
    Check the backup in *source*.

    Raises:
        Problem: It does not hold.
    """
    return answer(source, manifest.check(source))


def answer(folder: Path, made: Manifest) -> dict[str, Any]:
    """What is told of a backup."""
    return {
        "backup": str(folder.absolute()),
        "madeUs": made.made_us,
        "telha": made.telha,
        "stores": dict(made.stores),
        "files": len(made.files),
        "bytes": sum(file.bytes for file in made.files),
    }


def refuse_filled(folder: Path) -> None:
    """
    Refuse a place that holds something.

    Raises:
        Problem: It does, or is no folder.
    """
    try:
        filled = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as fault:
        raise Problem("UNAVAILABLE", f"{folder} cannot be used: {fault.strerror}") from None
    if filled:
        raise Problem("FAILED", f"{folder} is there already; nothing is written over", hint="name a new folder")


@contextmanager
def told(place: Path) -> Iterator[None]:
    """Turn what the machine refuses while *place* is filled into a sentence."""
    try:
        yield
    except SnapshotFailed as fault:
        raise Problem("UNAVAILABLE", str(fault)) from None
    except OSError as fault:
        where = f" ({fault.filename})" if fault.filename else ""
        raise Problem("UNAVAILABLE", f"{place} cannot be made: {fault.strerror or fault}{where}") from None

"""
What a backup holds, and whether it still does: `manifest.json` beside the files.

    {"format": 1, "madeUs": …, "telha": version, "stores": {"memory": schema, "traces": schema},
     "files": [{"path": …, "bytes": …, "blake3": 64 hexadecimal digits}, …]}        by path

Rule: a manifest may come from anywhere. It names files that a backup can hold, inside its own folder, and no others.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from blake3 import blake3

from . import snapshot
from .problems import Problem

FORMAT = 1
NAME = "manifest.json"
DATABASES = ("memory.db", "traces.db")
EMBEDDER = "embedder"
SPOOL = "spool"
_PATH = re.compile(
    rf"(?:{'|'.join(map(re.escape, (*DATABASES, EMBEDDER)))}|{SPOOL}(?:/(?!\.{{1,2}}(?:/|$))[\w.-]+){{1,4}})"
)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class File:
    """
    A file of a backup.

    Attributes:
        path: Below the backup's folder, with `/`.
        blake3: Of its bytes, in hexadecimal.
    """

    path: str
    bytes: int
    blake3: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """
    A backup.

    Attributes:
        made_us: When it was begun, µs since 1970 UTC.
        telha: The version that made it.
        stores: The schema that each store stood at.
    """

    made_us: int
    telha: str
    stores: Mapping[str, str]
    files: tuple[File, ...]

    @property
    def told(self) -> dict[str, Any]:
        """The manifest as it is written down."""
        files = [asdict(file) for file in self.files]
        return {
            "format": FORMAT,
            "madeUs": self.made_us,
            "telha": self.telha,
            "stores": dict(self.stores),
            "files": files,
        }


def describe(folder: Path) -> tuple[File, ...]:
    """The files of *folder* as they are now, by path; the manifest itself aside."""
    described = []
    for path in snapshot.files(folder):
        name = path.relative_to(folder).as_posix()
        if name != NAME:
            described.append(_described(path, name))
    return tuple(described)


def write(folder: Path, manifest: Manifest) -> None:
    """Write *manifest* into *folder*; not synced."""
    text = json.dumps(manifest.told, ensure_ascii=False, indent=2)
    path = folder / NAME
    path.touch(mode=0o600)
    path.write_text(text + "\n", encoding="utf-8")


def read(folder: Path) -> Manifest:
    """
    The manifest of the backup in *folder*.

    Raises:
        Problem: There is none, or it is none of this format.
    """
    try:
        found = json.loads((folder / NAME).read_bytes())
    except OSError as fault:
        hint = "a backup is a folder that `telha backup` has made"
        raise Problem("NOT_FOUND", f"{folder} is no backup: {NAME}: {fault.strerror}", hint=hint) from None
    except ValueError:
        raise _broken(folder, "it is no JSON") from None
    if isinstance(found, dict) and isinstance(found.get("format"), int) and found["format"] > FORMAT:
        raise _broken(folder, f"its format is {found['format']}, and this version knows {FORMAT}")
    try:
        files = tuple(File(str(file["path"]), int(file["bytes"]), str(file["blake3"])) for file in found["files"])
        stores = {str(store): str(schema) for store, schema in found["stores"].items()}
        read = Manifest(int(found["madeUs"]), str(found["telha"]), stores, files)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _broken(folder, "a member is absent or of another type") from None
    if found.get("format") != FORMAT or not all(map(_is_sound, files)):
        raise _broken(folder, "it names what no backup holds")
    return read


def check(folder: Path) -> Manifest:
    """
    Read every byte of the backup in *folder*, and have SQLite check its databases.

    Raises:
        Problem: Anything is missing, changed, too much, or damaged; every fault is named.
    """
    manifest = read(folder)
    try:
        there = {file.path: file for file in describe(folder)}
    except OSError as fault:
        raise Problem("FAILED", f"the backup {folder} cannot be read: {fault.strerror}") from None
    named = {file.path: file for file in manifest.files}
    faults = [f"{path} is missing" for path in sorted(named.keys() - there.keys())]
    faults += [f"{path} does not belong to it" for path in sorted(there.keys() - named.keys())]
    faults += [f"{path} has changed" for path in sorted(named.keys() & there.keys()) if named[path] != there[path]]
    for database in DATABASES if not faults else ():
        if database in named:
            faults += [f"{database}: {words}" for words in snapshot.faults(folder / database)]
    if faults:
        raise Problem("FAILED", f"the backup {folder} does not hold: {'; '.join(faults)}")
    return manifest


def _described(path: Path, name: str) -> File:
    digest, size = blake3(), 0
    with path.open("rb") as reading:
        while piece := reading.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return File(name, size, digest.hexdigest())


def _is_sound(file: File) -> bool:
    return _PATH.fullmatch(file.path) is not None and _DIGEST.fullmatch(file.blake3) is not None


def _broken(folder: Path, why: str) -> Problem:
    return Problem("FAILED", f"{folder / NAME} cannot be read: {why}")

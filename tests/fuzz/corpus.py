"""
The corpus: small inputs on disk, one file each, in a folder for each target.

Seeds come from the targets themselves; a file is either an input that a defect was found with, which then stays for
good, or one that reaches code that seeds do not.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from fuzz.target import Target

FOLDER = Path(__file__).parent / "corpus"


def kept(target: Target) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file of *target*, by name."""
    folder = FOLDER / target.name
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        yield path.name, path.read_bytes()


def inputs(target: Target) -> list[bytes]:
    """Seeds and files together."""
    return [*target.seeds(), *(content for _, content in kept(target))]


def keep(target: Target, content: bytes, folder: Path, why: str) -> Path:
    """Write *content* below *folder*, named by *why* and its digest."""
    folder = folder / target.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{why}-{hashlib.sha256(content).hexdigest()[:12]}"
    path.write_bytes(content)
    return path

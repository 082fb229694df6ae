"""
Files and folders as documents to ingest.

Rule 1: what is not ingested is said, with its reason. A file is either read, skipped (not a document) or refused
(a document that breaks a rule).
Rule 2: the order is that of the arguments, and inside a folder that of the paths, so that runs are alike.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .problems import UsageInvalid

MEDIA_TYPES = {".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain"}
BATCH_BYTES = 1 << 20
"""Content of one call: small enough for a moving progress bar, and far below the server's message limit."""
BATCH_DOCUMENTS = 100
_SNIFFED_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Document:
    """
    One file, ready to be sent.

    Attributes:
        name: The path as it was given, with `/`; bytes of it that are not UTF-8 as a backslash, `x` and two digits.
        uri: The file's address on this machine, from which its source id follows.
    """

    name: str
    uri: str
    media_type: str
    content: bytes


@dataclass(slots=True)
class Gathered:
    """What was found: documents, and each path left out with its reason."""

    documents: list[Document] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def gather(paths: Sequence[Path]) -> Gathered:
    """
    Read *paths*, folders with all that is below them.

    Raises:
        UsageInvalid: A path does not exist.
    """
    gathered = Gathered()
    seen: set[Path] = set()
    for path in paths:
        if not path.is_file() and not path.is_dir():
            raise UsageInvalid(str(path), "must be a file or folder that exists")
        for file in _files(path, gathered):
            place = file.resolve()
            if place not in seen:
                seen.add(place)
                _take(file, gathered)
    return gathered


def batches(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """Cut *documents* into calls of at most `BATCH_DOCUMENTS` and, but for a single large one, `BATCH_BYTES`."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        if batch and (len(batch) == BATCH_DOCUMENTS or size + len(document.content) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document.content)
    if batch:
        yield batch


def _files(path: Path, gathered: Gathered) -> Iterator[Path]:
    if path.is_file():
        yield path
        return

    def unreadable(fault: OSError) -> None:
        gathered.refused.append((_name(Path(fault.filename)), f"cannot be read: {fault.strerror}"))

    for folder, folders, files in os.walk(path, onerror=unreadable):
        here = Path(folder)
        for name in sorted(folders + files):
            if name.startswith("."):
                gathered.skipped.append((_name(here / name), "hidden"))
            elif name in folders and (here / name).is_symlink():
                gathered.skipped.append((_name(here / name), "a link to a folder"))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (here / name for name in sorted(files) if not name.startswith("."))


def _name(path: Path) -> str:
    return os.fsencode(path.as_posix()).decode(errors="backslashreplace")


def _take(file: Path, gathered: Gathered) -> None:
    name = _name(file)
    media_type = MEDIA_TYPES.get(file.suffix.lower())
    if media_type is None:
        gathered.skipped.append((name, f"not one of {', '.join(MEDIA_TYPES)}"))
        return
    if file.exists() and not file.is_file():
        gathered.skipped.append((name, "not a regular file"))
        return
    try:
        content = file.read_bytes()
    except OSError as fault:
        gathered.refused.append((name, f"cannot be read: {fault.strerror}"))
        return
    if b"\0" in content[:_SNIFFED_BYTES]:
        gathered.skipped.append((name, "binary"))
    elif not content.strip():
        gathered.skipped.append((name, "empty"))
    else:
        try:
            content.decode()
        except UnicodeDecodeError as fault:
            gathered.refused.append((name, f"must be UTF-8; byte {fault.start} is not"))
            return
        gathered.documents.append(Document(name, file.resolve().as_uri(), media_type, content))

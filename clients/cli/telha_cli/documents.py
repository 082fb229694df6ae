"""
Files and folders as documents to ingest.

Rule 1: what is not ingested is said, with its reason. A file is either read, skipped (found in a folder, and not a
document) or refused (a document that breaks a rule, or a file that was named and is no document).
Rule 2: the order is that of the arguments, and inside a folder that of the paths, so that runs are alike.
Rule 3: a name does not depend on how a path is spelt, since another name makes another version.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .problems import UsageInvalid

MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdown": "text/markdown",
    ".mkd": "text/markdown",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".ndjson": "application/x-ndjson",
}
OTHER_ENDING = f"not one of {', '.join(MEDIA_TYPES)}"
"""Why a file is no document whose ending names none."""
BATCH_BYTES = 1 << 20
"""Content of one call: small enough for a moving progress bar, and far below the server's message limit."""
BATCH_DOCUMENTS = 100
_SNIFFED_BYTES = 8192
_A_CONVERSATION_HAS = {"application/json": b'"turns"', "application/x-ndjson": b'"speaker"'}


@dataclass(frozen=True, slots=True)
class Document:
    """
    One file, ready to be sent.

    Attributes:
        name: The path seen from the working folder where it is inside; else from the folder given, or a file's own,
            with that folder's name. With `/`; bytes that are not UTF-8 as a backslash, `x` and two digits.
        uri: The file's address on this machine, from which its source id follows.
        content: Its bytes, or where they are read when they are sent, if they are more than `BATCH_BYTES`.
        size: Bytes of the content.
    """

    name: str
    uri: str
    media_type: str
    content: bytes | Path
    size: int


@dataclass(slots=True)
class Gathered:
    """What was found: documents, and each path left out, named as a document is, with its reason."""

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
        spelling = _Spelling(path)
        for file in _files(path, spelling, gathered):
            place = file.resolve()
            if place in seen:
                continue
            left_out = _take(file, spelling.name(file), gathered)
            if left_out is None or file is path:
                seen.add(place)  # what a folder's walk skips may still be named
            if left_out is not None:
                (gathered.refused if file is path else gathered.skipped).append((spelling.name(file), left_out))
    return gathered


def batches(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """Cut *documents* into calls of at most `BATCH_DOCUMENTS` and, but for a single large one, `BATCH_BYTES`."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        if batch and (len(batch) == BATCH_DOCUMENTS or size + document.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += document.size
    if batch:
        yield batch


class _Spelling:
    """One name for each file at or below *given*, however it was spelt."""

    def __init__(self, given: Path) -> None:
        self._given = given
        top, here = Path(os.path.abspath(given)), Path.cwd()  # noqa: PTH100  # `..` goes, links stay
        if not top.is_relative_to(here) and top.resolve().is_relative_to(here):
            top = top.resolve()
        if top.is_relative_to(here):
            self._top = top.relative_to(here)
        else:
            self._top = Path(top.name) if top.is_dir() else Path(top.parent.name, top.name)

    def name(self, path: Path) -> str:
        """The name of *path*, which is the path given or begins with it."""
        named = self._top / path.relative_to(self._given)
        return os.fsencode(named.as_posix()).decode(errors="backslashreplace")


def _files(path: Path, spelling: _Spelling, gathered: Gathered) -> Iterator[Path]:
    if path.is_file():
        yield path
        return

    def unreadable(fault: OSError) -> None:
        gathered.refused.append((spelling.name(Path(fault.filename)), f"cannot be read: {fault.strerror}"))

    for folder, folders, files in os.walk(path, onerror=unreadable):
        here = Path(folder)
        for name in sorted(folders + files):
            if name.startswith("."):
                gathered.skipped.append((spelling.name(here / name), "hidden"))
            elif name in folders and (here / name).is_symlink():
                gathered.skipped.append((spelling.name(here / name), "a link to a folder"))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (here / name for name in sorted(files) if not name.startswith("."))


def _take(file: Path, name: str, gathered: Gathered) -> str | None:
    """Read *file* into *gathered*; returns why it is no document, if it is none."""
    media_type = MEDIA_TYPES.get(file.suffix.lower())
    if media_type is None:
        return OTHER_ENDING
    if file.exists() and not file.is_file():
        return "not a regular file"
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            content = opened.read(_SNIFFED_BYTES if size > BATCH_BYTES else -1)
    except OSError as fault:
        gathered.refused.append((name, f"cannot be read: {fault.strerror}"))
        return None
    if b"\0" in content[:_SNIFFED_BYTES]:
        return "binary"
    if size <= BATCH_BYTES and not content.strip():
        return "empty"
    if _A_CONVERSATION_HAS.get(media_type, b"") not in content[:_SNIFFED_BYTES]:
        return "not a conversation"
    uri = file.resolve().as_uri()
    if size > BATCH_BYTES:
        # The server says what is wrong with it; it may be too large to be held here.
        gathered.documents.append(Document(name, uri, media_type, file, size))
        return None
    try:
        content.decode()
    except UnicodeDecodeError as fault:
        gathered.refused.append((name, f"must be UTF-8; byte {fault.start} is not"))
        return None
    gathered.documents.append(Document(name, uri, media_type, content, len(content)))
    return None

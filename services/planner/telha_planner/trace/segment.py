"""
One append-only file of the spool, byte by byte.

    file    = magic "TLHSPOOL" version u8 (1) zero × 7, entry*
    entry   = length u32 · crc u32 · seq u64 · body            all big-endian
    body    = trace id (16 bytes) · tenant length u16 · tenant (UTF-8) · record       length counts the body
    crc     = CRC-32 over seq and body

Rule 1: an entry counts when its checksum holds, at the start and whenever it is read. What follows the last such entry
was never acknowledged; damage between entries (a bad sector) costs only what it hit.
Rule 2: bytes are made durable by `sync` alone; a write that failed is undone before anything else is written, and after
a failed sync the file takes nothing more.
Rule 3: a file that was removed under its writer has made nothing durable.
"""

import contextlib
import errno
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

MAGIC: Final = b"TLHSPOOL\x01" + bytes(7)
_HEAD: Final = struct.Struct(">IIQ")
_TENANT: Final = struct.Struct(">16sH")
_SUFFIX: Final = ".spool"

_MOST_SKIPPED: Final = 1 << 32
"""Sequence numbers further ahead than this are taken for noise when a damaged file is searched."""

# The size changes with every append, and fdatasync writes it too; other times of the file do not matter.
_sync = getattr(os, "fdatasync", os.fsync)


@dataclass(frozen=True, slots=True)
class Placed:
    """
    An entry in a file.

    Attributes:
        start, end: Where the entry lies in the file.
        offset, length: Where its record lies.
    """

    seq: int
    trace_id: str
    tenant: str
    start: int
    offset: int
    length: int
    end: int


@dataclass(frozen=True, slots=True)
class Packed:
    """An entry that is not in a file yet: its bytes, and *length* of them that are the record."""

    seq: int
    trace_id: str
    tenant: str
    length: int
    content: bytes

    def at(self, start: int) -> Placed:
        """Where its parts lie once it begins at *start*."""
        end = start + len(self.content)
        return Placed(self.seq, self.trace_id, self.tenant, start, end - self.length, self.length, end)


def pack(seq: int, trace_id: str, tenant: str, record: bytes) -> Packed:
    """The bytes of one entry."""
    name = tenant.encode()
    body = _TENANT.pack(UUID(trace_id).bytes, len(name)) + name + record
    return Packed(seq, trace_id, tenant, len(record), _HEAD.pack(len(body), _checksum(seq, body), seq) + body)


class SegmentUnknown(Exception):
    """A file that this program did not write and cannot read: another version's, or no segment at all."""


class EntryDamaged(Exception):
    """What lies in the file is not what was written there."""


class Segment:
    """
    An open file of the spool. One thread writes; any thread reads what has been synced.

    Attributes:
        size: Bytes that are known to be durable.
        live: Entries that are still needed.
        sealed: Nothing more will be written to it.
    """

    def __init__(self, path: Path, descriptor: int, size: int) -> None:
        self.path = path
        self.size = size
        self.live = 0
        self.sealed = False
        self._descriptor = descriptor

    @classmethod
    def create(cls, folder: Path, first_seq: int) -> "Segment":
        """
        Make an empty file whose name sorts by *first_seq*; durable when this returns.

        Raises:
            OSError: Nothing that counts is left behind.
        """
        path = folder / f"{first_seq:020d}{_SUFFIX}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _write_all(descriptor, MAGIC, 0)
            _sync(descriptor)
            sync_folder(folder)
        except OSError:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        return cls(path, descriptor, len(MAGIC))

    @classmethod
    def reopen(cls, path: Path) -> tuple["Segment", list[Placed], int]:
        """
        Open a file that a process left behind, and cut what follows its last valid entry.

        Returns:
            The file, sealed; its entries in order; and how many bytes held none.

        Raises:
            SegmentUnknown: See there; the file is untouched.
        """
        content = path.read_bytes()
        entries = list(_scan(content))
        # A power loss may leave a new file torn or zero, and a bad sector may hit its first bytes; then entries decide.
        torn = MAGIC.startswith(content[: len(MAGIC)]) or not any(content)
        if not entries and not torn:
            raise SegmentUnknown(f"{path} is no spool file of version {MAGIC[8]}")
        size = entries[-1].end if entries else min(len(content), len(MAGIC))
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        if len(content) != size:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        reopened = cls(path, descriptor, size)
        reopened.sealed = True
        known = len(MAGIC) + sum(entry.end - entry.start for entry in entries)
        return reopened, entries, max(0, len(content) - known)

    def append(self, content: bytes) -> None:
        """
        Write *content* behind the durable bytes and sync.

        Raises:
            FileNotFoundError: Somebody removed or replaced the file; `restore` makes it again.
            OSError: It cannot be written. In either case it is sealed, and nothing of *content* counts.
        """
        try:
            _write_all(self._descriptor, content, self.size)
            _sync(self._descriptor)
            if not self.stands():
                raise FileNotFoundError(errno.ENOENT, "the file was removed", str(self.path))
        except OSError:
            self._undo()
            raise
        self.size += len(content)

    def stands(self) -> bool:
        """Whether the file is still to be found under its name."""
        try:
            named = self.path.stat()
        except OSError:
            return False
        held = os.fstat(self._descriptor)
        return (named.st_ino, named.st_dev) == (held.st_ino, held.st_dev)

    def restore(self, folder: Path, number: int) -> None:
        """
        Write the durable bytes of a file that was removed to a new one, whose name is *number*, in *folder*.

        Raises:
            OSError: Nothing has changed.
        """
        made = Segment.create(folder, number)
        try:
            _write_all(made.fileno(), os.pread(self._descriptor, self.size, 0), 0)
            _sync(made.fileno())
            # Whoever reads at this moment reads the same bytes on either side of the exchange.
            os.dup2(made.fileno(), self._descriptor, inheritable=False)
        except OSError:
            made.delete()
            raise
        made.close()
        self.path, self.sealed = made.path, True

    def read(self, entry: Placed) -> bytes:
        """
        The record of *entry*.

        Raises:
            EntryDamaged: It has changed since it was written.
            OSError: It cannot be read.
        """
        content = os.pread(self._descriptor, entry.end - entry.start, entry.start)
        _, checksum, seq = _HEAD.unpack_from(content) if len(content) >= _HEAD.size else (0, 0, 0)
        if seq != entry.seq or _checksum(seq, content[_HEAD.size :]) != checksum:
            raise EntryDamaged(f"{self.path}, byte {entry.start}")
        return content[len(content) - entry.length :]

    def fileno(self) -> int:
        """The descriptor of the open file."""
        return self._descriptor

    def close(self) -> None:
        """Close the file; it stays."""
        os.close(self._descriptor)

    def delete(self) -> None:
        """Close and remove the file. If the removal fails or is lost in a crash, its entries are sent once more."""
        self.close()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def _undo(self) -> None:
        # After a failed sync the kernel may have dropped the pages, so this file takes no further entry either way.
        self.sealed = True
        try:
            os.ftruncate(self._descriptor, self.size)
            os.fsync(self._descriptor)
        except OSError:
            # The checksum of whatever remains there decides at the next start.
            return


def segments(folder: Path) -> list[Path]:
    """The files of a spool, oldest first."""
    return sorted(path for path in folder.iterdir() if path.suffix == _SUFFIX)


def sync_folder(folder: Path) -> None:
    """Make the names in *folder* durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _scan(content: bytes) -> Iterator[Placed]:
    if content[: len(b"TLHSPOOL")] == MAGIC[: len(b"TLHSPOOL")] and content[: len(MAGIC)] != MAGIC:
        return  # of another version, whose entries may mean something else
    start, last_seq = len(MAGIC), 0
    while start + _HEAD.size <= len(content):
        entry = _entry(content, start, last_seq)
        if entry is None:
            start += 1
        else:
            yield entry
            start, last_seq = entry.end, entry.seq


def _entry(content: bytes, start: int, last_seq: int) -> Placed | None:
    """The entry that begins at *start*, if one does."""
    length, checksum, seq = _HEAD.unpack_from(content, start)
    body_start = start + _HEAD.size
    if length < _TENANT.size or body_start + length > len(content) or not last_seq < seq < last_seq + _MOST_SKIPPED:
        return None
    body = content[body_start : body_start + length]
    if _checksum(seq, body) != checksum:
        return None
    trace_id, named = _TENANT.unpack_from(body)
    record_length = length - _TENANT.size - named
    if record_length < 0:
        return None
    try:
        tenant = body[_TENANT.size : _TENANT.size + named].decode()
    except UnicodeDecodeError:
        return None
    end = body_start + length
    return Placed(seq, str(UUID(bytes=trace_id)), tenant, start, end - record_length, record_length, end)


def _checksum(seq: int, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(seq.to_bytes(8)))


def _write_all(descriptor: int, content: bytes, offset: int) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written

"""
Who owns a folder of the spool: one process at a time, known by a lock that the kernel frees when the process dies.

    spool/                 the root, one volume
      3f0c…/               one spool; its name is the folder's
        lock               held as long as a planner owns the spool
        00…01.spool        segments

Rule: whoever holds the lock may read, write and remove the folder; nobody else touches it.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

from .segment import sync_folder

_LOCK: Final = "lock"
_MOST_TRIES: Final = 10


class Lease:
    """A folder that this process owns until `release` or `remove`."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        self.folder = folder
        self._descriptor = descriptor

    @property
    def name(self) -> str:
        """The spool's own name, a UUID."""
        return self.folder.name

    def intact(self) -> bool:
        """Whether folder and lock are still to be found where they were."""
        with contextlib.suppress(OSError):
            return (self.folder / _LOCK).stat().st_ino == os.fstat(self._descriptor).st_ino
        return False

    def release(self) -> None:
        """Leave the folder to the next owner."""
        os.close(self._descriptor)

    def remove(self) -> None:
        """
        Delete the folder, its lock last, so that nobody can take it half deleted.

        Raises:
            OSError: Some of it is left; it is no longer owned.
        """
        try:
            for path in self.folder.iterdir():
                if path.name != _LOCK:
                    path.unlink()
            shutil.rmtree(self.folder)
        finally:
            os.close(self._descriptor)


def take_free(root: Path, passed_by: Collection[str] = ()) -> list[Lease]:
    """Every spool under *root* that nobody owns, but those *passed_by*, by name; this process owns them now."""
    leases = []
    for folder in sorted(root.iterdir()):
        if folder.name not in passed_by and _is_spool(folder):
            lease = _try(folder)
            if lease is not None:
                leases.append(lease)
    return leases


def create(root: Path) -> Lease:
    """A new, empty spool under *root*, owned by this process."""
    for _ in range(_MOST_TRIES):
        folder = root / str(uuid4())
        folder.mkdir(mode=0o700)
        lease = _try(folder)
        # A planner that looks for orphans may have taken it before it was locked, and removes it.
        if lease is not None:
            sync_folder(root)
            return lease
    raise OSError(f"spools that are made in {root} are locked by another process")


def regained(lost: Lease) -> Lease:
    """
    *lost* itself if it is intact; else the same folder made again, or a new one if another process took it meanwhile.

    Raises:
        OSError: None can be had.
    """
    if lost.intact():
        return lost
    lost.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    again = _try(lost.folder) or create(lost.folder.parent)
    sync_folder(lost.folder.parent)
    lost.release()
    return again


def _try(folder: Path) -> Lease | None:
    path = folder / _LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return None  # its owner removed it just now
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The last owner may have removed the folder between our open and our lock.
        if path.stat().st_ino == os.fstat(descriptor).st_ino:
            return Lease(folder, descriptor)
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def _is_spool(folder: Path) -> bool:
    with contextlib.suppress(ValueError):
        return str(UUID(folder.name)) == folder.name and folder.is_dir()
    return False

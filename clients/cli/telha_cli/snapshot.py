"""
Copies of what a running system is writing: a SQLite database at one moment, and a folder of append-only files.

Rule 1: nobody waits for a copy: readers and writers of a write-ahead log go on beside it.
Rule 2: whatever is made here is for its owner alone (0600, 0700), and durable when `made_whole` returns.
"""

import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from urllib.parse import quote

_PIECE = 1 << 20
_BUSY_S = 30.0
_MOST_ROUNDS = 50
_LOCK = "lock"


class SnapshotFailed(Exception):
    """The copy cannot be made; the message is one sentence."""


@contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """
    A new folder to fill, which becomes *folder* when the block ends, and is removed if it raises.

    It lies beside *folder* meanwhile, as `.NAME.partial-…`; only a killed process leaves that behind.

    Raises:
        OSError: *folder* is there and not empty, or cannot be made.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.partial-", dir=folder.parent))  # 0700
    mask = os.umask(0o077)
    try:
        yield draft
        _sync_tree(draft)
        draft.rename(folder)  # over an empty folder, and over nothing else
    except BaseException:
        rmtree(draft, ignore_errors=True)
        raise
    finally:
        os.umask(mask)
    _sync(folder.parent)


def database(source: Path, target: Path) -> None:
    """
    Copy the SQLite database *source* as it stands at one moment; *target* is a single file without a log.

    Raises:
        SnapshotFailed: It cannot be read, or *target* cannot be written.
    """
    _create(target)
    deadline = time.monotonic() + _BUSY_S

    def waited(status: int, _remaining: int, _total: int) -> None:
        if status == sqlite3.SQLITE_BUSY and time.monotonic() > deadline:
            raise SnapshotFailed(f"{source} is held by another process")

    try:
        with closing(_connected(source, "mode=rw")) as reading:
            with closing(sqlite3.connect(target)) as copy:
                copy.execute("PRAGMA synchronous = OFF")  # it is synced as a whole, at the end
                # All pages in one step: one snapshot, whatever is committed meanwhile.
                reading.backup(copy, pages=-1, progress=waited, sleep=0.05)
            # What was erased meanwhile had to stay in the log for our snapshot's sake; now it need not.
            with suppress(sqlite3.OperationalError):
                reading.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as fault:
        raise SnapshotFailed(f"{source} cannot be copied: {fault}") from fault


def faults(database: Path) -> list[str]:
    """What SQLite's own check finds wrong with the closed file *database*; nothing of it is changed."""
    try:
        with closing(_connected(database, "mode=ro&immutable=1")) as reading:
            found = [str(row[0]) for row in reading.execute("PRAGMA integrity_check(3)")]
    except sqlite3.Error as fault:
        return [str(fault)]
    return [] if found == ["ok"] else found


def tree(source: Path, target: Path) -> None:
    """
    Copy every file below *source* but locks, while files are appended to, made and removed there.

    Rule: an entry may move to a file that is made later, and only then is its old file removed. So a round in which a
    file was gone before it could be read, or after which other files are there, is followed by another one: a folder
    that changes while it is listed may show neither the old file nor the new one.

    Raises:
        SnapshotFailed: Files never stopped vanishing.
        OSError: One cannot be read or written.
    """
    for _ in range(_MOST_ROUNDS):
        before = _state(source)
        copied = [_copied(path, target / path.relative_to(source)) for path in files(source)]
        if all(copied) and _state(source) == before:
            return
    raise SnapshotFailed(f"the files of {source} change faster than they can be copied")


def files(folder: Path) -> list[Path]:
    """Every regular file below *folder* but locks, by path; none if there is no such folder."""
    # By what the listing says, without a second look: a file that is gone by then is for its reader to miss.
    return sorted(path for path, is_folder in _below(folder) if not is_folder)


def _state(folder: Path) -> list[tuple[Path, int]]:
    """Every file below *folder*, and every folder with the instant at which something was made or removed in it."""
    return sorted((path, _changed_ns(path) if is_folder else 0) for path, is_folder in _below(folder))


def _below(folder: Path) -> Iterator[tuple[Path, bool]]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        yield folder, True
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path))
            elif entry.is_file(follow_symlinks=False) and entry.name != _LOCK:
                yield Path(entry.path), False


def _changed_ns(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def file(source: Path, target: Path) -> None:
    """Copy one file; raises `OSError`."""
    with source.open("rb") as reading:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _create(target)
        with target.open("wb") as writing:
            while piece := reading.read(_PIECE):
                writing.write(piece)


def _copied(source: Path, target: Path) -> bool:
    try:
        file(source, target)
    except FileNotFoundError:
        return False
    return True


def _create(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))


def _connected(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?{how}", uri=True, timeout=_BUSY_S)


def _sync_tree(folder: Path) -> None:
    for place, _, names in os.walk(folder):
        for name in names:
            _sync(Path(place) / name)
        _sync(Path(place))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

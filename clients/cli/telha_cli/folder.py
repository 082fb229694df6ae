"""
The data folder of `telha up`, and how another command finds the one that is running.

    DIR/memory.db  traces.db  spool/  valkey/  logs/  lock  sockets  connection.json (addresses, key, pid; mode 0600)

Rule 1: one supervisor per folder. The lock is handed down to its parts, so it holds until the last of them has ended.
Rule 2: each running supervisor leaves `~/.local/state/telha/<pid>` with the path of its folder; a pointer whose process
is gone means nothing, and the next supervisor removes it.
Rule 3: `connection.json` and `sockets` say which folder they were written in (device and inode). In a copy of it they
mean nothing: nobody runs there, and the sockets are another's.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from .problems import Problem

_SOCKETS_PREFIX = "telha-"
_LONGEST_FOLDER = 90
"""Bytes of a folder's path; with a socket's name it must stay below the 104 that the least system takes."""


@dataclass(frozen=True, slots=True)
class Connection:
    """
    How to reach the system that runs on a data folder.

    Attributes:
        grpc: `host:port`.
        http: `http://host:port`.
        key: An API key with every right.
        pid: The supervisor.
        folder: Identity of the folder it runs on.
    """

    grpc: str
    http: str
    key: str
    pid: int
    folder: str = field(default="", compare=False)


def lay_out(folder: Path) -> None:
    """
    Create *folder* and what belongs into it.

    Raises:
        Problem: It cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in ("spool", "valkey", "logs"):
            (folder / name).mkdir(exist_ok=True)
        probe = folder / "lock"
        probe.touch()
        (folder / "logs" / "up.log").open("ab").close()
    except FileNotFoundError:
        # Folders above it were made where they can be, so one that is there refuses new ones, as those of /proc do.
        above = next((each for each in folder.parents if each.is_dir()), folder)
        raise Problem("UNAVAILABLE", f"the data folder {folder} cannot be made: {above} takes no new files") from None
    except OSError as fault:
        raise Problem("UNAVAILABLE", f"the data folder {folder} cannot be written: {fault.strerror}") from None


def lock(folder: Path) -> int:
    """
    Take the folder for this process and those that inherit the file descriptor returned.

    Raises:
        Problem: Another `telha up` has it.
    """
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        hint = "stop it first, or give another folder with --data"
        raise Problem("UNAVAILABLE", f"another telha up is using the data folder {folder}", hint=hint) from None
    return descriptor


def sockets(folder: Path) -> Path:
    """
    A new private folder for unix sockets, short, and noted in *folder*; one that a killed supervisor left is removed.

    Only the holder of the lock may call this.
    """
    note = folder / "sockets"
    if note.exists():
        left, _, of = note.read_text(encoding="utf-8").partition("\n")
        if of == _identity(folder) and Path(left).name.startswith(_SOCKETS_PREFIX):
            shutil.rmtree(left, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=_SOCKETS_PREFIX))
    if len(os.fsencode(made)) > _LONGEST_FOLDER:
        made.rmdir()
        made = Path(tempfile.mkdtemp(prefix=_SOCKETS_PREFIX, dir="/tmp"))  # mkdtemp makes it private
    note.write_text(f"{made}\n{_identity(folder)}", encoding="utf-8")
    return made


def noted_sockets(folder: Path) -> Path:
    """The folder of unix sockets that is noted in *folder*; *folder* itself, which has none, if there is no note."""
    try:
        return Path((folder / "sockets").read_text(encoding="utf-8").partition("\n")[0])
    except OSError:
        return folder


def read(folder: Path) -> Connection | None:
    """The connection noted in *folder* or in what it is a copy of, whether or not it stands; None if there is none."""
    try:
        return Connection(**json.loads((folder / "connection.json").read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def standing(folder: Path) -> Connection | None:
    """The connection of the `telha up` that runs on *folder*, itself and not one it was copied from."""
    connection = read(folder)
    if connection is None or not alive(connection.pid):
        return None
    try:
        return connection if connection.folder == _identity(folder) else None
    except OSError:  # it has just been removed
        return None


def write(folder: Path, connection: Connection) -> None:
    """Note *connection* in *folder*, readable by its owner alone, in one step."""
    draft = folder / ".connection.json"
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(replace(connection, folder=_identity(folder))), file, indent=2)
        file.write("\n")
    draft.replace(folder / "connection.json")


@contextmanager
def announced(folder: Path, environ: Mapping[str, str]) -> Iterator[None]:
    """Leave a pointer to *folder* for as long as the block runs; without a state folder, leave none."""
    pointer = _pointers(environ) / str(os.getpid())
    try:
        pointer.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in pointer.parent.iterdir():
            if left.name.isdecimal() and not alive(int(left.name)):
                left.unlink(missing_ok=True)
        pointer.write_text(str(folder.resolve()), encoding="utf-8")
    except OSError:
        yield
        return
    try:
        yield
    finally:
        pointer.unlink(missing_ok=True)


def running(environ: Mapping[str, str]) -> Connection | None:
    """The connection of the newest `telha up` of this user that still runs."""
    try:
        pointers = sorted(_pointers(environ).iterdir(), key=lambda pointer: pointer.stat().st_mtime_ns, reverse=True)
    except OSError:
        return None
    for pointer in pointers:
        if not pointer.name.isdecimal():
            continue
        try:
            connection = standing(Path(pointer.read_text(encoding="utf-8")))
        except OSError:  # it has just ended
            continue
        if connection is not None and connection.pid == int(pointer.name):
            return connection
    return None


def alive(pid: int) -> bool:
    """Whether a process with *pid* exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _identity(folder: Path) -> str:
    status = folder.stat()
    return f"{status.st_dev}:{status.st_ino}"


def _pointers(environ: Mapping[str, str]) -> Path:
    state = environ.get("XDG_STATE_HOME") or str(Path(environ.get("HOME", "~")).expanduser() / ".local" / "state")
    return Path(state) / "telha"

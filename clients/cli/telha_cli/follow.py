"""What a running system says: the supervisor's own journal, and the parts' logs on request."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

ROTATE_BYTES = 16 << 20


class Journal:
    """Writes each event of the supervisor to a file, and tells it."""

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._path, self._tell = path, tell

    def __call__(self, sentence: str) -> None:
        """Note *sentence* with the time."""
        self._tell(sentence)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {sentence}\n")


class Follower:
    """Copies what is appended to some logs to *out*, each line under the name of its part."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._read: dict[str, tuple[Path, int]] = {}

    def follow(self, logs: Mapping[str, Path]) -> None:
        """Begin at the present end of each log."""
        self._read = {name: (path, path.stat().st_size if path.exists() else 0) for name, path in logs.items()}

    def show(self) -> None:
        """Copy the whole lines that are new."""
        for name, (path, position) in self._read.items():
            with path.open("rb") as file:
                file.seek(position)
                fresh = file.read()
            whole = fresh.rfind(b"\n") + 1
            for line in fresh[:whole].decode(errors="replace").splitlines():
                print(f"{name:<12} | {line}", file=self._out, flush=True)
            self._read[name] = (path, position + whole)


def rotate(log: Path) -> None:
    """Put *log* aside as `.1` once it has grown beyond `ROTATE_BYTES`."""
    if log.exists() and log.stat().st_size > ROTATE_BYTES:
        log.replace(log.with_name(f"{log.name}.1"))

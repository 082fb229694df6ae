"""
Finished questions on disk, one JSON object a line, so that a run that was stopped goes on where it was.

Rule: a line counts only if it is whole; what a kill left half-written is written anew.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from .trial import Result


class Results:
    """
    The results in *path*.

    Attributes:
        kept: What an earlier run finished, by question.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = path.read_bytes() if path.exists() else b""
        whole = raw[: raw.rfind(b"\n") + 1]
        if whole != raw:
            path.write_bytes(whole)
        self.kept: Mapping[str, Result] = {row["id"]: row for row in map(json.loads, whole.splitlines())}
        self._file = path.open("ab")

    def keep(self, result: Result) -> None:
        """Write *result* through to the file."""
        self._file.write(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Make what was kept durable and let go of the file."""
        os.fsync(self._file.fileno())
        self._file.close()

"""
Spools that dead planners left beside this one: taken over where they lie, carried on, removed when the writer has all.

Rule 1: nothing is copied, so a full disk or a spool at its bound hinders no adoption, and a crash costs nothing: the
lock is free again and the next planner takes over. Rule 2: a file that this program cannot read stays, with its folder.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import lease, segment
from .files import Files
from .lease import Lease
from .segment import Placed, Segment, SegmentUnknown

_log = logging.getLogger(__name__)

Found = tuple[Segment, list[Placed]]


def readable(folder: Path) -> Iterator[Found]:
    """
    The files in *folder*, oldest first, opened; one that cannot be read is left alone and named in the log.

    Raises:
        OSError: A file cannot be opened.
    """
    for path in segment.segments(folder):
        try:
            reopened, entries, lost = Segment.reopen(path)
        except SegmentUnknown as fault:
            _log.error("%s; it stays for a planner that can read it", fault)
            continue
        if lost:
            _log.warning("%s: %d bytes hold no valid entry; a crash leaves such bytes behind", path, lost)
        yield reopened, entries


@dataclass(frozen=True, slots=True)
class Orphan:
    """A spool that was taken over, and what was found in it."""

    held: Lease
    files: Files
    found: list[Found]


class Orphans:
    """The spools under *root* that this process took over and has not finished yet."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._passed_by: set[str] = set()
        self._taken: list[Orphan] = []

    @property
    def names(self) -> list[str]:
        """Names of the spools that are held."""
        return [orphan.held.name for orphan in self._taken]

    @property
    def size(self) -> int:
        """Bytes of their files that hold needed entries."""
        return sum(orphan.files.size for orphan in self._taken)

    def take(self) -> list[Orphan]:
        """
        Take over every free spool; safe in any thread. `keep` each that is returned.

        Raises:
            OSError: The root cannot be read.
        """
        return [
            orphan
            for held in lease.take_free(self._root, self._passed_by)
            if (orphan := self._opened(held)) is not None
        ]

    def keep(self, orphan: Orphan) -> None:
        """Hold *orphan*, whose needed entries have been counted, until it is empty."""
        self._taken.append(orphan)

    def finish(self) -> list[str]:
        """Remove the spools that are empty; their names."""
        done = [orphan for orphan in self._taken if orphan.files.empty]
        for orphan in done:
            self._taken.remove(orphan)
            self._end(orphan)
        return [orphan.held.name for orphan in done]

    def close(self) -> None:
        """Leave what is not empty to its next owner."""
        self.finish()
        for orphan in self._taken:
            orphan.files.close()
            orphan.held.release()
        self._taken.clear()

    def _opened(self, held: Lease) -> Orphan | None:
        try:
            return Orphan(held, Files(held.folder, self._max_bytes), list(readable(held.folder)))
        except (OSError, ValueError) as fault:
            # It stays as it is for the next start; this planner can work without it.
            _log.error("the orphaned spool %s cannot be adopted: %s", held.folder, fault)
            self._passed_by.add(held.name)
            held.release()
            return None

    def _end(self, orphan: Orphan) -> None:
        orphan.files.close()
        try:
            if not segment.segments(orphan.held.folder):
                orphan.held.remove()
                return
            orphan.held.release()
        except OSError as fault:
            _log.warning("the emptied spool %s cannot be removed: %s", orphan.held.folder, fault)
        self._passed_by.add(orphan.held.name)

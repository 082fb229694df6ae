"""
The files of one spool: which one is written, how much disk they hold, when one may go.

Rule: a file is removed when nothing more will be written to it and no entry of it is needed.
"""

import threading
from pathlib import Path
from typing import Final

from . import segment
from .segment import Segment

_SEGMENT_BYTES: Final = 4 * 1024 * 1024


class Files:
    """The segments under *folder*; safe to use from the event loop and the commit thread at once."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        """
        Make an empty set.

        Args:
            folder: Where new files go.
            max_bytes: Bound of the whole spool; a file takes at most about an eighth of it.
        """
        self._folder = folder
        self._segment_bytes = min(_SEGMENT_BYTES, max_bytes // 8)
        self._lock = threading.Lock()
        self._held: set[Segment] = set()
        self._active: Segment | None = None
        self._last_no = max((int(path.stem) for path in segment.segments(folder)), default=0)

    @property
    def size(self) -> int:
        """Bytes of the files that hold needed entries."""
        with self._lock:
            return sum(held.size for held in self._held if held.live)

    @property
    def empty(self) -> bool:
        """Whether no file holds a needed entry."""
        with self._lock:
            return not any(held.live for held in self._held)

    def add(self, held: Segment, live: int) -> None:
        """Count *live* entries of *held* as needed; a sealed file without any is removed."""
        with self._lock:
            self._held.add(held)
            held.live += live
            self._drop_if_done(held)

    def release(self, held: Segment) -> None:
        """One entry of *held* is no longer needed."""
        with self._lock:
            held.live -= 1
            self._drop_if_done(held)

    def room(self, length: int) -> Segment:
        """
        The file that the next *length* bytes go to; for the one thread that writes.

        Raises:
            OSError: A new file was needed and could not be made.
        """
        active = self._active
        if active is not None:
            if not active.sealed and active.size + length <= self._segment_bytes:
                return active
            self.roll()
        # A file that could not even be removed again keeps its name.
        self._last_no += 1
        self._active = Segment.create(self._folder, self._last_no)
        with self._lock:
            self._held.add(self._active)
        return self._active

    def roll(self) -> None:
        """Write no more to the file at hand, which goes once it is not needed; for the one thread that writes."""
        if self._active is not None:
            with self._lock:
                self._active.sealed = True
                self._drop_if_done(self._active)
            self._active = None

    def restore(self, folder: Path) -> int:
        """
        Write again, to *folder*, what was removed of the files that are needed; for the one thread that writes.

        Returns:
            How many files were written.

        Raises:
            OSError: Some are still missing.
        """
        self._folder = folder
        with self._lock:
            gone = sorted((held for held in self._held if held.live and not held.stands()), key=lambda held: held.path)
        for held in gone:
            number = int(held.path.stem)
            if (folder / held.path.name).exists():
                self._last_no = number = self._last_no + 1
            held.restore(folder, number)
        return len(gone)

    def close(self) -> None:
        """Close every file and remove those that nobody needs."""
        with self._lock:
            for held in list(self._held):
                held.sealed = True
                self._drop_if_done(held)
            for held in self._held:
                held.close()
            self._held.clear()

    def _drop_if_done(self, held: Segment) -> None:
        if held.sealed and not held.live and held in self._held:
            self._held.discard(held)
            held.delete()

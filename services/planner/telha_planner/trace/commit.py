"""
Group commit: one thread writes what is waiting and syncs once for all of it.

Appends that arrive during a sync wait for the next one, so the number of syncs follows the disk, not the load.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from .files import Files
from .segment import Packed, Placed, Segment

_log = logging.getLogger(__name__)


Entered = Callable[[Segment, list[Placed]], None]


@dataclass(frozen=True, slots=True)
class _Append:
    entry: Packed
    done: "asyncio.Future[bool]"


def write(files: Files, entries: list[Packed]) -> tuple[Segment, list[Placed]]:
    """
    Write *entries* into one file and sync.

    Raises:
        OSError: None of them was taken.
    """
    content = b"".join(entry.content for entry in entries)
    target = files.room(len(content))
    start, placed = target.size, []
    for entry in entries:
        placed.append(entry.at(start))
        start = placed[-1].end
    target.append(content)
    files.add(target, len(placed))
    return target, placed


class Committer:
    """The thread. *entered* hears, on the event loop, what became durable, before the appends are resolved."""

    def __init__(self, files: Files, entered: Entered) -> None:
        """Make it; `start` runs it."""
        self._files = files
        self._entered = entered
        self._guard = threading.Condition()
        self._waiting: list[_Append] = []
        self._waiting_bytes = 0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="spool-commit", daemon=True)
        self.syncs = 0

    @property
    def waiting_bytes(self) -> int:
        """Bytes that were submitted and not yet written."""
        return self._waiting_bytes

    def start(self) -> None:
        """Run the thread."""
        self._thread.start()

    async def submit(self, entry: Packed) -> bool:
        """Write *entry* in the next group. Whether it is durable now; if not, it was not taken."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        with self._guard:
            self._waiting.append(_Append(entry, done))
            self._waiting_bytes += len(entry.content)
            self._guard.notify()
        return await done

    async def close(self) -> None:
        """Write what was submitted, then end the thread."""
        with self._guard:
            self._closing = True
            self._guard.notify()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while True:
            with self._guard:
                self._guard.wait_for(lambda: self._waiting or self._closing)
                batch, self._waiting = self._waiting, []
            if not batch:
                return
            written: tuple[Segment, list[Placed]] | None = None
            try:
                written = write(self._files, [append.entry for append in batch])
                self.syncs += 1
            except OSError as fault:
                _log.error("the trace spool cannot be written: %s", fault)  # the cause says it all
            with self._guard:
                self._waiting_bytes -= sum(len(append.entry.content) for append in batch)
            # All appends of one spool belong to one loop.
            batch[0].done.get_loop().call_soon_threadsafe(self._resolve, batch, written)

    def _resolve(self, batch: list[_Append], written: tuple[Segment, list[Placed]] | None) -> None:
        if written is not None:
            self._entered(*written)
        for append in batch:
            if not append.done.done():
                append.done.set_result(written is not None)

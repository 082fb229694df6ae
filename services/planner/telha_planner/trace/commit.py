"""
Group commit: one thread writes what is waiting and syncs once for all of it.

Appends that arrive during a sync wait for the next one, so the number of syncs follows the disk, not the load.
Whatever goes wrong here refuses the appends at hand; the thread goes on, so that the next ones find a disk that has
recovered.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from .files import Files
from .segment import Packed, Placed, Segment

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

Written = tuple[Segment, list[Placed]]
Entered = Callable[[Segment, list[Placed]], None]


@dataclass(frozen=True, slots=True)
class _Append:
    entry: Packed
    done: "asyncio.Future[bool]"


def write(files: Files, entries: list[Packed]) -> Written:
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
    """
    The thread.

    Attributes:
        syncs: Group commits since the start.
        committed: Hears, in the thread, how many seconds each took.
    """

    def __init__(self, files: Files, entered: Entered, repair: Callable[[], None]) -> None:
        """
        Make it; `start` runs it.

        Args:
            files: Where to write; nobody else does.
            entered: Hears, on the event loop, what became durable, before the appends are resolved.
            repair: Makes files and folder again that somebody removed; raises `OSError`.
        """
        self._files = files
        self._entered = entered
        self._repair = repair
        self._guard = threading.Condition()
        self._waiting: list[_Append] = []
        self._waiting_bytes = 0
        self._inspecting = False
        self._rolling = False
        self._closing = False
        self._failing = False
        self._thread = threading.Thread(target=self._run, name="spool-commit", daemon=True)
        self.syncs = 0
        self.committed: Callable[[float], object] = lambda _: None

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

    def inspect(self) -> None:
        """Have the thread look whether files were removed, and make them again."""
        with self._guard:
            self._inspecting = True
            self._guard.notify()

    def roll(self) -> None:
        """Have the thread write to another file from now on."""
        with self._guard:
            self._rolling = True
            self._guard.notify()

    async def close(self) -> None:
        """Write what was submitted, then end the thread."""
        with self._guard:
            self._closing = True
            self._guard.notify()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while True:
            with self._guard:
                self._guard.wait_for(lambda: self._waiting or self._closing or self._inspecting or self._rolling)
                batch, self._waiting = self._waiting, []
                inspecting, self._inspecting = self._inspecting, False
                rolling, self._rolling = self._rolling, False
            if inspecting:
                self._tried(self._repair)
            if rolling:
                self._tried(self._files.roll)
            if batch:
                self._commit(batch)
            elif not inspecting and not rolling:
                return

    def _commit(self, batch: list[_Append]) -> None:
        entries = [append.entry for append in batch]
        started = time.monotonic()
        written = self._tried(lambda: self._write(entries))
        if written is not None:
            self.syncs += 1
            self.committed(time.monotonic() - started)
        with self._guard:
            self._waiting_bytes -= sum(len(entry.content) for entry in entries)
        # All appends of one spool belong to one loop.
        batch[0].done.get_loop().call_soon_threadsafe(self._resolve, batch, written)

    def _write(self, entries: list[Packed]) -> Written:
        try:
            return write(self._files, entries)
        except FileNotFoundError:
            self._repair()
            return write(self._files, entries)

    def _tried(self, act: Callable[[], _T]) -> _T | None:
        try:
            done = act()
        except Exception as fault:  # noqa: BLE001  # a thread that ends would leave every later call waiting for ever
            if not self._failing:
                _log.error(
                    "the trace spool cannot be written: %s", fault, exc_info=not isinstance(fault, OSError)
                )  # for a disk the cause says it all
            self._failing = True
            return None
        if self._failing:
            self._failing = False
            _log.warning("the trace spool can be written again")
        return done

    def _resolve(self, batch: list[_Append], written: Written | None) -> None:
        if written is not None:
            self._entered(*written)
        for append in batch:
            if not append.done.done():
                append.done.set_result(written is not None)

"""
The spool: where the record of a call becomes durable before the call is answered.

    append ──► waiting ──► one thread: write, sync (many appends, one sync) ──► entry ──► emitter ──► persisted ──► gone

Rule 1: `append` returns after the sync, or raises and nothing was taken.
Rule 2: an entry leaves only when the trace writer has it; a stream that took it is not enough.
Rule 3: bounded. A full spool refuses; it never drops.
Rule 4: spools that dead planners left beside this one are taken over at the start.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from telha_planner.core.errors import TraceBacklogFull

from . import lease, segment
from .commit import Committer, write
from .envelope import tenant_of
from .files import Files
from .lease import Lease
from .segment import Placed, Segment, SegmentUnknown

_log = logging.getLogger(__name__)


class SpoolUnusable(Exception):
    """The folder cannot hold a spool; the message is one sentence with path and cause."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A durable record that the writer does not have yet. Numbers rise in the order of the appends."""

    seq: int
    trace_id: str
    tenant: str
    placed: Placed
    segment: Segment


class Spool:
    """
    A spool that this process owns. Its methods belong to one event loop.

    Attributes:
        unsent: Entries in order that nobody has taken to the stream yet; the emitter pops from the left.
        appended: Set whenever *unsent* grew.
        emptied: Set while the writer has everything.
        refused: Appends refused since the start.
    """

    def __init__(self, held: Lease, max_bytes: int) -> None:
        """Use `open` instead."""
        self._lease = held
        self._max_bytes = max_bytes
        self._files = Files(held.folder, max_bytes)
        self._committer = Committer(self._files, self._enter)
        self._entries: dict[str, Entry] = {}
        self._next_seq = 1
        self._closing = False
        self.unsent: deque[Entry] = deque()
        self.appended = asyncio.Event()
        self.emptied = asyncio.Event()
        self.emptied.set()
        self.refused = 0

    @classmethod
    def open(cls, folder: Path, max_bytes: int) -> "Spool":
        """
        Take a spool under *folder*: one that is free, else a new one; take over what the other free ones hold.

        Args:
            folder: The root; made if it is absent. Several planners may share it.
            max_bytes: Bound of the files' size together.

        Raises:
            SpoolUnusable: The folder cannot be made, locked, read or written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            free = lease.take_free(folder)
            spool = cls(free.pop(0) if free else lease.create(folder), max_bytes)
            spool._recover()
        except OSError as fault:
            raise SpoolUnusable(f"the trace spool {folder} cannot be used: {fault.strerror or fault}") from fault
        except SegmentUnknown as fault:
            raise SpoolUnusable(f"the trace spool {folder} cannot be used: {fault}") from fault
        for orphan in free:
            spool._adopt(orphan)
        spool._committer.start()
        return spool

    @property
    def name(self) -> str:
        """The spool's own name, a UUID that stays over restarts."""
        return self._lease.name

    @property
    def depth(self) -> int:
        """Entries that the writer does not have yet."""
        return len(self._entries)

    @property
    def syncs(self) -> int:
        """Group commits since the start."""
        return self._committer.syncs

    async def append(self, record: bytes, trace_id: str) -> None:
        """
        Make *record* durable.

        An append that is cancelled may still become durable: the call was made, so its record may be kept.

        Args:
            record: The trace record, msgpack; it names its tenant.
            trace_id: Its id.

        Raises:
            TraceBacklogFull: The spool is full, closing or cannot be written; the record was not taken.
        """
        packed = segment.pack(self._next_seq, trace_id, tenant_of(record), record)
        used = self._files.size + self._committer.waiting_bytes
        if self._closing or used + len(packed.content) > self._max_bytes:
            self.refused += 1
            raise TraceBacklogFull
        self._next_seq += 1
        if not await self._committer.submit(packed):
            self.refused += 1
            raise TraceBacklogFull

    def get(self, tenant: str, trace_id: str) -> bytes | None:
        """The record of *trace_id*, if it is *tenant*'s and still here."""
        entry = self._entries.get(trace_id)
        return self.read(entry) if entry is not None and entry.tenant == tenant else None

    def holds(self, entry: Entry) -> bool:
        """Whether *entry* is still needed, and can be read."""
        return self._entries.get(entry.trace_id) is entry

    def read(self, entry: Entry) -> bytes:
        """The record of an entry that the spool holds."""
        return entry.segment.read(entry.placed)

    def persisted(self, trace_ids: Iterable[str]) -> None:
        """Forget records that the writer has; files without needed entries are removed."""
        for trace_id in trace_ids:
            entry = self._entries.pop(trace_id, None)
            if entry is not None:
                self._files.release(entry.segment)
        if not self._entries:
            self.emptied.set()

    async def close(self) -> None:
        """Finish the appends that were accepted, then leave the spool to its next owner."""
        self._closing = True
        await self._committer.close()
        self._files.close()
        self._lease.release()

    def _recover(self) -> None:
        for path in segment.segments(self._lease.folder):
            reopened, entries = _reopen(path)
            new = self._new(entries)
            self._files.add(reopened, len(new))
            self._enter(reopened, new)
            self._next_seq = max([self._next_seq, *(entry.seq + 1 for entry in entries)])

    def _adopt(self, orphan: Lease) -> None:
        """Append what *orphan* holds to this spool, then remove it; a crash in between only repeats entries."""
        count = 0
        try:
            for path in segment.segments(orphan.folder):
                left, entries = _reopen(path)
                new = self._new(entries)
                if new:
                    packed = [
                        segment.pack(seq, entry.trace_id, entry.tenant, left.read(entry))
                        for seq, entry in enumerate(new, self._next_seq)
                    ]
                    self._next_seq += len(new)
                    self._enter(*write(self._files, packed))
                left.close()
                count += len(new)
            orphan.remove()
        except (OSError, SegmentUnknown) as fault:
            # It stays as it is for the next start; this planner can work without it.
            _log.error("the orphaned spool %s cannot be adopted: %s", orphan.folder, fault)
            orphan.release()
            return
        if count:
            _log.warning("adopted %d trace records of the orphaned spool %s", count, orphan.name)

    def _new(self, entries: list[Placed]) -> list[Placed]:
        """Those of *entries* that are not held already, each trace once; the first counts."""
        first = {entry.trace_id: entry for entry in reversed(entries)}
        return [e for e in entries if first[e.trace_id] is e and e.trace_id not in self._entries]

    def _enter(self, held: Segment, entries: list[Placed]) -> None:
        for placed in entries:
            entry = Entry(placed.seq, placed.trace_id, placed.tenant, placed, held)
            self._entries[entry.trace_id] = entry
            self.unsent.append(entry)
        if self._entries:
            self.emptied.clear()
            self.appended.set()


def _reopen(path: Path) -> tuple[Segment, list[Placed]]:
    reopened, entries, lost = Segment.reopen(path)
    if lost:
        _log.warning("%s: %d bytes hold no valid entry; a crash leaves such bytes behind", path, lost)
    return reopened, entries

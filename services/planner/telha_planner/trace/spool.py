"""
The spool: where the record of a call becomes durable before the call is answered.

    append ──► waiting ──► one thread: write, sync (many appends, one sync) ──► entry ──► emitter ──► persisted ──► gone

Rule 1: `append` returns after the sync, or raises and nothing was taken.
Rule 2: an entry leaves only when the trace writer has it; a stream that took it is not enough.
Rule 3: bounded. A full spool refuses; it never drops.
Rule 4: spools that dead planners left beside this one are taken over, at the start and later (`tend`).
Rule 5: a folder that is removed under a running planner is made again, with what was in it, before anything else is
taken.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from telha_planner.core.errors import TraceBacklogFull

from . import lease, segment
from .adoption import Orphan, Orphans, readable
from .commit import Committer
from .envelope import tenant_of
from .files import Files
from .lease import Lease
from .segment import EntryDamaged, Placed, Segment

_log = logging.getLogger(__name__)


class SpoolUnusable(Exception):
    """The folder cannot hold a spool; the message is one sentence with path and cause."""


@dataclass(frozen=True, slots=True)
class Entry:
    """
    A durable record that the writer does not have yet.

    Attributes:
        order: Rises in the order in which entries are to leave.
        spool, seq: Where it was appended, and its number there.
    """

    order: int
    spool: str
    seq: int
    trace_id: str
    tenant: str
    placed: Placed
    segment: Segment
    files: Files


class Spool:
    """
    A spool that this process owns, with those that it took over. Its methods belong to one event loop.

    Attributes:
        name: Its name, a UUID that stays over restarts; of several that are free a planner takes the first.
        unsent: Entries in order that nobody has taken to the stream yet; the emitter pops from the left.
        appended: Set whenever *unsent* grew.
        emptied: Set while the writer has everything.
        refused: Appends refused since the start.
        adopted: Entries taken over from others since the start.
        damaged: Entries that could not be read again since the start.
    """

    def __init__(self, held: Lease, max_bytes: int) -> None:
        """Use `open` instead."""
        self._lease = held
        self._max_bytes = max_bytes
        self._files = Files(held.folder, max_bytes)
        self._committer = Committer(self._files, self._enter_own, self._repair)
        self._orphans = Orphans(held.folder.parent, max_bytes)
        self._entries: dict[str, Entry] = {}
        self._by_spool: dict[str, dict[str, None]] = {}
        self._finished: list[str] = []
        self._next_seq = 1
        self._next_order = 1
        self._full = False
        self._closing = False
        self.name = held.name
        self.unsent: deque[Entry] = deque()
        self.appended = asyncio.Event()
        self.emptied = asyncio.Event()
        self.emptied.set()
        self.refused = 0
        self.adopted = 0
        self.damaged = 0

    @classmethod
    def open(cls, folder: Path, max_bytes: int) -> "Spool":
        """
        Take a spool under *folder*: one that is free, else a new one; take over what the other free ones hold.

        Args:
            folder: The root; made if it is absent. Several planners may share it.
            max_bytes: Bound of the files' size together; what is taken over has its own.

        Raises:
            SpoolUnusable: The folder cannot be made, locked, read or written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            free = lease.take_free(folder)
            spool = cls(free.pop(0) if free else lease.create(folder), max_bytes)
            for left in free:
                left.release()
            spool._recover()
            spool._adopt(spool._orphans.take())
        except OSError as fault:
            raise SpoolUnusable(f"the trace spool {folder} cannot be used: {fault.strerror or fault}") from fault
        spool._committer.start()
        return spool

    @property
    def depth(self) -> int:
        """Entries that the writer does not have yet."""
        return len(self._entries)

    @property
    def size(self) -> int:
        """Bytes of the files that hold them, spools that were taken over included."""
        return self._files.size + self._orphans.size

    @property
    def oldest(self) -> str | None:
        """Trace id of the entry that waits longest."""
        return next(iter(self._entries), None)

    @property
    def syncs(self) -> int:
        """Group commits since the start."""
        return self._committer.syncs

    def observe_commits(self, committed: Callable[[float], object]) -> None:
        """Tell *committed*, in a thread, how many seconds each group commit takes."""
        self._committer.committed = committed

    async def append(self, record: bytes, trace_id: str) -> bool:
        """
        Make *record* durable; always true.

        An append that is cancelled may still become durable: the call was made, so its record may be kept.

        Args:
            record: The trace record, msgpack; it names its tenant.
            trace_id: Its id.

        Raises:
            TraceBacklogFull: The spool is full, closing or cannot be written; the record was not taken.
        """
        packed = segment.pack(self._next_seq, trace_id, tenant_of(record), record)
        used = self._files.size + self._committer.waiting_bytes
        full = used + len(packed.content) > self._max_bytes
        if full and not self._full:
            _log.error(
                "the trace spool is full with %d records; calls fail until the trace writer has some", self.depth
            )
        self._full = full
        if self._closing or full:
            self.refused += 1
            raise TraceBacklogFull
        self._next_seq += 1
        if not await self._committer.submit(packed):
            self.refused += 1
            raise TraceBacklogFull
        return True

    def get(self, tenant: str, trace_id: str) -> bytes | None:
        """The record of *trace_id*, if it is *tenant*'s and still here."""
        entry = self._entries.get(trace_id)
        if entry is None or entry.tenant != tenant:
            return None
        try:
            return entry.segment.read(entry.placed)
        except (OSError, EntryDamaged):
            return None

    def spools(self) -> list[str]:
        """Names of the spools in which `get` looks: this one and those that were taken over."""
        return [self.name, *self._orphans.names]

    def holds(self, entry: Entry) -> bool:
        """Whether *entry* is still needed."""
        return self._entries.get(entry.trace_id) is entry

    def read(self, entry: Entry) -> bytes | None:
        """
        The record of an entry that the spool holds.

        None if it cannot be read: it is then no longer held, and stays on the disk for the next start.
        """
        try:
            return entry.segment.read(entry.placed)
        except (OSError, EntryDamaged) as fault:
            _log.error("trace %s cannot be read from the spool: %s", entry.trace_id, fault)
            self.damaged += 1
            self._forget(entry.trace_id)
            return None

    def persisted(self, trace_ids: Iterable[str]) -> None:
        """Forget records that the writer has; files without needed entries are removed."""
        for trace_id in trace_ids:
            entry = self._forget(trace_id)
            if entry is not None:
                entry.files.release(entry.segment)
        self._finished += self._orphans.finish()

    def erase(self, tenant: str, trace_id: str) -> None:
        """Forget *trace_id* if it is *tenant*'s; its bytes go as soon as all that stands beside it is settled."""
        entry = self._entries.get(trace_id)
        if entry is not None and entry.tenant == tenant:
            self.persisted([trace_id])
        # Settled or not, it may stand in the file that is being written.
        self.roll()

    def roll(self) -> None:
        """Begin another file, so that the one at hand goes as soon as nothing in it is needed."""
        self._committer.roll()

    def oldest_of_each(self) -> dict[str, str | None]:
        """Per spool that is held: the trace id that was appended first and is not settled; None if all are."""
        held = {name: next(iter(self._by_spool.get(name, ())), None) for name in self._orphans.names}
        return held | {self.name: next(iter(self._by_spool.get(self.name, ())), None)}

    def finished(self) -> list[str]:
        """Names of spools that were taken over, emptied and removed since the last call."""
        names, self._finished = self._finished, []
        return names

    async def tend(self, every_s: float = 10.0) -> None:
        """Until cancelled: take over what others leave, and make files again that were removed."""
        while True:
            await asyncio.sleep(every_s)
            self._committer.inspect()
            try:
                found = await asyncio.to_thread(self._orphans.take)
            except OSError as fault:
                _log.warning("cannot look for orphaned spools: %s", fault)
                continue
            self._adopt(found)

    async def close(self) -> None:
        """Finish the appends that were accepted, then leave the spool to its next owner."""
        self._closing = True
        await self._committer.close()
        self._files.close()
        self._orphans.close()
        self._lease.release()

    def _recover(self) -> None:
        for reopened, entries in readable(self._lease.folder):
            new = self._new(entries)
            self._files.add(reopened, len(new))
            self._enter(reopened, new, self.name, self._files)
            self._next_seq = max([self._next_seq, *(entry.seq + 1 for entry in entries)])

    def _adopt(self, orphans: list[Orphan]) -> None:
        for orphan in orphans:
            count = 0
            for reopened, entries in orphan.found:
                new = self._new(entries)
                orphan.files.add(reopened, len(new))
                self._enter(reopened, new, orphan.held.name, orphan.files)
                count += len(new)
            self._orphans.keep(orphan)
            self.adopted += count
            if count:
                _log.warning("adopted %d trace records of the orphaned spool %s", count, orphan.held.name)
        self._finished += self._orphans.finish()

    def _repair(self) -> None:
        """Make the folder again if it was removed, and what was in it; in the commit thread."""
        before, self._lease = self._lease, lease.regained(self._lease)
        written = self._files.restore(self._lease.folder)
        if written or before is not self._lease:
            _log.warning("the spool %s was removed; made it again with %d files", before.folder, written)

    def _new(self, entries: list[Placed]) -> list[Placed]:
        """Those of *entries* that are not held already, each trace once; the first counts."""
        first = {entry.trace_id: entry for entry in reversed(entries)}
        return [e for e in entries if first[e.trace_id] is e and e.trace_id not in self._entries]

    def _enter_own(self, held: Segment, entries: list[Placed]) -> None:
        self._enter(held, entries, self.name, self._files)

    def _enter(self, held: Segment, entries: list[Placed], spool: str, files: Files) -> None:
        of_spool = self._by_spool.setdefault(spool, {})
        for placed in entries:
            entry = Entry(self._next_order, spool, placed.seq, placed.trace_id, placed.tenant, placed, held, files)
            self._next_order += 1
            self._entries[entry.trace_id] = entry
            of_spool[entry.trace_id] = None
            self.unsent.append(entry)
        if self._entries:
            self.emptied.clear()
            self.appended.set()

    def _forget(self, trace_id: str) -> Entry | None:
        entry = self._entries.pop(trace_id, None)
        if entry is not None:
            self._by_spool[entry.spool].pop(trace_id, None)
        if not self._entries:
            self.emptied.set()
        return entry

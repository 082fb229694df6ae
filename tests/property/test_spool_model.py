"""
The spool against a model, step by step: appends, confirmations, crashes, torn and damaged files, a full disk, orphans.

The model holds what was acknowledged and is not settled. Law: after every step and every start, the spool holds at
least that, byte for byte, each once; what it holds beyond is what was refused or cancelled at a crash, or settled
before one.
"""

import asyncio
import shutil
import tempfile
from pathlib import Path
from uuid import UUID

import hypothesis.strategies as st
import msgpack
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from telha_planner.core.errors import TraceBacklogFull
from telha_planner.trace import segment
from telha_planner.trace.spool import Spool

MAX_BYTES = 64 * 1024


class FullDisk:
    """Stands between the spool and the disk: refuses writes, or syncs, while told to."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.refuses = ""
        self._write, self._sync = segment._write_all, segment._sync
        patch.setattr(segment, "_write_all", self.write)
        patch.setattr(segment, "_sync", self.sync)

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        if self.refuses == "write":
            self._write(descriptor, content[: len(content) // 2], offset)
            raise OSError(28, "No space left on device")
        self._write(descriptor, content, offset)

    def sync(self, descriptor: int) -> None:
        if self.refuses == "sync":
            raise OSError(5, "Input/output error")
        self._sync(descriptor)


class SpoolModel(RuleBasedStateMachine):
    """One root, one planner at a time, siblings that die."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="sm-"))
        self.patch = pytest.MonkeyPatch()
        self.disk = FullDisk(self.patch)
        self.loop = asyncio.new_event_loop()
        self.owed: dict[str, bytes] = {}
        self.known: dict[str, bytes] = {}
        self.spool: Spool
        self.count = 0

    @initialize()
    def start(self) -> None:
        self.spool = self.loop.run_until_complete(self._opened())

    async def _opened(self) -> Spool:
        return Spool.open(self.root, MAX_BYTES)

    def _record(self, size: int) -> tuple[str, bytes]:
        self.count += 1
        trace_id = str(UUID(int=self.count << 64 | 7 << 76 | 2 << 62))
        record: bytes = msgpack.packb({"tenant": "acme", "no": self.count, "filler": bytes([self.count % 256]) * size})
        self.known[trace_id] = record
        return trace_id, record

    async def _append(self, spool: Spool, sizes: list[int]) -> None:
        made = [self._record(size) for size in sizes]
        outcomes = await asyncio.gather(
            *(spool.append(record, trace_id) for trace_id, record in made), return_exceptions=True
        )
        for (trace_id, record), outcome in zip(made, outcomes, strict=True):
            if outcome is True:
                self.owed[trace_id] = record
            else:
                assert isinstance(outcome, TraceBacklogFull)

    @rule(sizes=st.lists(st.integers(0, 6000), min_size=1, max_size=5))
    def append(self, sizes: list[int]) -> None:
        before = self.spool.size
        self.loop.run_until_complete(self._append(self.spool, sizes))
        assert self.spool._files.size <= MAX_BYTES or self.spool.size <= before

    @rule(sizes=st.lists(st.integers(0, 6000), min_size=1, max_size=3), how=st.sampled_from(["write", "sync"]))
    def append_to_a_full_disk(self, sizes: list[int], how: str) -> None:
        self.disk.refuses = how
        before = dict(self.owed)
        self.loop.run_until_complete(self._append(self.spool, sizes))
        self.disk.refuses = ""
        assert self.owed == before

    @precondition(lambda self: self.owed)
    @rule(data=st.data())
    def persist(self, data: st.DataObject) -> None:
        done = data.draw(st.lists(st.sampled_from(sorted(self.owed)), unique=True))
        self.spool.persisted(done)
        for trace_id in done:
            del self.owed[trace_id]

    @rule(sizes=st.lists(st.integers(0, 3000), min_size=1, max_size=4))
    def sibling_dies(self, sizes: list[int]) -> None:
        sibling = self.loop.run_until_complete(self._opened())
        self.loop.run_until_complete(self._append(sibling, sizes))
        self._kill(sibling)

    @rule()
    def adopt(self) -> None:
        self.spool._adopt(self.spool._orphans.take())

    @rule()
    def folder_is_removed(self) -> None:
        shutil.rmtree(self.root / self.spool.name, ignore_errors=True)
        # Whatever is appended next, and a look without an append, must make it again before a crash.
        self.loop.run_until_complete(self._append(self.spool, [10]))
        self.spool._repair()

    @rule(torn=st.binary(max_size=200))
    def crash_and_start(self, torn: bytes) -> None:
        active = self.spool._files._active
        self._kill(self.spool)
        if torn and active is not None and active.path.exists():
            with active.path.open("ab") as file:
                file.write(torn)
        self.start()
        self.spool._adopt(self.spool._orphans.take())

    @rule()
    def stop_and_start(self) -> None:
        self.loop.run_until_complete(self.spool.close())
        self.start()

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        if not hasattr(self, "spool"):
            return
        held = self.spool._entries
        missing = self.owed.keys() - held.keys() - self._left_to_adopt()
        assert not missing
        for trace_id, record in self.owed.items():
            if trace_id in held:
                assert self.spool.get("acme", trace_id) == record
        waiting = [entry.trace_id for entry in self.spool.unsent if self.spool.holds(entry)]
        assert len(waiting) == len(set(waiting))
        assert all(self.spool.get("acme", trace_id) == self.known[trace_id] for trace_id in held)

    def _left_to_adopt(self) -> set[str]:
        found: set[str] = set()
        for path in self.root.glob("*/*.spool"):
            found |= {entry.trace_id for entry in segment._scan(path.read_bytes())}
        return found

    def _kill(self, spool: Spool) -> None:
        """What the kernel does at `kill -9`: the thread ends, every descriptor is closed, nothing is written."""

        async def kill() -> None:
            await spool._committer.close()

        self.loop.run_until_complete(kill())
        for files in [spool._files, *(orphan.files for orphan in spool._orphans._taken)]:
            for held in files._held:
                held.close()
        for lease in [spool._lease, *(orphan.held for orphan in spool._orphans._taken)]:
            lease.release()

    def teardown(self) -> None:
        if hasattr(self, "spool"):
            self._kill(self.spool)
            # Whatever is still owed is on the disk.
            self.start()
            self.spool._adopt(self.spool._orphans.take())
            assert self.owed.keys() <= self.spool._entries.keys()
            assert all(self.spool.get("acme", trace_id) == record for trace_id, record in self.owed.items())
            self._kill(self.spool)
        self.loop.close()
        self.patch.undo()
        shutil.rmtree(self.root)


def test_the_spool_holds_what_the_model_owes() -> None:
    """X3: crashes at every step, torn files, a full disk, orphans, a removed folder; nothing is lost or doubled."""
    run_state_machine_as_test(SpoolModel, settings=settings(max_examples=25, stateful_step_count=25, deadline=None))

"""The spool: durable before the answer, bounded, nothing half taken, nothing left behind."""

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgpack
import pytest
from telha_planner.core.errors import TraceBacklogFull
from telha_planner.trace import segment
from telha_planner.trace.spool import Spool, SpoolUnusable

MB = 1024 * 1024


def record(tenant: str = "acme", size: int = 100) -> bytes:
    return msgpack.packb({"v": 1, "kind": "plan", "tenant": tenant, "filler": os.urandom(size)})


async def filled(spool: Spool, count: int, size: int = 100) -> dict[str, bytes]:
    records = {str(uuid4()): record(size=size) for _ in range(count)}
    for trace_id, content in records.items():
        await spool.append(content, trace_id)
    return records


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


def test_an_appended_record_is_read_again_after_a_restart(tmp_path: Path) -> None:
    """X3, X4: in order, under the same name, for its own tenant alone."""

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        records, name = await filled(spool, 5), spool.name
        first = next(iter(records))
        assert spool.get("acme", first) == records[first]
        assert spool.get("rival", first) is None
        assert spool.get("acme", str(uuid4())) is None
        await spool.close()
        again = Spool.open(tmp_path, MB)
        assert again.name == name
        assert [entry.trace_id for entry in again.unsent] == list(records)
        assert {entry.trace_id: again.read(entry) for entry in again.unsent} == records
        await again.append(record(), str(uuid4()))
        sequence = [entry.seq for entry in again.unsent]
        assert sequence == sorted(set(sequence))
        await again.close()

    run(test)


def test_many_appends_share_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X3: group commit. While one sync runs, whatever arrives waits for the next, together."""
    entered, go = threading.Event(), threading.Event()
    real = segment._sync

    def slow(descriptor: int) -> None:
        entered.set()
        assert go.wait(10)
        real(descriptor)

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        await filled(spool, 1)
        monkeypatch.setattr(segment, "_sync", slow)
        first = asyncio.create_task(filled(spool, 1))
        await asyncio.to_thread(entered.wait, 10)
        others = [asyncio.create_task(filled(spool, 1)) for _ in range(50)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in (first, *others))
        go.set()
        await asyncio.gather(first, *others)
        assert spool.syncs == 3
        assert spool.depth == 52
        await spool.close()

    run(test)


def test_a_record_leaves_only_when_it_is_persisted(tmp_path: Path) -> None:
    """X3: files go when all in them are persisted, and only then."""

    async def test() -> None:
        spool = Spool.open(tmp_path, 64 * 1024)
        records = list(await filled(spool, 40, size=1000))
        files = tmp_path / spool.name
        many = len(segment.segments(files))
        assert many > 3
        spool.persisted(records[:1])
        assert len(segment.segments(files)) == many
        spool.persisted([*records[1:-1], str(uuid4())])
        assert len(segment.segments(files)) <= 2
        assert spool.depth == 1
        assert spool.get("acme", records[0]) is None
        assert spool.get("acme", records[-1]) is not None
        spool.persisted(records[-1:])
        await spool.close()
        assert segment.segments(files) == []

    run(test)


def test_a_full_spool_refuses_and_recovers(tmp_path: Path) -> None:
    """X3: bounded; nothing is dropped, and room comes back as records are persisted."""

    async def test() -> None:
        spool = Spool.open(tmp_path, 32 * 1024)
        taken: list[str] = []
        with contextlib.suppress(TraceBacklogFull):
            while len(taken) < 100:
                taken.extend(await filled(spool, 1, size=1000))
        assert 24 <= len(taken) <= 32
        assert spool.refused == 1
        assert [entry.trace_id for entry in spool.unsent] == taken
        spool.persisted(taken)
        await filled(spool, 20, size=1000)
        await spool.close()

    run(test)


def test_a_record_larger_than_an_eighth_of_the_spool_fits_while_there_is_room(tmp_path: Path) -> None:
    """X3: a record larger than an eighth of the spool fits while there is room."""

    async def test() -> None:
        spool = Spool.open(tmp_path, 64 * 1024)
        for _ in range(5):
            (trace_id,) = await filled(spool, 1, size=40_000)
            spool.persisted([trace_id])
        await spool.close()

    run(test)


def test_a_disk_that_refuses_is_a_refused_call(tmp_path: Path) -> None:
    """X3: a write error takes nothing, harms nothing before it, and the next call tries again."""

    async def test() -> None:
        spool = Spool.open(tmp_path, 8 * MB)
        before = await filled(spool, 3)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        # A file size limit stands in for a full disk: the kernel writes a part, then refuses.
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            for _ in range(2):
                with pytest.raises(TraceBacklogFull):
                    await filled(spool, 1, size=10_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)
        after = await filled(spool, 3)
        await spool.close()
        again = Spool.open(tmp_path, 8 * MB)
        assert {entry.trace_id: again.read(entry) for entry in again.unsent} == before | after
        await again.close()

    run(test)


def test_two_planners_never_share_a_spool_and_orphans_are_adopted(tmp_path: Path) -> None:
    """X3: a spool whose planner is gone is taken over by the next planner that starts beside it."""

    async def test() -> None:
        one, two = Spool.open(tmp_path, MB), Spool.open(tmp_path, MB)
        assert one.name != two.name
        left = [await filled(one, 3), await filled(two, 4)]
        await one.close()
        await two.close()
        heir = Spool.open(tmp_path, MB)
        assert heir.name in {one.name, two.name}
        assert {entry.trace_id: heir.read(entry) for entry in heir.unsent} == left[0] | left[1]
        assert {entry.spool for entry in heir.unsent} == {one.name, two.name}
        order = [entry.order for entry in heir.unsent]
        assert order == sorted(set(order))
        assert heir.adopted in {3, 4}
        heir.persisted(left[0] | left[1])
        assert names(tmp_path) == [heir.name]
        assert len(heir.finished()) == 1
        await heir.close()

    run(test)


def test_an_orphan_that_cannot_be_read_stays_for_a_newer_planner(tmp_path: Path) -> None:
    """X3: an orphan that cannot be read stays for a newer planner."""

    async def test() -> None:
        one, two = Spool.open(tmp_path, MB), Spool.open(tmp_path, MB)
        await one.close()
        await two.close()
        last = max(one.name, two.name)
        foreign = tmp_path / last / "00000000000000000009.spool"
        foreign.write_bytes(b"TLHSPOOL\x02" + bytes(7))
        heir = Spool.open(tmp_path, MB)
        await filled(heir, 1)
        assert foreign.exists()
        await heir.close()

    run(test)


APPENDER = """
import asyncio, os, sys, uuid
from pathlib import Path
import msgpack
from telha_planner.trace.spool import Spool

async def main():
    spool = Spool.open(Path(sys.argv[1]), 1 << 26)
    async def one(worker):
        while True:
            trace_id = str(uuid.uuid4())
            await spool.append(msgpack.packb({"tenant": "acme", "id": trace_id}), trace_id)
            os.write(1, (trace_id + "\\n").encode())
    await asyncio.gather(*map(one, range(8)))

asyncio.run(main())
"""


@pytest.mark.process
def test_a_killed_planner_loses_no_acknowledged_record(tmp_path: Path) -> None:
    """X3: `kill -9` in the midst of appends; everything that was acknowledged is there, once."""
    child = subprocess.Popen([sys.executable, "-c", APPENDER, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child.stdout:
        acknowledged = [child.stdout.readline() for _ in range(300)]
        child.kill()
        child.wait()
        acknowledged += [line for line in child.stdout.read().splitlines(keepends=True) if line.endswith(b"\n")]

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        found = [entry.trace_id for entry in spool.unsent]
        assert len(found) == len(set(found))
        assert {line.decode().strip() for line in acknowledged} <= set(found)
        assert all(msgpack.unpackb(spool.read(entry))["id"] == entry.trace_id for entry in spool.unsent)
        await spool.close()

    run(test)


def test_a_folder_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    """X3: a folder that cannot be used is one sentence."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SpoolUnusable, match="cannot be used"):
        Spool.open(tmp_path / "file", MB)


def test_a_file_that_was_rolled_goes_with_what_is_settled(tmp_path: Path) -> None:
    """M5, X1: as soon as no entry of it is needed; what comes meanwhile is kept in another."""

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        spool.roll()
        first = list(await filled(spool, 3))
        (old,) = (tmp_path / spool.name).glob("*.spool")
        spool.persisted(first[:2])
        spool.roll()
        later = await filled(spool, 2)
        assert old in set((tmp_path / spool.name).glob("*.spool")), "one of its records is still needed"
        spool.erase("rival", first[2])
        assert spool.get("acme", first[2]) is not None, "another tenant's"
        spool.erase("acme", first[2])
        async with asyncio.timeout(60):
            while old in set((tmp_path / spool.name).glob("*.spool")):  # noqa: ASYNC110  # a thread removes it
                await asyncio.sleep(0.01)
        assert set(spool.oldest_of_each().values()) == {next(iter(later))}
        await spool.close()
        again = Spool.open(tmp_path, MB)
        assert {entry.trace_id: again.read(entry) for entry in again.unsent} == later
        await again.close()

    run(test)


def test_a_closing_spool_takes_nothing_more(tmp_path: Path) -> None:
    """X3: a closing spool takes nothing more."""

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        accepted = asyncio.create_task(filled(spool, 1))
        await asyncio.sleep(0)
        await spool.close()
        assert len(await accepted) == 1
        with pytest.raises(TraceBacklogFull):
            await filled(spool, 1)

    run(test)


@pytest.mark.parametrize(
    "content", [b"\xc1", msgpack.packb([1]), msgpack.packb({"a": 1}), msgpack.packb({"tenant": 1})]
)
def test_a_record_without_tenant_is_a_fault_of_ours(content: bytes, tmp_path: Path) -> None:
    """X3: a record without tenant is a fault of ours."""

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        with pytest.raises(ValueError):
            await spool.append(content, str(uuid4()))
        await spool.close()

    run(test)

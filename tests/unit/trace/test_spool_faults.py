"""The spool on a disk that fails: removed folders, flipped bits, unreadable files, siblings that die beside it."""

import asyncio
import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgpack
import pytest
from telha_planner.core.errors import TraceBacklogFull, Unavailable
from telha_planner.trace import segment
from telha_planner.trace.best_effort import BestEffort
from telha_planner.trace.spool import Spool

MB = 1024 * 1024


def record(size: int = 100) -> bytes:
    content: bytes = msgpack.packb({"tenant": "acme", "filler": os.urandom(size)})
    return content


async def filled(spool: Spool, count: int, size: int = 100) -> dict[str, bytes]:
    records = {str(uuid4()): record(size) for _ in range(count)}
    for trace_id, content in records.items():
        assert await spool.append(content, trace_id)
    return records


async def crash(spool: Spool) -> None:
    """End as a killed process does: nothing more is written, every lock is free."""
    await spool._committer.close()
    spool._lease.release()


def held(spool: Spool) -> dict[str, bytes | None]:
    return {entry.trace_id: spool.read(entry) for entry in spool.unsent}


def files(root: Path) -> list[Path]:
    return sorted(root.glob("*/*.spool"))


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


def test_a_folder_that_is_removed_is_made_again_with_what_was_in_it(tmp_path: Path) -> None:
    """X3: the record that finds it gone is durable, and so is all before it; no restart is needed."""
    root = tmp_path / "spool"

    async def test() -> None:
        spool = Spool.open(root, MB)
        before = await filled(spool, 20, size=20_000)
        shutil.rmtree(root)
        after = await filled(spool, 1)
        assert spool.refused == 0
        await crash(spool)
        again = Spool.open(root, MB)
        assert held(again) == before | after
        await again.close()

    run(test)


def test_a_removed_folder_is_noticed_while_nothing_is_asked(tmp_path: Path) -> None:
    """X3: what is owed is durable again within a round of `tend`, without a further call."""

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        before = await filled(spool, 3)
        written = sum(path.stat().st_size for path in files(tmp_path))
        shutil.rmtree(tmp_path / spool.name)
        tending = asyncio.create_task(spool.tend(0.01))
        async with asyncio.timeout(60):
            while sum(path.stat().st_size for path in files(tmp_path)) < written:  # noqa: ASYNC110  # by a thread
                await asyncio.sleep(0.01)
        tending.cancel()
        await crash(spool)
        again = Spool.open(tmp_path, MB)
        assert held(again) == before
        await again.close()

    run(test)


def test_a_sibling_that_dies_is_adopted_while_running(tmp_path: Path) -> None:
    """X3: its records are carried on by a planner that has been running all the time; its folder goes at the end."""

    async def test() -> None:
        heir = Spool.open(tmp_path, MB)
        sibling = Spool.open(tmp_path, MB)
        left = await filled(sibling, 5)
        tending = asyncio.create_task(heir.tend(0.01))
        await asyncio.sleep(0.1)
        assert heir.depth == 0
        await crash(sibling)
        async with asyncio.timeout(60):
            await heir.appended.wait()
        assert held(heir) == left
        assert heir.oldest_of_each()[sibling.name] == next(iter(left))
        heir.persisted(left)
        assert heir.finished() == [sibling.name]
        assert not (tmp_path / sibling.name).exists()
        tending.cancel()
        await heir.close()

    run(test)


def test_an_heir_that_dies_leaves_both_spools(tmp_path: Path) -> None:
    """X3: adoption copies nothing, so there is no moment at which a crash loses or doubles an entry."""

    async def test() -> None:
        one, two = Spool.open(tmp_path, MB), Spool.open(tmp_path, MB)
        left = await filled(one, 3) | await filled(two, 3)
        await crash(one)
        await crash(two)
        for _ in range(3):
            heir = Spool.open(tmp_path, MB)
            assert held(heir) == left
            assert len(heir.unsent) == 6
            await heir.close()

    run(test)


def test_a_copy_of_a_spool_doubles_nothing(tmp_path: Path) -> None:
    """X3: an orphan with records that are held already is only removed."""

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        left = await filled(spool, 3)
        await crash(spool)
        shutil.copytree(tmp_path / spool.name, tmp_path / str(uuid4()))
        heir = Spool.open(tmp_path, MB)
        assert held(heir) == left
        assert len(heir.unsent) == heir.depth == 3
        heir.persisted(left)
        assert [path.name for path in files(tmp_path)] == []
        assert heir.spools() == [heir.name]
        await heir.close()

    run(test)


def test_adoption_does_not_fill_the_heir(tmp_path: Path) -> None:
    """X3: a full orphan makes no call fail; each spool is bounded by itself."""

    async def test() -> None:
        heir, sibling = Spool.open(tmp_path, 64 * 1024), Spool.open(tmp_path, 64 * 1024)
        with contextlib.suppress(TraceBacklogFull):
            await filled(sibling, 100, size=1000)
        await crash(sibling)
        heir._adopt(heir._orphans.take())
        assert heir.depth > 40
        await filled(heir, 5, size=1000)
        await heir.close()

    run(test)


def test_a_flipped_bit_is_noticed_when_the_record_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """X3: what is not what was written is never sent; the others go on, and the file stays."""

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        good, bad, other = list(await filled(spool, 3))
        placed = spool._entries[bad].placed
        with files(tmp_path)[0].open("r+b") as file:
            file.seek(placed.offset + 20)
            byte = file.read(1)[0]
            file.seek(placed.offset + 20)
            file.write(bytes([byte ^ 4]))
        assert spool.get("acme", bad) is None
        assert [trace_id for trace_id, content in held(spool).items() if content is None] == [bad]
        assert (spool.damaged, spool.depth) == (1, 2)
        spool.persisted([good, other])
        assert spool.emptied.is_set()
        await spool.close()
        assert files(tmp_path)

    run(test)
    assert "cannot be read from the spool" in caplog.text


@pytest.mark.parametrize("damage", ["header", "zeros", "version"])
def test_a_file_with_a_damaged_head_hinders_no_start(tmp_path: Path, damage: str) -> None:
    """X3: entries behind a bad head are found; a file that holds none, or is a newer planner's, stops nobody."""

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        left = await filled(spool, 3)
        await crash(spool)
        (path,) = files(tmp_path)
        content = bytearray(path.read_bytes())
        if damage == "header":
            content[2] ^= 1
        elif damage == "zeros":
            content = bytearray(16)
        else:
            content[8] = 2
        path.write_bytes(content)
        again = Spool.open(tmp_path, MB)
        assert held(again) == (left if damage == "header" else {})
        new = await filled(again, 2)
        again.persisted([*left, *new])
        await again.close()
        assert path.exists() == (damage == "version")

    run(test)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("step", ["write", "sync", "create"])
def test_every_refusal_of_the_disk_is_typed_and_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, step: str, caplog: pytest.LogCaptureFixture
) -> None:
    """X3: `TRACE_BACKLOG_FULL`, one line in the log however many calls; and the next call after it is well is taken."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        before = await filled(spool, 2)
        with monkeypatch.context() as patch:
            if step == "create":
                spool._files._active.sealed = True  # type: ignore[union-attr]  # it was written to
                patch.setattr(segment.Segment, "create", refuse)
            else:
                patch.setattr(segment, f"_{step}" if step == "sync" else "_write_all", refuse)
            for _ in range(5):
                with pytest.raises(TraceBacklogFull):
                    await filled(spool, 1)
        failed = spool._files._active
        after = await filled(spool, 2)
        assert spool._files._active is not failed, "what failed to sync is never written to again"
        await crash(spool)
        again = Spool.open(tmp_path, MB)
        assert held(again) == before | after
        await again.close()

    run(test)
    assert caplog.text.count("cannot be written") == 1
    assert caplog.text.count("can be written again") == 1


def test_a_fault_of_ours_in_the_commit_thread_hangs_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X3: the thread refuses what it had in hand, and lives."""

    async def test() -> None:
        spool = Spool.open(tmp_path, MB)
        with monkeypatch.context() as patch:
            patch.setattr(segment.Packed, "at", lambda *_: 1 / 0)
            with pytest.raises(TraceBacklogFull):
                await asyncio.wait_for(filled(spool, 1), 10)
        await filled(spool, 1)
        await spool.close()

    run(test)


def test_calls_go_on_without_a_trace_where_none_is_required(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """X3: `trace.required = false`: counted, and told once at the begin and once at the end."""

    async def test() -> None:
        spool = Spool.open(tmp_path, 32 * 1024)
        records = BestEffort(spool)
        kept = [trace_id for _ in range(60) if await records.append(record(1000), trace_id := str(uuid4()))]
        assert 20 < len(kept) < 32
        assert records.missed == spool.refused == 60 - len(kept)
        assert records.get("acme", kept[0]) is not None
        spool.persisted(kept)
        assert await records.append(record(), str(uuid4()))
        await spool.close()

    run(test)
    assert caplog.text.count("answered without traces") == 1
    assert caplog.text.count("calls have traces again") == 1


def test_best_effort_takes_a_redis_that_is_away_for_a_missing_trace() -> None:
    """X3: in stream mode a record that Redis did not take is missed, not raised."""

    class Away:
        async def append(self, record: bytes, trace_id: str) -> bool:  # noqa: ARG002
            raise Unavailable(part="the trace stream")

        def get(self, tenant: str, trace_id: str) -> bytes | None:  # noqa: ARG002
            return None

    assert asyncio.run(BestEffort(Away()).append(b"", "")) is False

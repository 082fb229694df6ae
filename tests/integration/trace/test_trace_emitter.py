"""The emitter against a Redis that refuses, and a writer that does not answer."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from fixtures.valkey import ValkeyServer
from telha_planner.trace.emitter import Emitter
from telha_planner.trace.settlement import Settled
from telha_planner.trace.spool import Spool
from telha_runtime import frame
from telha_runtime.redis import connect
from trace_path import STREAM, a_writer, an_emitter, append, config, now_us, until


def test_a_redis_that_is_full_delays_and_loses_nothing(
    own_valkey: ValkeyServer, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """X3: OOM under noeviction, and a key of another type, are outages; no record's content reaches the log."""
    settings = config(folder, own_valkey.url)

    async def test() -> None:
        with own_valkey.client() as client:
            client.config_set("maxmemory", "1")
            async with an_emitter(folder / "spool", own_valkey.url, settings.trace.writer) as (emitter, spool):
                sent = await append(spool, 30)
                await until(lambda: emitter.failures > 0)
                assert emitter.sent == 0
                client.config_set("maxmemory", "0")
                client.set(STREAM, "of another type")
                failed = emitter.failures
                await until(lambda: emitter.failures > failed + 1)
                client.delete(STREAM)
                await until(lambda: emitter.sent == 30)
                entries = [frame.decode(fields) for _, fields in client.xrange(STREAM)]
                assert [entry.trace_id for entry in entries] == sent
                assert [entry.seq for entry in entries] == sorted(entry.seq for entry in entries)
                assert {entry.spool for entry in entries} == {spool.name}

    with caplog.at_level("DEBUG"):
        asyncio.run(test())
    assert "Redis does not take traces" in caplog.text
    assert "mudou" not in caplog.text


def test_records_wait_while_the_writer_is_away_and_are_not_sent_again_and_again(
    valkey_server: ValkeyServer, folder: Path
) -> None:
    """X3: only a writer that answers "not here" makes a record overdue."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        async with an_emitter(folder / "spool", valkey_server.url, settings.trace.writer, overdue_s=0.05) as (
            emitter,
            spool,
        ):
            sent = await append(spool, 10)
            await until(lambda: emitter.sent == 10)
            await asyncio.sleep(0.4)  # eight times what makes a record overdue
            assert (emitter.sent, emitter.resent, spool.depth) == (10, 0, 10)
            assert all(spool.get("acme", trace_id) for trace_id in sent)
            async with a_writer(settings):
                await asyncio.wait_for(spool.emptied.wait(), 60)

    asyncio.run(test())


def test_a_restarted_planner_asks_before_it_sends(valkey_server: ValkeyServer, folder: Path) -> None:
    """X3: what the writer has already is not sent a second time after a restart."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        async with a_writer(settings):
            slow = {"confirm_every_s": 60.0}
            async with an_emitter(folder / "spool", valkey_server.url, settings.trace.writer, **slow) as (first, spool):
                await append(spool, 10)
                await until(lambda: first.sent == 10)
                await until(lambda: _pending_or_undelivered(valkey_server) == 0)
                assert spool.depth == 10
            async with an_emitter(folder / "spool", valkey_server.url, settings.trace.writer) as (again, spool):
                await asyncio.wait_for(spool.emptied.wait(), 60)
                assert (again.sent, again.settled) == (0, 10)

    asyncio.run(test())


class _SwallowingWriter:
    """Ends its first answer in spite of a cancellation, as `asyncio.wait_for` of Python 3.11 may."""

    def __init__(self) -> None:
        self.asked = 0

    async def persisted(self, trace_ids: Sequence[str], spools: Sequence[Settled] = ()) -> list[str]:
        del trace_ids, spools
        self.asked += 1
        if self.asked < 3:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if self.asked == 2:
                    raise
        return []


def test_it_stops_though_a_cancellation_is_swallowed(valkey_server: ValkeyServer, folder: Path) -> None:
    """X3: a planner that ends does not wait for a loop that missed its cancellation and went on."""

    async def test() -> None:
        spool, client, writer = Spool.open(folder / "spool", 1 << 20), connect(valkey_server.url), _SwallowingWriter()
        emitter = Emitter(spool, client, writer, STREAM, now_us=now_us)
        emitter.start()
        await until(lambda: writer.asked == 1)
        await asyncio.wait_for(emitter.stop(0), 5)
        assert writer.asked == 3, "the report, the report once more, the last report"
        await spool.close()
        await client.aclose()

    asyncio.run(test())


def _pending_or_undelivered(server: ValkeyServer) -> int:
    with server.client() as client:
        groups = client.xinfo_groups(STREAM)  # none until the writer has made its own
        return sum(group["pending"] + (group["lag"] or 0) for group in groups) if groups else -1

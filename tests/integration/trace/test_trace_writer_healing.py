"""What heals: a record that kills writers, a Redis that is worse after a failover, a stream that grows too long."""

import asyncio
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from uuid import uuid4

import pytest
from fixtures.valkey import ValkeyServer
from ports import free_port
from telha_runtime import frame
from telha_trace_writer import letters
from telha_trace_writer.opening import open_store
from telha_trace_writer.store import Filters
from trace_path import STREAM, a_writer, an_emitter, an_entry, append, config, until

KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from telha_trace_writer import intake, service
from trace_path import config

real = intake.row_of

def parse(found):
    if found.trace_id == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(found)

intake.row_of = parse
asyncio.run(service.serve(config(Path(sys.argv[1]), sys.argv[2], max_deliveries=3, reclaim_idle_ms=50)))
"""


@pytest.mark.process
def test_a_record_that_kills_writers_takes_no_other_with_it(valkey_server: ValkeyServer, folder: Path) -> None:
    """X2: it is buried after so many deaths, before it is parsed; what lay beside it in every batch is stored."""
    trace_ids = [str(uuid4()) for _ in range(12)]
    killer = trace_ids[5]
    with valkey_server.client() as client:
        for trace_id in trace_ids:
            client.xadd(STREAM, an_entry(trace_id))
        deaths = 0
        command = [sys.executable, "-c", KILLED, str(folder), valkey_server.url, killer]
        environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        while client.xlen(STREAM):
            with subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL) as writer:
                while writer.poll() is None and client.xlen(STREAM):
                    asyncio.run(asyncio.sleep(0.05))
                if writer.poll() is None:
                    writer.terminate()
                deaths += writer.wait() == -signal.SIGKILL
                assert deaths <= 4
    store = open_store(folder / "traces.db", 1000)
    assert {row.trace_id for row in store.browse("acme", Filters(), None, 100)} == set(trace_ids) - {killer}
    assert [letter.trace_id for letter in letters.listed(store)] == [killer]
    store.close()
    assert deaths == 3


def test_a_redis_that_may_lose_records_is_told_again_after_a_failover(
    own_valkey: ValkeyServer, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """X2: the warnings follow the Redis that is there now, not the one of the start."""

    async def test() -> None:
        async with a_writer(config(folder, own_valkey.url)):
            await asyncio.sleep(0.5)
            assert "may evict" not in caplog.text
            with own_valkey.client() as client:
                client.config_set("maxmemory-policy", "allkeys-lru")
                client.flushall()
            await until(lambda: "may evict" in caplog.text)

    asyncio.run(test())
    assert caplog.text.count("may evict") == 1


def test_what_the_stream_still_holds_is_not_sent_again(valkey_server: ValkeyServer, folder: Path) -> None:
    """X2, X3: a writer that answers and does not consume makes the stream no longer; what Redis lost is sent again."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        from trace_path import a_listener  # noqa: PLC0415  # beside its use

        async with (
            a_listener(settings),
            an_emitter(folder / "spool", valkey_server.url, settings.trace.writer, overdue_s=0.05) as (emitter, spool),
        ):
            sent = await append(spool, 10)
            await until(lambda: emitter.sent == 10)
            await asyncio.sleep(0.4)  # eight times what makes a record overdue
            with valkey_server.client() as client:
                assert (emitter.sent, client.xlen(STREAM)) == (10, 10)
                gone = [client.xrange(STREAM)[at][0] for at in (2, 7)]
                client.xdel(STREAM, *gone)
                await until(lambda: emitter.resent == 2)
                await asyncio.sleep(0.3)
                assert [frame.decode(fields).trace_id for _, fields in client.xrange(STREAM)][-2:] == [sent[2], sent[7]]
                assert client.xlen(STREAM) == 10

    asyncio.run(test())


def test_a_stream_that_is_too_long_holds_planners_back(valkey_server: ValkeyServer, folder: Path) -> None:
    """X2: bounded while the writer is away; calls go on, and everything arrives in order once it is back."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        bound = {"stream_max_entries": 20}
        async with an_emitter(folder / "spool", valkey_server.url, settings.trace.writer, **bound) as (emitter, spool):
            sent = []
            for _ in range(30):
                sent += await append(spool, 2)
                # Ever so many at once would go in one batch, however long the stream is.
                count = len(sent)
                await until(lambda count=count: emitter.held_back or emitter.sent == count)
            with valkey_server.client() as client:
                await until(lambda: emitter.held_back)
                assert 20 <= client.xlen(STREAM) <= 30
                assert spool.depth == 60
                async with a_writer(settings):
                    await asyncio.wait_for(spool.emptied.wait(), 30)
            assert not emitter.held_back
            assert emitter.resent == 0
        store = open_store(folder / "traces.db", 1000)
        assert [row.trace_id for row in store.browse("acme", Filters(), None, 100)][::-1] == sent
        store.close()

    asyncio.run(test())


def test_the_metrics_page_tells_what_happened(valkey_server: ValkeyServer, folder: Path) -> None:
    """A8: over HTTP, as Prometheus reads it."""
    port = free_port()

    async def test() -> None:
        with valkey_server.client() as client:
            known = str(uuid4())
            for entry in (an_entry(known), an_entry(known), an_entry(), {b"f": b"\xc1"}):
                client.xadd(STREAM, entry)
            async with a_writer(config(folder, valkey_server.url, metrics_port=port)):
                await until(lambda: client.xlen(STREAM) == 0)
                page = await asyncio.to_thread(_page, port)
        lines = page.splitlines()
        for line in (
            "telha_writer_persisted_total 2.0",
            "telha_writer_duplicates_total 1.0",
            "telha_writer_buried_total 1.0",
            "telha_dead_letters 1.0",
            "telha_writer_held 0.0",
            "telha_writer_batch_records_sum 3.0",
        ):
            assert line in lines, page

    asyncio.run(test())


def _page(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return answer.read().decode()

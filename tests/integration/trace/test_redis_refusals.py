"""A Redis that refuses, each in its own words, or never answers: kept, retried, sent in order once it is well."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import pytest
from fixtures.valkey import ValkeyServer
from redis import Redis
from telha_runtime import frame, redis
from telha_trace_writer.opening import open_store
from telha_trace_writer.store import Filters
from trace_path import STREAM, a_writer, an_emitter, append, config, until

Harm = Callable[[Redis], object]


def replica(client: Redis) -> None:
    client.execute_command("REPLICAOF", "127.0.0.1", "1")


def silent_replica(client: Redis) -> None:
    client.config_set("replica-serve-stale-data", "no")
    replica(client)


def master(client: Redis) -> None:
    client.execute_command("REPLICAOF", "NO", "ONE")


REFUSALS: dict[str, tuple[Harm, Harm]] = {
    "OutOfMemoryError": (lambda c: c.config_set("maxmemory", "1"), lambda c: c.config_set("maxmemory", "0")),
    "ReadOnlyError": (replica, master),
    "MasterDownError": (silent_replica, master),
    "NoAuth": (lambda c: c.config_set("requirepass", "secret"), lambda c: c.config_set("requirepass", "")),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_redis_that_refuses_is_waited_for(own_valkey: ValkeyServer, folder: Path, kind: str) -> None:
    """X3: OOM, READONLY, MASTERDOWN and NOAUTH: planner and writer back off, keep all, and go on by themselves."""
    harm, heal = REFUSALS[kind]
    settings = config(folder, own_valkey.url)

    async def test() -> None:
        with own_valkey.client() as client:
            async with (
                a_writer(settings),
                an_emitter(folder / "spool", own_valkey.url, settings.trace.writer) as (emitter, spool),
            ):
                sent = await append(spool, 5)
                await asyncio.wait_for(spool.emptied.wait(), 60)
                harm(client)
                # Connections of before stay authenticated.
                client.client_kill_filter(_type="normal", skipme=True)
                begun = time.monotonic()
                sent += await append(spool, 20)
                assert time.monotonic() - begun < 20, "no call waits for Redis"
                await until(lambda: emitter.failures > 1)
                assert spool.depth == 20
                heal(client)
                await asyncio.wait_for(spool.emptied.wait(), 40)
        store = open_store(folder / "traces.db", 1000)
        assert [row.trace_id for row in store.browse("acme", Filters(), None, 100)][::-1] == sent
        store.close()

    asyncio.run(test())


@contextmanager
def a_redis_that_says(answer: bytes) -> Iterator[str]:
    """The URL of a server that answers every command with *answer*."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve(connection: socket.socket) -> None:
            # The other side may break off in the middle of an answer.
            with connection, suppress(ConnectionError):
                while received := connection.recv(65536):
                    connection.sendall(answer * max(1, received.count(b"*")))

        def accept() -> None:
            try:
                while True:
                    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
            except OSError:
                return

        threading.Thread(target=accept, daemon=True).start()
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        server.shutdown(socket.SHUT_RDWR)


def test_a_redis_that_loads_its_data_is_waited_for(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """X3: LOADING is no fault of a record."""

    async def test() -> None:
        with a_redis_that_says(b"-LOADING Redis is loading the dataset in memory\r\n") as url:
            async with an_emitter(folder / "spool", url, f"unix:{folder / 'w'}") as (emitter, spool):
                await append(spool, 3)
                await until(lambda: emitter.failures > 1)
                assert (emitter.sent, spool.depth) == (0, 3)

    asyncio.run(test())
    assert "BusyLoadingError" in caplog.text


def test_a_redis_that_never_answers_holds_no_call(folder: Path) -> None:
    """X3: a black hole: calls are answered from the spool, the emitter gives up on each reply, the writer drains."""

    async def test() -> None:
        with socket.create_server(("127.0.0.1", 0)) as hole:
            url = f"redis://127.0.0.1:{hole.getsockname()[1]}/0"
            settings = config(folder, url)
            async with an_emitter(folder / "spool", url, settings.trace.writer) as (emitter, spool):
                begun = time.monotonic()
                await append(spool, 50)
                assert time.monotonic() - begun < 50
                await until(lambda: emitter.failures > 0)
                assert spool.depth == 50
            async with a_writer(settings):
                await asyncio.sleep(0.2)
                begun = time.monotonic()
            assert time.monotonic() - begun < 60

    asyncio.run(test())


def test_a_cancelled_read_discards_its_connection(valkey_server: ValkeyServer) -> None:
    """X2: the reply that comes too late is never taken for the answer to the next command."""

    async def test() -> None:
        client = redis.connect(valkey_server.url)
        with valkey_server.client() as other:
            other.xgroup_create(STREAM, "writer", id="0", mkstream=True)
            for _ in range(10):
                reading = asyncio.create_task(client.xreadgroup("writer", "me", {STREAM: ">"}, block=60_000))
                await until(lambda: other.info("clients")["blocked_clients"] == 1)
                reading.cancel()
                await asyncio.wait([reading])
                assert reading.cancelled()
                await until(lambda: other.info("clients")["blocked_clients"] == 0)
                other.xadd(STREAM, {frame.FIELD: str(uuid4())})
                assert await client.echo("mine") == b"mine"
                await client.xreadgroup("writer", "me", {STREAM: ">"})
        await client.aclose()

    asyncio.run(test())

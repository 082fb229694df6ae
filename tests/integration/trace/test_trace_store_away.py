"""A PostgreSQL that goes away and comes back under a running trace writer."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import grpc
import pytest
import sqlalchemy as sa
from fixtures.postgres import OwnPostgres, PostgresServer
from fixtures.valkey import ValkeyServer
from redis import Redis
from redis.exceptions import ResponseError
from telha.trace.v1 import trace_store_pb2
from telha_trace_writer import letters
from telha_trace_writer.opening import open_store
from trace_path import STREAM, a_writer, an_entry, config, credential, fetch, until
from trace_stores import T, ids

MODULE = (sys.executable, "-P", "-m", "telha_trace_writer")


@pytest.fixture
def place(own_postgres: OwnPostgres) -> str:
    """An empty database on a server that a test may stop."""
    server = PostgresServer(own_postgres.admin)
    return server.url(server.create())


@pytest.fixture
def client(valkey_server: ValkeyServer) -> Iterator[Redis]:
    with valkey_server.client() as client:
        yield client


def pending(client: Redis) -> int:
    """Entries that were delivered and not acknowledged."""
    try:
        return int(client.xpending(STREAM, "writer")["pending"])
    except ResponseError:
        return -1


async def refusal(call: object) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as fault:
        await call
    assert fault.value.code() is grpc.StatusCode.UNAVAILABLE
    return str(fault.value.details())


def test_nothing_is_lost_while_postgres_is_away(
    own_postgres: OwnPostgres, place: str, valkey_server: ValkeyServer, client: Redis, folder: Path
) -> None:
    """X2, X3: unacknowledged while it is away, UNAVAILABLE to readers, whole again without a restart."""
    before, during = [str(uuid4()) for _ in range(3)], [str(uuid4()) for _ in range(4)]
    settings = config(folder, valkey_server.url, store=place, reclaim_idle_ms=100)

    async def test() -> None:
        async with a_writer(settings) as stub:
            for trace_id in before:
                client.xadd(STREAM, an_entry(trace_id))
            await until(lambda: pending(client) == 0)
            await asyncio.to_thread(own_postgres.stop, signal.SIGINT)
            for trace_id in during:
                client.xadd(STREAM, an_entry(trace_id))
            await until(lambda: pending(client) > 0)
            browse = trace_store_pb2.BrowseRequest(tenant="acme")
            assert await refusal(stub.Browse(browse, metadata=credential())) == (
                "the trace store is not available; try again"
            )
            persisted = trace_store_pb2.PersistedRequest(trace_ids=before)
            assert "not available" in await refusal(stub.Persisted(persisted, metadata=credential()))
            delete = trace_store_pb2.DeleteTenantRequest(tenant="rival", deleted_us=T)
            assert "not available" in await refusal(stub.DeleteTenant(delete, metadata=credential()))
            get = trace_store_pb2.FetchRequest(tenant="acme", trace_id=before[0])
            assert "try again" in await refusal(stub.Fetch(get, metadata=credential()))
            assert pending(client) > 0
            own_postgres.start()  # in this thread, with which it would otherwise end
            await until(lambda: pending(client) == 0, 30)
            await until(lambda: client.xlen(STREAM) == 0, 30)
            for trace_id in before + during:
                assert (await fetch(stub, trace_id)).summary.trace_id == trace_id

    asyncio.run(test())
    store = open_store(place, 5000)
    assert ids(store)[::-1] == before + during
    assert list(letters.with_content(store)) == []
    store.close()


def test_a_writer_does_not_start_without_its_store(place: str, own_postgres: OwnPostgres, folder: Path) -> None:
    """A9: one sentence, exit code 69, and the supervisor of the container tries again."""
    own_postgres.stop()
    environ = {
        "TELHA_WRITER__STORE": place,
        "TELHA_WRITER__BUSY_TIMEOUT_MS": "500",
        "TELHA_TRACE__INTERNAL_TOKEN": "x" * 16,
        "TELHA_TRACE__WRITER": f"unix:{folder / 'w'}",
    }

    async def test() -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(*MODULE, "serve", env=environ, stderr=asyncio.subprocess.PIPE)
        _, said = await asyncio.wait_for(process.communicate(), 30)
        return process.returncode, said.decode()

    code, said = asyncio.run(test())
    assert code == 69
    assert said.startswith("the trace store ")
    assert "cannot be used: connection" in said
    assert said.count("\n") == 1
    assert sa.make_url(place).password not in said

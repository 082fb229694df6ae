"""The ingest child over PostgreSQL: it writes, and a server that was away leaves nothing to restart."""

import asyncio
import os
import signal

import pytest
from fixtures.postgres import OwnPostgres, PostgresServer
from ingest_builders import a_document
from memory_builders import a_tenant
from telha_planner.core.errors import Unavailable
from telha_planner.ingest.process import IngestProcess
from telha_planner.memory.store import Store

pytestmark = pytest.mark.process


def test_writes_go_on_when_the_server_is_back(own_postgres: OwnPostgres) -> None:
    """M6: while it is away a write is told to try again, whether the child lives or has to be started anew."""
    databases = PostgresServer(own_postgres.admin)
    url = databases.url(databases.create())
    store = Store.open(url, busy_timeout_ms=2000)
    tenant, _ = a_tenant(store)
    store.close()

    async def outcome(process: IngestProcess, text: str) -> str:
        return (await process.ingest(tenant, "acme", [a_document(text)])).sources[0].outcome

    async def body() -> None:
        process = IngestProcess(url, busy_timeout_ms=2000)
        await process.start()
        try:
            assert await outcome(process, "one") == "created"
            own_postgres.stop()
            with pytest.raises(Unavailable, match="the memory store is not available"):
                await outcome(process, "two")
            child = process.pid
            assert child is not None
            os.kill(child, signal.SIGKILL)
            async with asyncio.timeout(10):
                while process.pid is not None:  # noqa: ASYNC110 - the process tells nobody
                    await asyncio.sleep(0.01)
            with pytest.raises(Unavailable, match="ingestion is not available"):
                await outcome(process, "two")
            own_postgres.start()
            assert await outcome(process, "one") == "unchanged"
            assert await outcome(process, "two") == "updated"
        finally:
            await process.close()

    asyncio.run(asyncio.wait_for(body(), 60))

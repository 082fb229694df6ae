"""Two ingest children: what takes long holds up only its like."""

import asyncio
from pathlib import Path

import pytest
from ingest_builders import a_document
from memory_builders import a_tenant
from telha_planner.ingest.lanes import LARGE_BYTES, DocumentLanes
from telha_planner.ingest.process import IngestProcess
from telha_planner.memory.store import Store

pytestmark = pytest.mark.process


def test_a_small_write_goes_by_a_large_document(tmp_path: Path) -> None:
    """M8, A1: while a long document is parsed, a short one, a node and an erasure are written."""
    url = f"sqlite:///{tmp_path}/memory.db"
    store = Store.open(url, busy_timeout_ms=5000)
    tenant, _ = a_tenant(store)
    store.close()
    long = "# Trams\n\n" + "The first tram leaves the depot at 05:12.\n\n" * 40_000
    assert len(long) > LARGE_BYTES

    async def scenario() -> list[str]:
        small, large = (IngestProcess(url, busy_timeout_ms=30_000) for _ in range(2))
        lanes = DocumentLanes(small, large)
        try:
            await small.start()
            assert large.pid is None
            ended: list[str] = []

            async def written(name: str, text: str) -> bytes:
                done = await lanes.ingest(tenant, "acme", [a_document(text, name)])
                ended.append(name)
                return done.sources[0].source_id

            slow = asyncio.create_task(written("long.md", long))
            while large.pid is None:  # noqa: ASYNC110 what is watched is a process
                await asyncio.sleep(0.01)
            source = await written("short.md", "Second at 05:32.")
            await small.erase_source(tenant, source)
            ended.append("erasure")
            assert not slow.done()
            await slow
            return ended
        finally:
            await small.close()
            await large.close()

    assert asyncio.run(asyncio.wait_for(scenario(), 120)) == ["short.md", "erasure", "long.md"]

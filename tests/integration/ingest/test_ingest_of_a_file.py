"""A document that goes to the ingest child in pieces: whatever happens on its way, the next call is answered."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import IO

import pytest
from ingest_builders import a_document
from memory_builders import a_tenant
from telha_planner.core.errors import RequestInvalid, Unavailable
from telha_planner.ingest.artifact import ArtifactInput
from telha_planner.ingest.child import PIECE
from telha_planner.ingest.document import DocumentHeader
from telha_planner.ingest.process import IngestProcess
from telha_planner.memory.store import Store

pytestmark = pytest.mark.process
HEADER = DocumentHeader(None, "large.md", None, "main", None, None)
LARGE = b"word " * (PIECE // 2)


def run(folder: Path, content: bytes, scenario: Callable[[IngestProcess, int, IO[bytes]], Awaitable[None]]) -> None:
    url = f"sqlite:///{folder}/memory.db"
    store = Store.open(url, busy_timeout_ms=5000)
    tenant, _ = a_tenant(store)
    store.close()

    async def body() -> None:
        process = IngestProcess(url, busy_timeout_ms=5000)
        await process.start()
        try:
            with tempfile.TemporaryFile() as file:
                file.write(content)
                file.flush()
                await scenario(process, tenant, file)
        finally:
            await process.close()

    asyncio.run(asyncio.wait_for(body(), 60))


def test_a_file_is_ingested_from_its_beginning(tmp_path: Path) -> None:
    """M8: wherever the file stands, and however many pieces it has."""
    content = b"# Trams\n\n" + b"The first tram leaves at noon. " * 80_000

    async def scenario(process: IngestProcess, tenant: int, file: IO[bytes]) -> None:
        file.seek(5)
        assert len(content) > 2 * PIECE
        done = await process.ingest_file(tenant, "acme", HEADER, file.fileno(), len(content))
        again = await process.ingest(tenant, "acme", [a_document(content.decode(), "large.md")])
        assert [each.sources[0].outcome for each in (done, again)] == ["created", "unchanged"]
        assert done.sources[0].source_id == again.sources[0].source_id

    run(tmp_path, content, scenario)


def test_a_child_that_dies_on_the_way_is_replaced(tmp_path: Path) -> None:
    """A1: the call fails as unavailable, nothing is written, and the next call finds another child."""

    async def scenario(process: IngestProcess, tenant: int, file: IO[bytes]) -> None:
        killed = process.pid
        assert killed is not None
        os.kill(killed, signal.SIGSTOP)
        call = asyncio.create_task(process.ingest_file(tenant, "acme", HEADER, file.fileno(), len(LARGE)))
        await asyncio.sleep(0.2)
        os.kill(killed, signal.SIGKILL)
        with pytest.raises(Unavailable):
            await call
        done = await process.ingest(tenant, "acme", [a_document("short", "large.md")])
        assert (done.sources[0].outcome, process.pid != killed) == ("created", True)

    run(tmp_path, LARGE, scenario)


@pytest.mark.parametrize("times", [1, 3])
def test_a_caller_that_gives_up_on_the_way_disturbs_nobody(tmp_path: Path, times: int) -> None:
    """A1: its file may be closed at once; the child takes what was sent and writes nothing; the next call is whole."""

    async def scenario(process: IngestProcess, tenant: int, file: IO[bytes]) -> None:
        child = process.pid
        assert child is not None
        os.kill(child, signal.SIGSTOP)
        call = asyncio.create_task(process.ingest_file(tenant, "acme", HEADER, file.fileno(), len(LARGE)))
        await asyncio.sleep(0.2)
        for _ in range(times):
            call.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await call
        file.close()
        short = asyncio.create_task(process.ingest(tenant, "acme", [a_document("short", "short.md")]))
        await asyncio.sleep(0.1)
        os.kill(child, signal.SIGCONT)
        assert (await short).sources[0].outcome == "created"
        again = await process.ingest(tenant, "acme", [a_document(LARGE.decode(), "large.md")])
        assert (again.sources[0].outcome, process.pid) == ("created", child)

    run(tmp_path, LARGE, scenario)


def test_faults_of_content_and_header_keep_their_places(tmp_path: Path) -> None:
    """M3: what only the child can know is named as the stream has it."""

    async def scenario(process: IngestProcess, tenant: int, file: IO[bytes]) -> None:
        with pytest.raises(RequestInvalid) as caught:
            await process.ingest_file(tenant, "acme", HEADER, file.fileno(), 2)
        assert caught.value.field == "chunk"
        await process.ingest(tenant, "acme", [a_document("text", "own.md", source_id=b"s" * 16)])
        await process.put_artifacts(tenant, [ArtifactInput(b"a" * 16, "main", "digest", "told", (b"s" * 16,), None)])
        taken = DocumentHeader(b"a" * 16, "own.md", None, "main", None, None)
        with pytest.raises(RequestInvalid) as caught:
            await process.ingest_file(tenant, "acme", taken, file.fileno(), 1)
        assert (caught.value.field, caught.value.rule) == ("header.source_id", "must not name a derived artifact")

    run(tmp_path, b"a\xff", scenario)

"""Documents in pieces from the Python client: whatever it is given to send, and however that ends."""

import asyncio
import io
import os
import time
import uuid
from pathlib import Path

import pytest
from planner_server import RealPlanner
from telha_client import AsyncClient, Document, InvalidRequest, MessageTooLarge, uploads
from telha_planner.config import PlannerConfig, ServerSettings

LIMIT = 400_000
MESSAGE = 64_000


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    limits = ServerSettings(max_message_bytes=MESSAGE, max_document_bytes=LIMIT, max_upload_bytes=LIMIT)
    with RealPlanner(tmp_path_factory.mktemp("uploads"), PlannerConfig(server=limits)) as planner:
        yield planner


@pytest.fixture
def tenant():
    return f"tenant-{uuid.uuid4()}"


@pytest.fixture
def client(planner, tenant):
    with planner.client(tenant) as client:
        yield client


async def until(holds):
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110  # what is watched lies in the planner's thread
            await asyncio.sleep(0.005)


class Pipe(io.RawIOBase):
    """Bytes that cannot be read twice, and whose number nobody knows."""

    name = "from a pipe.md"

    def __init__(self, content):
        super().__init__()
        self._rest = content

    def readable(self):
        return True

    def readinto(self, buffer):
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def test_the_client_streams_whatever_it_is_given(tmp_path: Path):
    """M8, A5: a document, a path, an open file from where it stands, a pipe; a large one without being asked."""
    with RealPlanner(tmp_path) as planner, planner.client() as client:
        large = ("The first tram leaves at 05:12. " * 40 + "\n\n") * 3000
        path = tmp_path / "large.md"
        path.write_text(large)
        by_path = client.memory.ingest([path])
        assert client.memory.ingest_stream(path).documents[0].outcome == "unchanged"
        small = client.memory.ingest_stream(Document(name="small", content="שלום"))
        file = io.BytesIO(b"skipped" + b"kept")
        file.name = "file.txt"
        file.seek(7)
        from_file = client.memory.ingest_stream(file)
        client.memory.ingest_stream(Pipe("你好".encode()), space="own")

        async def asynchronous():
            async with AsyncClient(planner.address, planner.key()) as other:
                again = await other.memory.ingest([path])
                return again, await other.memory.ingest_stream(Document(name="small", content="שלום!"))

        again, changed = asyncio.run(asynchronous())
        assert [done.documents[0].outcome for done in (by_path, small, from_file, again, changed)] == [
            "created",
            "created",
            "created",
            "unchanged",
            "updated",
        ]
        sources = client.memory.sources(["*"]).items
        assert {source.name for source in sources} == {path.as_posix(), "small", "file.txt", "from a pipe.md"}
        assert client.memory.source(from_file.documents[0].source_id, include_text=True).text == "kept"
        with pytest.raises(FileNotFoundError):
            client.memory.ingest_stream(tmp_path / "absent")


def test_the_reason_of_an_early_end_reaches_every_client(planner, tenant):
    """M8, A5: a planner that has seen enough says why while the client still sends, and the client tells it."""

    async def asynchronous():
        told = []
        async with AsyncClient(planner.address, planner.key(tenant)) as client:
            for _ in range(40):
                with pytest.raises(MessageTooLarge) as refusal:
                    await client.memory.ingest_stream(Pipe(b"word " * 2_000_000))
                told.append(refusal.value.reason)
        return told

    piece, uploads.CHUNK_BYTES = uploads.CHUNK_BYTES, MESSAGE // 2
    try:
        told = asyncio.run(asynchronous())
        with planner.client(tenant) as client, pytest.raises(MessageTooLarge) as refusal:
            client.memory.ingest_stream(Pipe(b"word " * 2_000_000))
    finally:
        uploads.CHUNK_BYTES = piece
    assert {*told, refusal.value.reason} == {"DOCUMENT_TOO_LARGE"}


def test_an_upload_that_is_cancelled_ends(planner, tenant):
    """M8, A5: the asynchronous client's stream ends with its task, and holds no room in the planner."""

    class Endless(Pipe):
        def readinto(self, buffer):
            time.sleep(0.05)
            buffer[:1] = b"a"
            return 1

    async def cancelled():
        async with AsyncClient(planner.address, planner.key(tenant)) as client:
            for _ in range(3 * LIMIT // MESSAGE):
                uploading = asyncio.create_task(client.memory.ingest_stream(Endless(b"")))
                await until(lambda: planner.uploads.shares.held > 0)
                uploading.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await uploading
                await until(lambda: planner.uploads.shares.held == 0)
            return await client.memory.ingest_stream(Document(name="last", content="words"))

    assert asyncio.run(cancelled()).documents[0].outcome == "created"


def test_a_file_that_shrinks_is_not_taken_for_a_short_one(client, tmp_path: Path):
    """M8: the client says how many bytes there are, so that half of them are no document."""
    path = tmp_path / "shrinks.md"
    path.write_text("words " * 2000)

    class Shrinking(io.FileIO):
        def read(self, size=-1):
            os.truncate(path, 10)
            return super().read(size)

    with Shrinking(path) as file, pytest.raises(InvalidRequest) as refusal:
        client.memory.ingest_stream(file)
    assert refusal.value.field == "header.content_bytes"
    assert client.memory.sources().items == ()

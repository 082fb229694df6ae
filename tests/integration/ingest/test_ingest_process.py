"""The ingest child: errors cross the border, a killed child is replaced, nothing outlives its parent."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from ingest_builders import a_document
from memory_builders import a_tenant
from telha_planner.core.errors import NotFound, Overloaded, RequestInvalid, Unavailable
from telha_planner.ingest.channel import Call, decode, encode
from telha_planner.ingest.child import IngestFault
from telha_planner.ingest.parse import parse
from telha_planner.ingest.process import IngestProcess
from telha_planner.ingest.worker import GIVEN_UP
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, IdempotencyKey, NodeRecord
from telha_planner.memory.store import Store

pytestmark = pytest.mark.process


def run(folder: Path, scenario: Callable[[IngestProcess, int], Awaitable[None]], **options: object) -> None:
    """Run *scenario* with a started child and the number of a tenant."""
    url = f"sqlite:///{folder}/memory.db"
    store = Store.open(url, busy_timeout_ms=5000)
    tenant, _ = a_tenant(store)
    store.close()

    async def body() -> None:
        async with _running(url, **options) as process:
            await scenario(process, tenant)

    asyncio.run(asyncio.wait_for(body(), 60))


@asynccontextmanager
async def _running(url: str, **options: object) -> AsyncIterator[IngestProcess]:
    process = IngestProcess(url, busy_timeout_ms=5000, **options)  # type: ignore[arg-type]  # by keyword, from tests
    await process.start()
    try:
        yield process
    finally:
        await process.close()


def test_ingests_and_is_idempotent(tmp_path: Path) -> None:
    """M2: a document is written once; the same again is unchanged; a changed one keeps what stayed."""

    async def scenario(process: IngestProcess, tenant: int) -> None:
        first = await process.ingest(tenant, "acme", [a_document("# Trams\n\nFirst at 05:12.\n\nLast at 23:40.")])
        again = await process.ingest(tenant, "acme", [a_document("# Trams\n\nFirst at 05:12.\n\nLast at 23:40.")])
        changed = await process.ingest(tenant, "acme", [a_document("# Trams\n\nFirst at 05:02.\n\nLast at 23:40.")])
        assert [done.sources[0].outcome for done in (first, again, changed)] == ["created", "unchanged", "updated"]
        assert again.tx == first.tx
        assert changed.tx > first.tx
        update = changed.sources[0]
        # Document, section and the last passage stay; the first passage and the window are others now.
        assert (update.nodes_kept, update.nodes_opened, update.nodes_closed) == (3, 2, 2)

    run(tmp_path, scenario)


def test_errors_cross_the_border(tmp_path: Path) -> None:
    """M3: an error of the child is the caller's error, field and all, and nothing was written."""

    async def scenario(process: IngestProcess, tenant: int) -> None:
        with pytest.raises(NotFound, match="no such tenant"):
            await process.ingest(tenant + 1, "nobody", [a_document("text")])
        with pytest.raises(RequestInvalid) as caught:
            await process.ingest(tenant, "acme", [a_document("one"), a_document("two")])
        assert caught.value.field == "documents[1].source_id"
        done = await process.ingest(tenant, "acme", [a_document("one")])
        assert done.sources[0].outcome == "created"

    run(tmp_path, scenario)


def test_other_writes_go_the_same_way(tmp_path: Path) -> None:
    """M3, M5: nodes, edges, clarifications and erasures are written by the child too; their errors come back."""

    async def scenario(process: IngestProcess, tenant: int) -> None:
        document = a_document("# Lost property\n\nKept for 60 days.")
        done = await process.ingest(tenant, "acme", [document])
        record = parse(document, "acme")
        passage = next(node.node_id for node in record.nodes if node.type == "passage")
        stop = NodeRecord(node_id=b"s" * 16, space="main", type="stop", properties='{"name":"Harbour"}')
        nodes = await process.put_nodes(tenant, [stop])
        edges = await process.put_edges(tenant, [EdgeRecord(b"e" * 16, b"s" * 16, passage, "mentions")])
        question = ClarificationRecord(b"c" * 16, passage, "pending", "60 days or 90?")
        asked = await process.put_clarifications(tenant, [question])
        assert done.tx < nodes.tx < edges.tx < asked.tx
        with pytest.raises(RequestInvalid) as caught:
            await process.put_edges(tenant, [EdgeRecord(b"f" * 16, b"s" * 16, b"?" * 16, "mentions")])
        assert caught.value.field.startswith("edges[0]")
        receipt = await process.erase_source(tenant, record.source_id)
        assert (receipt.versions, receipt.nodes) == (1, len(record.nodes))
        with pytest.raises(NotFound):
            await process.erase_source(tenant, record.source_id)

    run(tmp_path, scenario)


def test_a_killed_child_is_replaced(tmp_path: Path) -> None:
    """A1: the calls in flight of a dead child fail as unavailable, the next call works."""

    async def scenario(process: IngestProcess, tenant: int) -> None:
        killed = process.pid
        assert killed is not None
        long = "\n\n".join(f"Tram {number} leaves the depot." for number in range(30_000))
        calls = [asyncio.create_task(process.ingest(tenant, "acme", [a_document(long, f"{name}.md")])) for name in "ab"]
        await asyncio.sleep(0.3)
        os.kill(killed, signal.SIGKILL)
        with pytest.raises(Unavailable, match="ingestion"):
            await calls[0]
        calls[1].cancel()
        done = await process.ingest(tenant, "acme", [a_document("short")])
        assert done.sources[0].outcome == "created"
        assert process.pid not in (None, killed)

    run(tmp_path, scenario)


LONG = "\n\n".join(f"Tram {number} leaves the depot." for number in range(3000))


async def given_up(process: IngestProcess, tenant: int, key: IdempotencyKey | None) -> None:
    """Begin a long write, and stop waiting while the child is at it."""
    call = asyncio.create_task(process.ingest(tenant, "acme", [a_document(LONG, "long.md")], key=key))
    await asyncio.sleep(0.05)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_calls_that_were_given_up_are_not_begun(tmp_path: Path) -> None:
    """A1: whether it runs or waits, a call whose caller has gone costs nothing more and holds no place."""

    async def scenario(process: IngestProcess, tenant: int) -> None:
        gone = [asyncio.create_task(given_up(process, tenant, None)) for _ in range(5)]
        await asyncio.wait(gone)
        assert process.waiting == 0
        done = await process.ingest(tenant, "acme", [a_document("short", "short.md")])
        assert done.sources[0].outcome == "created"
        with Store.open(f"sqlite:///{tmp_path}/memory.db", busy_timeout_ms=5000).reading(tenant) as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM source").scalar_one() == 1

    run(tmp_path, scenario)


def test_the_word_that_a_call_was_given_up_ends_no_other(tmp_path: Path) -> None:
    """A1: coming late, it meets the next call, which is made again and answered."""

    async def scenario(process: IngestProcess, tenant: int) -> None:
        assert process.pid is not None
        call = asyncio.create_task(process.ingest(tenant, "acme", [a_document(LONG, "long.md")]))
        await asyncio.sleep(0.05)
        os.kill(process.pid, GIVEN_UP)
        assert (await call).sources[0].outcome == "created"

    run(tmp_path, scenario)


def test_a_caller_that_gives_up_disturbs_nobody(tmp_path: Path) -> None:
    """A1, M8: what has begun under an idempotency key is finished, by the same child, for the caller's next attempt."""

    async def scenario(process: IngestProcess, tenant: int) -> None:
        child, key = process.pid, IdempotencyKey("k", bytes(32))
        await given_up(process, tenant, key)
        done = await process.ingest(tenant, "acme", [a_document("short", "short.md")])
        assert done.sources[0].outcome == "created"
        again = await process.ingest(tenant, "acme", [a_document(LONG, "long.md")], key=key)
        assert again.replayed
        assert process.pid == child

    run(tmp_path, scenario)


def test_too_many_calls_are_refused(tmp_path: Path) -> None:
    """A1: the queue is bounded; what exceeds it is refused at once."""

    async def scenario(process: IngestProcess, tenant: int) -> None:
        documents = [a_document(f"text {number}", f"{number}.md") for number in range(8)]
        calls = [asyncio.create_task(process.ingest(tenant, "acme", [document])) for document in documents]
        results = await asyncio.gather(*calls, return_exceptions=True)
        refused = [isinstance(result, Overloaded) for result in results]
        assert refused == [False] * 3 + [True] * 5

    run(tmp_path, scenario, max_waiting=2)


def test_close_drains(tmp_path: Path) -> None:
    """A1: closing lets accepted calls end and refuses new ones; the child is gone afterwards."""

    async def scenario(process: IngestProcess, tenant: int) -> None:
        child = process.pid
        assert child is not None
        calls = [asyncio.create_task(process.ingest(tenant, "acme", [a_document("x", f"{n}.md")])) for n in range(3)]
        await asyncio.sleep(0)
        await process.close()
        assert [(await call).sources[0].outcome for call in calls] == ["created"] * 3
        with pytest.raises(Unavailable):
            await process.ingest(tenant, "acme", [a_document("late")])
        assert not psutil.pid_exists(child)

    run(tmp_path, scenario)


def test_a_store_that_cannot_be_opened(tmp_path: Path) -> None:
    """M6: the start fails with the store's own sentence."""
    (tmp_path / "memory.db").mkdir()

    async def body() -> None:
        process = IngestProcess(f"sqlite:///{tmp_path}/memory.db", busy_timeout_ms=100)
        with pytest.raises(IngestFault, match=r"memory\.db"):
            await process.start()
        await process.close()

    asyncio.run(asyncio.wait_for(body(), 60))


def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    """A1: a parent killed with SIGKILL leaves no child behind."""
    program = textwrap.dedent(f"""
        import asyncio, time
        from telha_planner.ingest.process import IngestProcess
        async def main():
            process = IngestProcess("sqlite:///{tmp_path}/memory.db", busy_timeout_ms=100)
            await process.start()
            print("child", process.pid, flush=True)
            time.sleep(60)
        asyncio.run(main())
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = next(int(line.split()[1]) for line in parent.stdout if line.startswith("child "))
        assert psutil.pid_exists(child)
        parent.kill()
    deadline = time.monotonic() + 60
    while psutil.pid_exists(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not psutil.pid_exists(child)


def test_messages_name_only_our_own_types() -> None:
    """A6: a pickle that names anything else is refused."""
    message = encode(Call(1, "ingest", (2, "acme", (a_document("x"),))))
    assert decode(message[8:]) == Call(1, "ingest", (2, "acme", (a_document("x"),)))
    with pytest.raises(Exception, match="must not name"):
        decode(encode(Call(1, "ingest", (os.getcwd,)))[8:])

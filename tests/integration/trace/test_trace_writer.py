"""What the writer does with whatever is in the stream: store, bury, hold, heal."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgpack
import pytest
from fixtures.valkey import ValkeyServer
from redis import Redis
from redis.exceptions import ResponseError
from telha_runtime import frame, redis
from telha_trace_writer import letters
from telha_trace_writer.intake import Intake
from telha_trace_writer.opening import open_store
from telha_trace_writer.reclaim import Reclaim
from telha_trace_writer.store import Filters, Store, StoreFailed
from telha_trace_writer.stream import BacklogTooLong, Delivery, Stream
from trace_path import STREAM, a_writer, an_entry, config, fetch, on_both_engines, place_of, until
from trace_stores import a_uuid7

GROUP = "writer"


@pytest.fixture
def client(valkey_server: ValkeyServer) -> Iterator[Redis]:
    with valkey_server.client() as client:
        yield client


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    opened = open_store(place_of(folder), 1000)
    yield opened
    opened.close()


@asynccontextmanager
async def a_stream(server: ValkeyServer, consumer: str = "me") -> AsyncIterator[Stream]:
    connected = redis.connect(server.url)
    stream = Stream(connected, STREAM, GROUP, consumer)
    await stream.ensure_group()
    yield stream
    await connected.aclose()


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


def ids(store: Store) -> list[str]:
    return [row.trace_id for row in reversed(store.browse("acme", Filters(), None, 1000))]


def pending(client: Redis) -> int:
    """Entries that were delivered and not acknowledged; -1 while there is no group."""
    try:
        return int(client.xpending(STREAM, GROUP)["pending"])
    except ResponseError:
        return -1


CRASHING = """
import asyncio, os, signal, sys
from pathlib import Path
from telha_trace_writer import service, stream
from trace_path import config

async def die(self, entry_ids):
    os.kill(os.getpid(), signal.SIGKILL)

stream.Stream.acknowledge = die
asyncio.run(service.serve(config(Path(sys.argv[1]), sys.argv[2])))
"""


@on_both_engines
@pytest.mark.process
def test_a_writer_killed_between_insert_and_acknowledgement_leaves_one_row(
    valkey_server: ValkeyServer, client: Redis, folder: Path, store: Store
) -> None:
    """X2, X3: the row is there, the entry is still pending, and the next writer adds nothing and acknowledges."""
    trace_id = str(uuid4())
    client.xadd(STREAM, an_entry(trace_id))
    tests = Path(__file__).parents[2]
    command = [sys.executable, "-c", CRASHING, str(folder), valkey_server.url]
    ended = subprocess.run(command, env={"PYTHONPATH": str(tests)}, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert ids(store) == [trace_id]
    assert pending(client) == 1

    async def test() -> None:
        async with a_writer(config(folder, valkey_server.url)):
            await until(lambda: pending(client) == 0)

    run(test)
    assert ids(store) == [trace_id]


@on_both_engines
def test_poison_goes_to_the_dead_letters_and_blocks_nobody(
    valkey_server: ValkeyServer, client: Redis, folder: Path, store: Store
) -> None:
    """X2: malformed frames and records are set aside with a reason; what stands around them is stored."""
    good = [str(uuid4()) for _ in range(3)]
    wrong = str(uuid4())
    client.xadd(STREAM, an_entry(good[0]))
    client.xadd(STREAM, {b"f": b"\xc1 not msgpack"})
    client.xadd(STREAM, {b"other": b"field"})
    client.xadd(STREAM, an_entry(good[1]))
    client.xadd(STREAM, an_entry(wrong, recorded_us=1 << 63))
    client.xadd(STREAM, an_entry(good[2]))

    async def test() -> None:
        async with a_writer(config(folder, valkey_server.url)):
            await until(lambda: client.xlen(f"{STREAM}:dead") == 3)
            await until(lambda: pending(client) == 0)

    run(test)
    assert ids(store) == good
    reasons = [
        "the field f is not one msgpack value",
        "the entry has no field f",
        "recorded_us is absent or no 64-bit integer",
    ]
    assert [fields[b"reason"].decode() for _, fields in client.xrange(f"{STREAM}:dead")] == reasons
    assert [letter.reason for letter in list(letters.with_content(store))] == reasons
    assert msgpack.unpackb(list(letters.with_content(store))[1].fields) == {b"other": b"field"}
    assert set(store.persisted([*good, wrong, str(uuid4())])) == {*good, wrong}


@on_both_engines
def test_an_entry_that_keeps_killing_writers_is_buried(
    valkey_server: ValkeyServer, client: Redis, folder: Path, store: Store
) -> None:
    """X2: delivered too often and never acknowledged means poison, decided before its record is parsed."""
    trace_id = str(uuid4())
    client.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
    client.xadd(STREAM, an_entry(trace_id))
    client.xreadgroup(GROUP, "dead-1", {STREAM: ">"})
    for number in range(2, 4):
        client.xautoclaim(STREAM, GROUP, f"dead-{number}", 0)

    async def test() -> None:
        async with a_writer(config(folder, valkey_server.url, max_deliveries=3)):
            await until(lambda: pending(client) == 0)

    run(test)
    assert ids(store) == []
    (letter,) = list(letters.with_content(store))
    assert (letter.trace_id, letter.reason) == (trace_id, "it was delivered 4 times and never acknowledged")


def test_a_stale_delivery_is_taken_over(valkey_server: ValkeyServer, client: Redis, folder: Path, store: Store) -> None:
    """X2: what a dead consumer had been given is stored by a living one; an entry deleted meanwhile is let go."""
    trace_ids = [str(uuid4()) for _ in range(3)]
    client.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
    entries = [client.xadd(STREAM, an_entry(trace_id)) for trace_id in trace_ids]
    client.xreadgroup(GROUP, "dead", {STREAM: ">"})
    client.xdel(STREAM, entries[1])

    async def test() -> None:
        async with a_writer(config(folder, valkey_server.url)):
            await until(lambda: pending(client) == 0)

    run(test)
    assert ids(store) == [trace_ids[0], trace_ids[2]]


@on_both_engines
def test_a_frame_of_a_newer_version_waits_for_a_newer_writer(
    valkey_server: ValkeyServer, client: Redis, folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X2: neither stored, nor buried, nor trimmed, however often it is taken over; then it is stored as any other."""
    (value,) = an_entry(waiting := str(uuid4())).values()
    newer = {frame.FIELD: msgpack.packb(msgpack.unpackb(value) | {"v": 2})}
    held = client.xadd(STREAM, newer)
    trace_ids = [str(uuid4()) for _ in range(3)]
    for trace_id in trace_ids:
        client.xadd(STREAM, an_entry(trace_id))

    async def test() -> None:
        async with a_writer(config(folder, valkey_server.url, max_deliveries=2, reclaim_idle_ms=50)):
            await until(lambda: ids(store) == trace_ids)
            # Nobody else's entry stays because of it.
            await until(lambda: client.xlen(STREAM) == 1)
            for consumer in ("another", "a third", "a fourth"):
                client.xclaim(STREAM, GROUP, consumer, 0, [held])
                await until(lambda: client.xpending_range(STREAM, GROUP, held, held, 1)[0]["times_delivered"] == 1)

    run(test)
    assert client.xrange(STREAM, held, held) == [(held, newer)]
    assert client.xpending(STREAM, GROUP)["pending"] == 1
    assert letters.listed(store) == []
    monkeypatch.setattr(frame, "VERSION", 2)

    async def newer_writer() -> None:
        async with a_writer(config(folder, valkey_server.url, max_deliveries=2, reclaim_idle_ms=50)):
            await until(lambda: client.xlen(STREAM) == 0)

    run(newer_writer)
    assert waiting in ids(store)


def test_a_group_that_vanishes_is_made_again(
    valkey_server: ValkeyServer, client: Redis, folder: Path, store: Store
) -> None:
    """X2: after FLUSHALL under a blocked read, and after XGROUP DESTROY, entries are stored as before."""

    async def test() -> None:
        sent = []
        async with a_writer(config(folder, valkey_server.url)):
            for harm in (client.flushall, lambda: client.xgroup_destroy(STREAM, GROUP), lambda: client.delete(STREAM)):
                sent.append(str(uuid4()))
                client.xadd(STREAM, an_entry(sent[-1]))
                await until(lambda: ids(store) == sent)
                harm()
            sent.append(str(uuid4()))
            client.xadd(STREAM, an_entry(sent[-1]))
            await until(lambda: ids(store) == sent)

    run(test)


@on_both_engines
def test_only_what_is_acknowledged_is_trimmed(valkey_server: ValkeyServer, client: Redis, store: Store) -> None:
    """X2: nothing undelivered and nothing pending goes, and nothing behind it."""

    async def test() -> None:
        async with a_stream(valkey_server) as stream, a_stream(valkey_server) as reader:
            intake = Intake(store, stream, 5, lambda: 0)
            for _ in range(6):
                client.xadd(STREAM, an_entry())
            assert (await stream.trim(), client.xlen(STREAM)) == (0, 6)
            first = await stream.read(reader.redis, 2, 100)
            second = await stream.read(reader.redis, 2, 100)
            await intake.take(second)
            assert (await stream.trim(), client.xlen(STREAM)) == (0, 4)
            # A writer that dies between acknowledgement and removal leaves entries to be trimmed.
            client.xack(STREAM, GROUP, *(delivery.entry_id for delivery in first))
            assert (await stream.trim(), client.xlen(STREAM)) == (2, 2)
            await intake.take(await stream.read(reader.redis, 10, 100))
            assert (await stream.trim(), client.xlen(STREAM)) == (0, 0)
            assert await stream.read(reader.redis, 1, 10) == []

    run(test)


def test_nothing_is_acknowledged_while_the_store_refuses(
    valkey_server: ValkeyServer, client: Redis, folder: Path, store: Store
) -> None:
    """X2, X3: a locked store delays; afterwards everything is there, in order."""
    other = sqlite3.connect(folder / "traces.db", isolation_level=None)
    trace_ids = [str(uuid4()) for _ in range(5)]

    async def test() -> None:
        async with a_writer(config(folder, valkey_server.url, busy_timeout_ms=20, reclaim_idle_ms=50)) as stub:
            other.execute("BEGIN IMMEDIATE")
            for trace_id in trace_ids:
                client.xadd(STREAM, an_entry(trace_id))
            await until(lambda: pending(client) > 0)
            await asyncio.sleep(1)
            # However long the store refuses, nobody takes the entries for poison.
            counts = client.xpending_range(STREAM, GROUP, "-", "+", 10)
            assert counts
            assert max(found["times_delivered"] for found in counts) <= 2
            # Reading goes on: the trace is found in the stream.
            assert (await fetch(stub, trace_ids[0])).summary.trace_id == trace_ids[0]
            other.execute("ROLLBACK")
            await until(lambda: ids(store) == trace_ids and pending(client) == 0)

    run(test)
    other.close()


@pytest.mark.parametrize("parts", [2, 3])
def test_both_replies_of_xautoclaim_are_read(parts: int, store: Store) -> None:
    """X2: Redis 6.2 answers two parts and a nil for a deleted entry, later ones three."""

    class Old:
        """Answers as that version does."""

        async def xautoclaim(self, *_: object, **__: object) -> list[object]:
            return [b"0-0", [(None, None), (b"1-1", {b"f": b"x"})], [b"0-9"]][:parts]

        def pipeline(self, **_: object) -> "Old":
            return self

        def xpending_range(self, *_: object, **__: object) -> None:
            """Queued."""

        async def execute(self) -> list[object]:
            return [[{"times_delivered": 4}]]

    async def test() -> None:
        stream = Stream(Old(), STREAM, GROUP, "me")
        assert await stream.claim(b"0-0", 1, 10) == (b"0-0", [Delivery(b"1-1", {b"f": b"x"}, 4)])

    run(test)


def test_a_look_up_pages_through_the_stream(
    valkey_server: ValkeyServer, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X4: an old entry of a long backlog is found; a backlog beyond the bound is "pending", never "not found"."""
    trace_id = str(uuid4())
    client.xadd(STREAM, an_entry(trace_id))
    with client.pipeline(transaction=False) as pipeline:
        for _ in range(600):
            pipeline.xadd(STREAM, an_entry(last := str(uuid4())))
        pipeline.execute()

    async def test() -> None:
        async with a_stream(valkey_server) as stream:
            found = await stream.find("acme", trace_id)
            assert found is not None
            assert found.trace_id == trace_id
            assert await stream.find("rival", trace_id) is None
            assert await stream.find("acme", str(uuid4())) is None
            monkeypatch.setattr("telha_trace_writer.stream._MOST_SEARCHED", 256)
            with pytest.raises(BacklogTooLong):
                await stream.find("acme", last)
            # What an id says of its instant spares what is older.
            made_ms = (client.time()[0] + 3600) * 1000
            young = a_uuid7(made_ms * 1000)
            client.xadd(STREAM, an_entry(young), id=f"{made_ms}-1")
            assert (await stream.find("acme", young)).trace_id == young

    run(test)


def test_consumers_of_dead_processes_are_forgotten_once_they_owe_nothing(
    valkey_server: ValkeyServer, client: Redis, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X2: consumers of dead processes are forgotten once they owe nothing."""
    client.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
    client.xgroup_createconsumer(STREAM, GROUP, "idle")
    client.xadd(STREAM, an_entry())
    client.xreadgroup(GROUP, "owing", {STREAM: ">"})
    monkeypatch.setattr("telha_trace_writer.reclaim._GONE_MS", -1)

    async def test() -> None:
        async with a_stream(valkey_server) as stream:
            await Reclaim(stream, Intake(store, stream, 5, lambda: 0), 1000, 10).forget_consumers()

    run(test)
    assert [found["name"] for found in client.xinfo_consumers(STREAM, GROUP)] == [b"owing"]


def test_a_failing_store_is_a_failure_of_the_store(folder: Path, store: Store) -> None:
    """M6: no error of a driver leaves the store."""
    other = sqlite3.connect(folder / "traces.db")
    other.execute("DROP TABLE trace")
    other.close()
    with pytest.raises(StoreFailed, match="no such table"):
        store.fetch("acme", str(uuid4()))

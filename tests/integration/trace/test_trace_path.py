"""The whole way of a record, with a real Valkey, a real store and real gRPC: spool → stream → writer → store."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import msgpack
import pytest
from fixtures.valkey import ValkeyServer
from telha_trace_writer import letters
from telha_trace_writer.opening import open_store
from telha_trace_writer.store import Filters
from trace_path import (
    STREAM,
    a_listener,
    a_record,
    a_stub,
    a_writer,
    an_emitter,
    append,
    config,
    fetch,
    on_both_engines,
    place_of,
    until,
)

Test = Callable[[], Coroutine[Any, Any, None]]


def stored(folder: Path, tenant: str = "acme") -> list[str]:
    """Ids in the store, in the order in which they were stored first."""
    store = open_store(place_of(folder), 1000)
    try:
        return [row.trace_id for row in reversed(store.browse(tenant, Filters(), None, 10_000))]
    finally:
        store.close()


async def refused(call: Coroutine[Any, Any, Any]) -> grpc.StatusCode:
    with pytest.raises(grpc.aio.AioRpcError) as fault:
        await call
    return fault.value.code()


@on_both_engines
def test_a_record_reaches_the_store_and_leaves_the_spool(valkey_server: ValkeyServer, folder: Path) -> None:
    """X1, X2, X4: round trip, byte for byte; the stream is trimmed behind what is stored."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        async with (
            a_writer(settings) as stub,
            an_emitter(folder / "spool", valkey_server.url, settings.trace.writer) as (
                emitter,
                spool,
            ),
        ):
            trace_ids = await append(spool, 50)
            await asyncio.wait_for(spool.emptied.wait(), 60)
            trace = await fetch(stub, trace_ids[7])
            assert trace.summary.trace_id == trace_ids[7]
            assert (trace.summary.kind, trace.summary.items, trace.summary.used) == ("context", 2, 700)
            assert trace.record["request"]["question"] == "o que mudou? 变了什么? מה השתנה? 👩‍👩‍👧"
            with valkey_server.client() as client:
                await until(lambda: client.xlen(STREAM) == 0)
            assert emitter.settled == 50
            assert emitter.resent == 0

    asyncio.run(test())
    assert len(stored(folder)) == 50


@on_both_engines
def test_a_trace_is_found_at_each_stage(valkey_server: ValkeyServer, folder: Path) -> None:
    """X4: in the spool before Redis has it, in the stream before the store has it, then in the store."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        away = f"unix://{folder / 'nobody'}"
        async with an_emitter(folder / "spool", away, settings.trace.writer) as (_, spool):
            (trace_id,) = await append(spool, 1)
            content = spool.get("acme", trace_id)
            assert content == a_record(trace_id, recorded_us=msgpack.unpackb(content)["recorded_us"])
            assert spool.get("rival", trace_id) is None
        async with an_emitter(folder / "spool", valkey_server.url, settings.trace.writer):
            with valkey_server.client() as client:
                await until(lambda: client.xlen(STREAM) == 1)
        # The writer's service alone: it answers, and nothing consumes.
        async with a_listener(settings) as stub:
            in_stream = await fetch(stub, trace_id)
            assert await refused(fetch(stub, trace_id, "rival")) == grpc.StatusCode.NOT_FOUND
            assert await refused(fetch(stub, str(uuid4()))) == grpc.StatusCode.NOT_FOUND
        assert stored(folder) == []
        async with a_writer(settings) as stub:
            await until(lambda: stored(folder) == [trace_id])
            with valkey_server.client() as client:
                await until(lambda: client.xlen(STREAM) == 0)
            assert await fetch(stub, trace_id) == in_stream

    asyncio.run(test())


def test_a_trace_of_another_tenant_does_not_exist(valkey_server: ValkeyServer, folder: Path) -> None:
    """A6, X4: neither in the stream nor in the store."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        async with (
            a_writer(settings) as stub,
            an_emitter(folder / "spool", valkey_server.url, settings.trace.writer) as (
                _,
                spool,
            ),
        ):
            (trace_id,) = await append(spool, 1)
            await asyncio.wait_for(spool.emptied.wait(), 60)
            assert (await fetch(stub, trace_id)).summary.trace_id == trace_id
            assert await refused(fetch(stub, trace_id, "rival")) == grpc.StatusCode.NOT_FOUND

    asyncio.run(test())


def test_redis_away_and_back_in_order(own_valkey: ValkeyServer, folder: Path) -> None:
    """X3, X4: calls succeed while Redis is away, a trace it may hold is pending, and all arrive once, in order."""
    settings = config(folder, own_valkey.url)

    async def test() -> None:
        async with (
            a_writer(settings) as stub,
            an_emitter(folder / "spool", own_valkey.url, settings.trace.writer) as (
                emitter,
                spool,
            ),
        ):
            sent = await append(spool, 20)
            await asyncio.wait_for(spool.emptied.wait(), 60)
            await asyncio.to_thread(own_valkey.stop)
            sent += await append(spool, 200)
            assert spool.depth == 200
            assert await refused(fetch(stub, sent[-1])) == grpc.StatusCode.UNAVAILABLE
            assert (await fetch(stub, sent[0])).summary.trace_id == sent[0]
            await until(lambda: emitter.failures > 1)
            await asyncio.to_thread(own_valkey.start)
            await asyncio.wait_for(spool.emptied.wait(), 30)
            assert stored(folder) == sent

    asyncio.run(test())


def test_a_redis_that_forgets_what_it_acknowledged_loses_nothing(valkey_server: ValkeyServer, folder: Path) -> None:
    """X3: FLUSHALL after the acknowledgement, before the writer read: the spool still has the records."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        async with an_emitter(folder / "spool", valkey_server.url, settings.trace.writer) as (emitter, spool):
            sent = await append(spool, 30)
            with valkey_server.client() as client:
                await until(lambda: client.xlen(STREAM) == 30)
                client.flushall()
            async with a_writer(settings):
                await asyncio.wait_for(spool.emptied.wait(), 30)
                assert emitter.resent == 30
                # And once more with the group gone under a running writer.
                with valkey_server.client() as client:
                    client.flushall()
                sent += await append(spool, 30)
                await asyncio.wait_for(spool.emptied.wait(), 30)
            assert sorted(stored(folder)) == sorted(sent)

    asyncio.run(test())


def test_records_left_by_a_dead_planner_arrive_once(valkey_server: ValkeyServer, folder: Path) -> None:
    """X3: an orphaned spool is adopted; what its planner had sent already is not stored twice."""
    settings = config(folder, valkey_server.url)
    away = f"unix://{folder / 'nobody'}"

    async def test() -> None:
        async with (
            an_emitter(folder / "spool", away, settings.trace.writer) as (_, one),
            an_emitter(folder / "spool", valkey_server.url, settings.trace.writer) as (two, second),
        ):
            sent = await append(one, 5) + await append(second, 5)
            await until(lambda: two.sent == 5)
        async with (
            a_writer(settings) as stub,
            an_emitter(folder / "spool", valkey_server.url, settings.trace.writer) as (
                heir,
                spool,
            ),
        ):
            await asyncio.wait_for(spool.emptied.wait(), 60)
            for trace_id in sent:
                assert (await fetch(stub, trace_id)).summary.trace_id == trace_id
            assert heir.settled == 10
        assert sorted(stored(folder)) == sorted(sent)

    asyncio.run(test())


def test_stopping_an_emitter_drains_it(valkey_server: ValkeyServer, folder: Path) -> None:
    """A1, X3: a planner that stops hands on what it has, within its time."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        async with (
            a_writer(settings),
            an_emitter(folder / "spool", valkey_server.url, settings.trace.writer) as (
                emitter,
                spool,
            ),
        ):
            await append(spool, 10)
            await emitter.stop(20)
            assert spool.depth == 0
        started = asyncio.get_running_loop().time()
        async with an_emitter(folder / "spool", f"unix://{folder / 'nobody'}", settings.trace.writer) as (
            emitter,
            spool,
        ):
            await append(spool, 1)
            await emitter.stop(60)
            assert spool.depth == 1
        assert asyncio.get_running_loop().time() - started < 10

    asyncio.run(test())


@on_both_engines
def test_two_writers_share_the_work(valkey_server: ValkeyServer, folder: Path) -> None:
    """X2: one group, one store, each trace once."""
    first, second = (
        config(folder, valkey_server.url, batch_entries=3),
        config(folder, valkey_server.url, batch_entries=3),
    )
    second = second.model_copy(update={"trace": second.trace.model_copy(update={"writer": f"unix:{folder / 'w2'}"})})

    async def test() -> None:
        async with (
            a_writer(first),
            a_writer(second),
            a_stub(second.trace.writer) as stub,
            an_emitter(folder / "spool", valkey_server.url, first.trace.writer) as (_, spool),
        ):
            sent = await append(spool, 100)
            await asyncio.wait_for(spool.emptied.wait(), 60)
            assert (await fetch(stub, sent[50])).summary.trace_id == sent[50]
        assert sorted(stored(folder)) == sorted(sent)

    asyncio.run(test())


@on_both_engines
def test_a_record_that_no_writer_can_read_does_not_stay_for_ever(valkey_server: ValkeyServer, folder: Path) -> None:
    """X2: a dead letter is settled for its planner; it is kept with its reason."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        async with (
            a_writer(settings),
            an_emitter(folder / "spool", valkey_server.url, settings.trace.writer) as (
                _,
                spool,
            ),
        ):
            trace_id = str(uuid4())
            await spool.append(a_record(trace_id, kind=7), trace_id)
            await asyncio.wait_for(spool.emptied.wait(), 60)
        with valkey_server.client() as client:
            ((_, fields),) = client.xrange(f"{STREAM}:dead")
            assert fields[b"reason"] == b"kind is absent or no string"
        store = open_store(place_of(folder), 1000)
        (letter,) = list(letters.with_content(store))
        store.close()
        assert (letter.trace_id, letter.reason) == (trace_id, "kind is absent or no string")

    asyncio.run(test())

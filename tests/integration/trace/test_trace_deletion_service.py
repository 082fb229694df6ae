"""`TraceStore.DeleteTenant` over real gRPC, with a real Valkey: store, dead letters and what is under way."""

import asyncio
import logging
from pathlib import Path
from uuid import uuid4

import grpc
import pytest
from fixtures.valkey import ValkeyServer
from google.rpc import error_details_pb2, status_pb2
from redis import Redis
from telha.trace.v1 import trace_store_pb2
from telha_planner.core.errors import Unavailable
from telha_planner.server.trace_writer_port import TraceWriter
from telha_trace_writer import letters
from telha_trace_writer.opening import open_store
from trace_path import (
    STREAM,
    TOKEN,
    a_listener,
    a_writer,
    an_emitter,
    an_entry,
    append,
    config,
    credential,
    fetch,
    on_both_engines,
    place_of,
    until,
)
from trace_stores import T, a_uuid7, ids

END = 2**62


def deletion(tenant: str = "acme", deleted_us: int = END) -> trace_store_pb2.DeleteTenantRequest:
    return trace_store_pb2.DeleteTenantRequest(tenant=tenant, deleted_us=deleted_us)


@on_both_engines
def test_a_tenant_is_deleted_from_every_place(
    valkey_server: ValkeyServer, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """M5: store, dead letters and their stream; others keep theirs; a second call answers alike; the log counts."""
    caplog.set_level(logging.INFO, "telha_trace_writer")
    mine, theirs = [a_uuid7(T + number) for number in range(3)], str(uuid4())

    async def test() -> None:
        async with a_writer(config(folder, valkey_server.url)) as stub:
            with Redis.from_url(valkey_server.url) as client:
                for trace_id in mine:
                    client.xadd(STREAM, an_entry(trace_id))
                client.xadd(STREAM, an_entry(theirs, "rival"))
                client.xadd(STREAM, an_entry(a_uuid7(T), recorded_us="never"))
                client.xadd(STREAM, an_entry(a_uuid7(T), "rival", recorded_us="never"))
                await until(lambda: client.xlen(f"{STREAM}:dead") == 2 and client.xlen(STREAM) == 0)
                for _ in range(2):
                    gone = await stub.DeleteTenant(deletion(), metadata=credential())
                    assert (gone.traces, gone.dead_letters, gone.dropped) == (3, 1, 0)
                assert client.xlen(f"{STREAM}:dead") == 1
            assert (await fetch(stub, theirs, "rival")).summary.trace_id == theirs
            with pytest.raises(grpc.aio.AioRpcError) as fault:
                await fetch(stub, mine[0])
            assert fault.value.code() is grpc.StatusCode.NOT_FOUND

    asyncio.run(test())
    assert "deleted a tenant: 3 traces, 1 dead letters, 1 of them announced, 0 late" in caplog.text
    store = open_store(place_of(folder), 1000)
    assert (ids(store), ids(store, "rival")) == ([], [theirs])
    assert [letter.tenant for letter in list(letters.with_content(store))] == ["rival"]
    store.close()


def test_what_is_under_way_is_dropped_and_leaves_the_spool(valkey_server: ValkeyServer, folder: Path) -> None:
    """M5, X2, X3: a record that is still in a spool when its tenant is deleted arrives, is dropped, and is settled."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        async with an_emitter(folder / "spool", valkey_server.url, settings.trace.writer) as (emitter, spool):
            sent = await append(spool, 5)
            with Redis.from_url(valkey_server.url) as client:
                await until(lambda: client.xlen(STREAM) == 5)
                async with a_listener(settings) as stub:
                    gone = await stub.DeleteTenant(deletion(), metadata=credential())
                    assert (gone.traces, gone.dropped) == (0, 0)
                    with pytest.raises(grpc.aio.AioRpcError) as fault:
                        await fetch(stub, sent[0])
                    assert fault.value.code() is grpc.StatusCode.NOT_FOUND
                async with a_writer(settings) as stub:
                    await asyncio.wait_for(spool.emptied.wait(), 60)
                    assert emitter.settled == 5
                    await until(lambda: client.xlen(STREAM) == 0)
                    assert (await stub.DeleteTenant(deletion(), metadata=credential())).dropped == 5
                    assert not client.exists(f"{STREAM}:dead")

    asyncio.run(test())
    store = open_store(place_of(folder), 1000)
    assert ids(store) == []
    store.close()


def test_a_late_poison_record_of_a_deleted_tenant_is_dropped(valkey_server: ValkeyServer, folder: Path) -> None:
    """M5: neither kept nor announced, and acknowledged all the same."""

    async def test() -> None:
        async with a_writer(config(folder, valkey_server.url)) as stub:
            await stub.DeleteTenant(deletion(), metadata=credential())
            with Redis.from_url(valkey_server.url) as client:
                trace_id = a_uuid7(T)
                client.xadd(STREAM, an_entry(trace_id, recorded_us="never"))
                await until(lambda: client.xlen(STREAM) == 0)
                assert not client.exists(f"{STREAM}:dead")
            request = trace_store_pb2.PersistedRequest(trace_ids=[trace_id])
            assert (await stub.Persisted(request, metadata=credential())).trace_ids == [trace_id]

    asyncio.run(test())
    store = open_store(place_of(folder), 1000)
    assert list(letters.with_content(store)) == []
    store.close()


def test_a_planner_deletes_through_its_port(valkey_server: ValkeyServer, folder: Path) -> None:
    """M5: the count of traces; Unavailable while the stream cannot be asked, and then the same count again."""
    settings = config(folder, valkey_server.url)
    away = config(folder, f"unix://{folder / 'nobody'}")

    async def test() -> None:
        writer = TraceWriter(settings.trace.writer, TOKEN)
        async with a_writer(settings) as stub:
            with Redis.from_url(valkey_server.url) as client:
                trace_id = client.xadd(STREAM, an_entry()) and str(uuid4())
                client.xadd(STREAM, an_entry(trace_id))
                await until(lambda: client.xlen(STREAM) == 0)
            assert (await fetch(stub, trace_id)).summary.trace_id == trace_id
        async with a_listener(away):
            with pytest.raises(Unavailable):
                await writer.delete_tenant("acme", END)
        async with a_listener(settings):
            assert await writer.delete_tenant("acme", END) == 2
            assert await writer.delete_tenant("nobody", END) == 0
        await writer.close()

    asyncio.run(test())


@pytest.mark.parametrize("tenant", ["", "a\0b", "x" * 513])
def test_a_deletion_names_a_tenant(tenant: str, folder: Path) -> None:
    """A6: nothing else is looked for, least of all dead letters that tell no tenant."""

    async def test() -> None:
        async with a_listener(config(folder, f"unix://{folder / 'nobody'}")) as stub:
            with pytest.raises(grpc.aio.AioRpcError) as fault:
                await stub.DeleteTenant(deletion(tenant), metadata=credential())
            trailers = dict(fault.value.trailing_metadata())
            status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
            bad = error_details_pb2.BadRequest()
            assert [each.field for one in status.details if one.Unpack(bad) for each in bad.field_violations] == [
                "tenant"
            ]

    asyncio.run(test())

"""Builders for tests of the trace path: records as a planner writes them, a writer in process, its gRPC answers."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import msgpack
import pytest
from telha.trace.v1 import trace_store_pb2, trace_store_pb2_grpc
from telha_planner.core.errors import Unavailable
from telha_planner.trace.emitter import Emitter
from telha_planner.trace.settlement import Settled
from telha_planner.trace.spool import Spool
from telha_runtime import frame, redis
from telha_runtime.frame import Frame
from telha_trace_writer import service
from telha_trace_writer.config import SharedTraceSettings, WriterConfig, WriterSettings
from telha_trace_writer.opening import open_store
from telha_trace_writer.servicer import Listener, TraceStoreServicer
from telha_trace_writer.spools import Spools
from telha_trace_writer.stream import Stream

TOKEN = "internal-credential-of-the-tests"
STREAM = "telha:{trace}:0"
SOURCE = "5d2f0c3b-0000-4000-8000-000000000001"
MB = 1024 * 1024
_INSTANTS = itertools.count(1_790_000_000_000_000)


def a_record(trace_id: str, tenant: str = "acme", **changes: Any) -> bytes:
    """A record of a Context call, as docs/trace-record.md describes it."""
    content = {
        "v": 1,
        "kind": "context",
        "trace_id": trace_id,
        "tenant": tenant,
        "key_id": "abcdefghijkl",
        "recorded_us": next(_INSTANTS),
        "request": {"question": "o que mudou? 变了什么? מה השתנה? 👩‍👩‍👧"},
        "request_hash": "xxh3:0123456789abcdef",
        "window": {"validTime": 1_790_000_000_000_000, "txTime": 1_790_000_000_000_000},
        "spaces": ["main"],
        "budget": {"requested": 2000, "applied": 1800, "used": 700, "stranded": 40},
        "plan_hash": "b3:" + "ab" * 32,
        "item_coords": [[SOURCE, 1_789_000_000_000_000, 0, 120], [SOURCE, 1_789_000_000_000_000, 200, 260]],
        "stats": {"poolSpans": 2},
        "query_vector": b"\x00\x00\x80?",
        "pool": None,
        "error": None,
    }
    return msgpack.packb(content | changes)


def an_entry(trace_id: str | None = None, tenant: str = "acme", **changes: Any) -> dict[bytes, bytes]:
    """A stream entry that holds a record."""
    trace_id = trace_id or str(uuid4())
    return {frame.FIELD: frame.encode(Frame(str(uuid4()), 1, trace_id, tenant, a_record(trace_id, tenant, **changes)))}


on_both_engines = pytest.mark.parametrize("folder", ["sqlite", "postgres"], indirect=True)
"""Runs a test with the trace store on each engine."""


def place_of(folder: Path) -> str:
    """Where the trace store of *folder* is, see `fixtures.traces.folder`."""
    named = folder / "store"
    return named.read_text() if named.exists() else str(folder / "traces.db")


def config(folder: Path, redis_url: str, **changes: Any) -> WriterConfig:
    """A writer's configuration: its store and its socket in *folder*."""
    return WriterConfig(
        trace=SharedTraceSettings(
            redis_url=redis_url, stream=STREAM, writer=f"unix:{folder / 'w'}", internal_token=TOKEN
        ),
        writer=WriterSettings(**{"store": place_of(folder), "reclaim_idle_ms": 200, "drain_ms": 200} | changes),
    )


@asynccontextmanager
async def a_writer(settings: WriterConfig) -> AsyncIterator[trace_store_pb2_grpc.TraceStoreStub]:
    """A whole trace writer in this process, and a stub of its service."""
    stop = asyncio.Event()
    running = asyncio.create_task(service.serve(settings, stop))
    try:
        async with a_stub(settings.trace.writer) as stub:
            yield stub
    finally:
        stop.set()
        await running


@asynccontextmanager
async def a_listener(settings: WriterConfig) -> AsyncIterator[Any]:
    """The service alone, over the store and whatever is in the stream: nothing consumes."""
    client = redis.connect(settings.trace.redis_url)
    store = open_store(settings.writer.store, 1000)
    stream = Stream(client, STREAM, "writer", "nobody")
    servicer = TraceStoreServicer(store, stream, Spools(store, now_us), TOKEN)
    listener = Listener(settings.trace.writer, servicer)
    await listener.start()
    try:
        async with a_stub(settings.trace.writer) as stub:
            yield stub
    finally:
        await listener.stop(0)
        await client.aclose()
        store.close()


@asynccontextmanager
async def a_stub(address: str) -> AsyncIterator[Any]:
    """A stub of the writer at *address*, connected."""
    options = (("grpc.max_receive_message_length", -1), ("grpc.max_reconnect_backoff_ms", 100))
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        async with asyncio.timeout(20):
            await channel.channel_ready()
        yield trace_store_pb2_grpc.TraceStoreStub(channel)


def credential(token: str = TOKEN) -> tuple[tuple[str, str], ...]:
    """Metadata that shows *token*."""
    return (("telha-internal", token),)


async def fetch(stub: Any, trace_id: str, tenant: str = "acme") -> Any:
    """The trace as the writer tells it."""
    request = trace_store_pb2.FetchRequest(tenant=tenant, trace_id=trace_id)
    return (await stub.Fetch(request, metadata=credential(), timeout=10)).trace


class RemoteWriter:
    """The emitter's question to the writer, over gRPC at *address*."""

    def __init__(self, address: str) -> None:
        options = (("grpc.max_reconnect_backoff_ms", 100), ("grpc.initial_reconnect_backoff_ms", 20))
        self.channel = grpc.aio.insecure_channel(address, options=options)
        self._stub = trace_store_pb2_grpc.TraceStoreStub(self.channel)

    async def persisted(self, trace_ids: Sequence[str], spools: Sequence[Settled] = ()) -> Collection[str]:
        """See `telha_planner.trace.settlement.Writer`."""
        states = [
            trace_store_pb2.SpoolState(spool=state.spool, settled_before_us=state.before_us, gone=state.gone)
            for state in spools
        ]
        request = trace_store_pb2.PersistedRequest(trace_ids=trace_ids, spools=states)
        try:
            return list((await self._stub.Persisted(request, metadata=credential(), timeout=5)).trace_ids)
        except grpc.aio.AioRpcError as fault:
            raise Unavailable(part="the trace writer") from fault


@asynccontextmanager
async def an_emitter(
    folder: Path, redis_url: str, writer: str, *, max_bytes: int = 8 * MB, **pauses: Any
) -> AsyncIterator[tuple[Emitter, Spool]]:
    """A spool in *folder* and its emitter, running."""
    spool = Spool.open(folder, max_bytes)
    client = redis.connect(redis_url, reply_within_s=2)
    remote = RemoteWriter(writer)
    pauses = {"confirm_every_s": 0.02, "overdue_s": 0.5} | pauses
    emitter = Emitter(spool, client, remote, STREAM, now_us=now_us, **pauses)
    emitter.start()
    try:
        yield emitter, spool
    finally:
        await emitter.stop(0)
        await spool.close()
        await client.aclose()
        await remote.channel.close()


def now_us() -> int:
    """The wall clock."""
    return time.time_ns() // 1000


async def append(spool: Spool, count: int, tenant: str = "acme") -> list[str]:
    """Append *count* records; their ids in order."""
    trace_ids = [str(uuid4()) for _ in range(count)]
    for trace_id in trace_ids:
        await spool.append(a_record(trace_id, tenant), trace_id)
    return trace_ids


async def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Return as soon as *holds*."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110  # what is waited for lies in other processes
            await asyncio.sleep(0.01)

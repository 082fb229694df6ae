"""`trace.durability = "stream"`: a call is answered when Redis has its record; no disk, no wait beyond one reply."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from fixtures.valkey import ValkeyServer
from telha_planner.core.errors import TraceBacklogFull, Unavailable
from telha_planner.trace.direct import StreamRecords
from telha_runtime import frame, redis
from trace_path import STREAM, a_record, a_writer, config, fetch, until


@asynccontextmanager
async def records_of(url: str, reply_within_s: float = 1.0, most: int = 1000) -> AsyncIterator[StreamRecords]:
    client = redis.connect(url, reply_within_s=reply_within_s)
    records = StreamRecords(client, STREAM, most, str(uuid4()))
    records.start()
    try:
        yield records
    finally:
        await records.close()
        await client.aclose()


def test_a_record_is_in_redis_before_the_answer_and_then_in_the_store(
    valkey_server: ValkeyServer, folder: Path
) -> None:
    """X3, X4: appended means acknowledged by Redis; the trace is found at once, through the writer."""
    settings = config(folder, valkey_server.url)

    async def test() -> None:
        async with records_of(valkey_server.url) as records, a_writer(settings) as stub:
            ids = [str(uuid4()) for _ in range(20)]
            assert all(await asyncio.gather(*(records.append(a_record(t), t) for t in ids)))
            for trace_id in ids:
                assert (await fetch(stub, trace_id)).summary.trace_id == trace_id
            assert records.get("acme", ids[0]) is None
            assert records.sent == 20

    asyncio.run(test())


def test_a_redis_that_is_away_full_or_too_long_refuses_the_call(own_valkey: ValkeyServer) -> None:
    """X3: typed, and the next call after it is well is taken."""

    async def test() -> None:
        async with records_of(own_valkey.url, most=3) as records:
            with own_valkey.client() as client:
                client.config_set("maxmemory", "1")
                with pytest.raises(Unavailable):
                    await records.append(a_record(str(uuid4())), str(uuid4()))
                client.config_set("maxmemory", "0")
                trace_ids = [str(uuid4()) for _ in range(3)]
                for trace_id in trace_ids:
                    assert await records.append(a_record(trace_id), trace_id)
                with pytest.raises(TraceBacklogFull):
                    await records.append(a_record(str(uuid4())), str(uuid4()))
                assert [frame.decode(f).trace_id for _, f in client.xrange(STREAM)] == trace_ids
                client.delete(STREAM)
            own_valkey.stop()
            with pytest.raises(Unavailable):
                await records.append(a_record(str(uuid4())), str(uuid4()))
            own_valkey.start()
            assert await records.append(a_record(str(uuid4())), str(uuid4()))
            assert records.refused == 3

    asyncio.run(test())


def test_a_redis_that_never_answers_holds_a_call_for_one_reply_at_most() -> None:
    """X3: a black hole ends in `UNAVAILABLE`, and calls that waited meanwhile are not lined up behind one another."""

    async def test() -> None:
        with socket.create_server(("127.0.0.1", 0)) as hole:
            async with records_of(f"redis://127.0.0.1:{hole.getsockname()[1]}/0", reply_within_s=1) as records:
                begun = time.monotonic()
                calls = [records.append(a_record(str(uuid4())), str(uuid4())) for _ in range(20)]
                outcomes = await asyncio.gather(*calls, return_exceptions=True)
                assert all(isinstance(outcome, Unavailable) for outcome in outcomes)
                assert time.monotonic() - begun < 10
                await until(lambda: records.refused == 20)

    asyncio.run(test())

"""More is asked than can be answered: who is refused, what it costs, and what goes on meanwhile."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from planner_server import RealPlanner
from replicas import Replicas
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import planner_pb2
from telha_client import Document
from telha_planner.config import PlannerConfig, ServerSettings

PLAN, INGEST = "/telha.planner.v1.Planner/Plan", "/telha.memory.v1.Memory/Ingest"
STREAM = f"{INGEST}Stream"
UNKNOWN = f"telha_{'a' * 12}_{'b' * 43}"
QUESTION = planner_pb2.PlanRequest(question="when does the tram stop?").SerializeToString()
APART = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
MEBIBYTE = 1 << 20


async def outcome(channel: grpc.aio.Channel, method: str, message: bytes, key: str) -> tuple[str, bool]:
    """Why a call failed (empty if it did not), and whether it was told when to come back."""
    try:
        await channel.unary_unary(method)(message, timeout=60, metadata=(("authorization", f"Bearer {key}"),))
    except grpc.aio.AioRpcError as error:
        raw = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
        info, retry, advised = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo(), False
        for detail in status_pb2.Status.FromString(raw).details:
            detail.Unpack(info)
            advised = detail.Unpack(retry) or advised
        return info.reason or error.code().name, advised
    return "", False


@pytest.fixture
def planner(tmp_path: Path) -> Iterator[RealPlanner]:
    with RealPlanner(tmp_path, PlannerConfig(server=ServerSettings(max_waiting=4))) as running:
        for tenant in ("greedy", "modest"):
            with running.client(tenant) as client:
                client.memory.ingest([Document(name="n.md", content="The tram stops at two.")])
        yield running


async def asking(address: str, key: str, stop: asyncio.Event, told: Counter[tuple[str, bool]]) -> None:
    async with grpc.aio.insecure_channel(address, options=APART) as channel:
        while not stop.is_set():
            told[await outcome(channel, PLAN, QUESTION, key)] += 1


@pytest.mark.parametrize("flood", ["greedy", "strangers"])
def test_who_floods_is_refused_and_nobody_else(planner: RealPlanner, flood: str) -> None:
    """A1, A9: at once, with RetryInfo; the calls of another tenant all find a place, and health answers throughout."""

    async def scenario() -> Counter[tuple[str, bool]]:
        stop, told = asyncio.Event(), Counter[tuple[str, bool]]()
        numbers = itertools.count()
        keys = [
            planner.key("greedy") if flood == "greedy" else f"telha_{'a' * 12}_{next(numbers):043d}" for _ in range(24)
        ]
        async with grpc.aio.insecure_channel(planner.address, options=APART) as channel:
            assert await outcome(channel, PLAN, QUESTION, planner.key("modest")) == ("", False)
            floods = [asyncio.ensure_future(asking(planner.address, key, stop, told)) for key in keys]
            while told["OVERLOADED", True] < 20:  # noqa: ASYNC110 what is watched is a count
                await asyncio.sleep(0.01)
            stub = health_pb2_grpc.HealthStub(channel)
            for _ in range(20):
                assert await outcome(channel, PLAN, QUESTION, planner.key("modest")) == ("", False)
                answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=60)
                assert answer.status == health_pb2.HealthCheckResponse.SERVING
            stop.set()
            await asyncio.gather(*floods)
        return told

    told = asyncio.run(scenario())
    answered = ("", False) if flood == "greedy" else ("UNAUTHENTICATED", False)
    assert told[answered] > 0
    assert set(told) == {answered, ("OVERLOADED", True)}


@pytest.mark.process
@pytest.mark.parametrize("kind", ["unknown keys", "one key", "too large", "streams"])
def test_many_large_messages_at_once_are_not_held_at_once(tmp_path: Path, kind: str) -> None:
    """A1: what does not fit is refused before it is read; a gigabyte that is offered costs a fraction of it."""
    replicas = Replicas(tmp_path, {"TELHA_SERVER__MAX_HELD_BYTES": 16 * MEBIBYTE})
    large = memory_pb2.IngestRequest(documents=[memory_pb2.Document(name="n", content=b"word " * 800_000)])
    size, calls = (2, 120) if kind == "too large" else (1, 240)
    message = large.SerializeToString() * size

    async def offered(port: int) -> Counter[str]:
        channels = [grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=APART) for _ in range(6)]
        key = UNKNOWN if kind in {"unknown keys", "streams"} else replicas.key
        methods = (STREAM, STREAM) if kind == "streams" else (PLAN, INGEST)
        try:
            asked = (outcome(channels[n % 6], methods[n % 2], message, key) for n in range(calls))
            return Counter(reason for reason, _ in await asyncio.gather(*asked))
        finally:
            for channel in channels:
                await channel.close()

    try:
        port = replicas.planner()
        before = replicas.peak_bytes(0)
        told = asyncio.run(offered(port))
        grown = replicas.peak_bytes(0) - before
    finally:
        replicas.close()
    assert told["OVERLOADED"] > calls / 4
    assert grown < len(message) * calls / 6


def test_the_first_message_of_a_stream_is_not_read_without_room(tmp_path: Path) -> None:
    """A1, M8: whatever its key; the room is free again once the stream counts as an upload, is refused or given up."""
    largest = 64 * 1024
    limits = ServerSettings(max_message_bytes=largest, max_held_bytes=2 * largest)
    large = memory_pb2.IngestStreamRequest(chunk=b"x" * (largest - 100)).SerializeToString()
    header = memory_pb2.IngestStreamRequest(header=memory_pb2.IngestStreamHeader(name="n.md")).SerializeToString()
    chunk = memory_pb2.IngestStreamRequest(chunk=b"The tram stops at two.").SerializeToString()

    async def scenario(planner: RealPlanner) -> None:
        key, looked_at = planner.key("modest"), ("INSUFFICIENT_EVIDENCE", False)
        async with grpc.aio.insecure_channel(planner.address, options=APART) as channel:

            async def told_once(method: str, message: bytes, key: str, reason: str) -> tuple[str, bool]:
                while (told := await outcome(channel, method, message, key))[0] != reason:  # noqa: ASYNC110 by asking
                    await asyncio.sleep(0.01)
                return told

            assert await outcome(channel, PLAN, QUESTION, key) == looked_at
            for given_up in (True, False):
                held = channel.stream_unary(STREAM)(timeout=60, metadata=(("authorization", f"Bearer {key}"),))
                await held.wait_for_connection()
                # It has sent nothing, and the room is its.
                assert await told_once(STREAM, large, UNKNOWN, "OVERLOADED") == ("OVERLOADED", True)
                assert await outcome(channel, PLAN, QUESTION, key) == ("OVERLOADED", True)
                if given_up:
                    held.cancel()
                else:
                    await held.write(header)
                assert await told_once(STREAM, large, UNKNOWN, "UNAUTHENTICATED") == ("UNAUTHENTICATED", False)
                assert await outcome(channel, PLAN, QUESTION, key) == looked_at
            await held.write(chunk)
            await held.done_writing()
            answer = memory_pb2.IngestStreamResponse.FromString(await held)
            assert answer.document.outcome == memory_pb2.INGEST_OUTCOME_CREATED

    with RealPlanner(tmp_path, PlannerConfig(server=limits)) as planner:
        asyncio.run(asyncio.wait_for(scenario(planner), 60))

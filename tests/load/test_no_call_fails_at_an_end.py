"""One of two replicas ends under load: no plan, no write, no stream and no REST request fails."""

import asyncio
import http.client
import io
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from balancer import Balancer
from replicas import Replicas
from telha_client import AsyncClient, Document
from telha_runtime import health

pytestmark = [pytest.mark.process, pytest.mark.timeout(280)]

QUESTION = "when does the night tram stop?"
NOTES = "# Harbour\n\nThe night tram stops at two. 夜间电车两点停运。 🧑‍🚀\n"
BEFORE, AFTER = 20, 20
"""Calls of each kind that are answered before the signal, and after the process has ended."""
SETTINGS = {
    "TELHA_SERVER__MAX_WAITING": 64,
    "TELHA_SERVER__DRAIN_NOTICE_MS": 2000,
    "TELHA_SERVER__DRAIN_MS": 60_000,
    "TELHA_SERVER__MAX_CONNECTION_AGE_MS": 500,
    "TELHA_GATEWAY__DRAIN_NOTICE_MS": 2000,
}


@pytest.fixture
def replicas(tmp_path: Path) -> Iterator[Replicas]:
    running = Replicas(tmp_path, SETTINGS)
    try:
        yield running
    finally:
        running.close()


class Load:
    """Kinds of calls, each made again and again; the first that fails ends the test."""

    def __init__(self) -> None:
        self.done: dict[str, int] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def steadily(self, kind: str, call: Callable[[int], Awaitable[object]], tasks: int = 1) -> None:
        numbers = itertools.count()
        self.done[kind] = 0

        async def again() -> None:
            while True:
                await call(next(numbers))
                self.done[kind] += 1

        self._tasks += [asyncio.ensure_future(again()) for _ in range(tasks)]

    async def until(self, more: int) -> None:
        """Return when each kind was answered *more* times from now on."""
        goal = {kind: done + more for kind, done in self.done.items()}
        while any(self.done[kind] < number for kind, number in goal.items()):
            await asyncio.wait(self._tasks, timeout=0.02, return_when=asyncio.FIRST_COMPLETED)
            for task in self._tasks:
                if task.done():
                    task.result()

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def calls(address: str, key: str) -> AsyncIterator[Load]:
    """Plans, writes and streams of a client of *address*."""
    load = Load()
    async with AsyncClient(address, key=key, timeout=60) as client:
        await client.memory.ingest([Document(name="notes.md", content=NOTES)])

        def streamed(number: int) -> Awaitable[object]:
            file = io.BytesIO(f"# Stream {number}\n\nA line.\n".encode())
            file.name = f"stream-{number}.md"
            return client.memory.ingest_stream(file)

        load.steadily("plan", lambda _: client.plan(QUESTION), 3)
        load.steadily(
            "write", lambda n: client.memory.ingest([Document(name=f"n{n}.md", content=f"# Number {n}\n\nA line.\n")])
        )
        load.steadily("stream", streamed)
        try:
            yield load
        finally:
            await load.end()


async def one_ends(replicas: Replicas, load: Load, number: int = 0) -> None:
    """End a replica under *load*, which goes on before, meanwhile and after."""
    await load.until(BEFORE)
    replicas.end(number)
    assert await asyncio.to_thread(replicas.code, number) == 0
    await load.until(AFTER)


def test_a_client_of_both_planners_loses_no_call(replicas: Replicas) -> None:
    """A1: the client leaves a planner that says it drains; what it still refuses is made again at the other."""

    async def scenario() -> None:
        ports = [replicas.planner(), replicas.planner()]
        async with calls(",".join(f"127.0.0.1:{port}" for port in ports), replicas.key) as load:
            await one_ends(replicas, load)
        assert all(replicas.answered(port) >= BEFORE for port in ports)

    asyncio.run(scenario())


def test_a_client_behind_a_balancer_of_connections_loses_no_call(replicas: Replicas) -> None:
    """A1: connections that have come of age are opened anew, where the balancer finds a planner well."""

    async def healthy(port: int) -> bool:
        return await asyncio.to_thread(health.serving, f"127.0.0.1:{port}")

    async def scenario() -> None:
        ports = [replicas.planner(), replicas.planner()]
        async with (
            Balancer(ports, healthy) as balancer,
            calls(f"127.0.0.1:{balancer.port}", replicas.key) as load,
        ):
            while not all(balancer.opened.values()):
                await load.until(1)
            await one_ends(replicas, load)
        assert all(replicas.answered(port) for port in ports)

    asyncio.run(scenario())


def test_rest_callers_lose_no_request_when_a_planner_or_a_gateway_ends(replicas: Replicas) -> None:
    """A1, A2: callers that keep their connections are told to open others; both planners serve both gateways."""

    async def ready(port: int) -> bool:
        return await asyncio.to_thread(health.ready, f"http://127.0.0.1:{port}/readyz")

    async def scenario() -> None:
        planners = ",".join(f"127.0.0.1:{replicas.planner()}" for _ in range(2))
        gateways = [replicas.gateway(planners) for _ in range(2)]
        headers = {"authorization": f"Bearer {replicas.key}", "content-type": "application/json"}
        async with Balancer(gateways, ready) as balancer:
            kept = [http.client.HTTPConnection("127.0.0.1", balancer.port, timeout=60) for _ in range(4)]

            def ask(number: int, path: str, body: object) -> None:
                connection = kept[number]
                connection.request("POST", path, json.dumps(body), headers)
                answer = connection.getresponse()
                told = answer.read()
                assert answer.status == 200, told

            def written(number: int) -> Awaitable[object]:
                documents = [{"name": f"n{number}.md", "text": f"# Number {number}\n\nA line.\n"}]
                return asyncio.to_thread(ask, 0, "/v1/memory/sources", {"documents": documents})

            load = Load()
            await written(0)
            load.steadily("write", lambda number: written(number + 1))
            for caller in (1, 2, 3):
                load.steadily(
                    f"context {caller}",
                    lambda _, caller=caller: asyncio.to_thread(ask, caller, "/v1/memory/context", {"question": "tram"}),
                )
            try:
                await one_ends(replicas, load, 0)
                await one_ends(replicas, load, 2)
            finally:
                await load.end()
                for connection in kept:
                    connection.close()

    asyncio.run(scenario())

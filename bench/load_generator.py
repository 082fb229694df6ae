"""
Makes calls at a running system, in a process of its own, and tells what became of them.

Reads an `Order` as JSON from standard input and writes a `Report` as JSON. A closed loop has callers that each wait for
their answer before they ask again: it finds what the system can do. An open loop asks at instants that were fixed
before (exponential gaps, seeded), whatever the system does: there latency counts from the instant at which a call was
due, so that a system which makes the generator late cannot hide it (no coordinated omission). Health is asked beside it
all, on connections of its own, over gRPC and over REST, and counts the same way.
"""

import asyncio
import gc
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from itertools import count
from urllib.parse import urlsplit

import grpc
import grpc.aio
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from telha.planner.v1 import planner_pb2

DETAILS = "grpc-status-details-bin"
HEALTH_EVERY_S = 0.02
DEADLINE_S = 5.0


@dataclass(frozen=True)
class Order:
    """
    What to do.

    Attributes:
        address, http: Of planner and gateway.
        rate: Calls a second of an open loop; 0 is a closed loop.
        callers: Of a closed loop.
        seconds: How long.
    """

    address: str
    http: str
    keys: list[str]
    questions: list[str]
    budget: int
    seconds: float
    rate: float = 0.0
    callers: int = 1
    seed: int = 1


@dataclass
class Report:
    """
    What happened; milliseconds, ascending.

    Attributes:
        outcomes: How many calls ended with which reason; `OK` is an answer.
        advised: Refusals that said when to come back.
        took_s: From the first call to the last answer.
    """

    outcomes: dict[str, int] = field(default_factory=dict)
    accepted: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    advised: int = 0
    grpc_health: list[float] = field(default_factory=list)
    rest_health: list[float] = field(default_factory=list)
    unhealthy: int = 0
    took_s: float = 0.0

    def refused_by_reason(self) -> dict[str, int]:
        """Calls that were not answered, by reason."""
        return {reason: number for reason, number in self.outcomes.items() if reason != "OK"}


class Generator:
    """Carries out an order."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.report = Report()
        self._numbers = count()

    async def run(self) -> Report:
        """Make the calls; returns when the last one has ended."""
        # A connection that is shared would put calls in a queue of ours; a few are as a service has them.
        options = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)]
        channels = [grpc.aio.insecure_channel(self.order.address, options=options) for _ in range(4)]
        self._methods = [channel.unary_unary("/telha.planner.v1.Planner/Plan", None, None) for channel in channels]
        apart = grpc.aio.insecure_channel(self.order.address, options=options)
        await asyncio.gather(*(channel.channel_ready() for channel in (*channels, apart)))
        stop = asyncio.Event()
        beside = [asyncio.ensure_future(self._grpc_health(apart, stop)), asyncio.ensure_future(self._rest_health(stop))]
        begin = time.perf_counter()
        await (self._open(begin) if self.order.rate else self._closed(begin))
        self.report.took_s = time.perf_counter() - begin
        stop.set()
        await asyncio.gather(*beside)
        for channel in (*channels, apart):
            await channel.close()
        for times in (
            self.report.accepted,
            self.report.refused,
            self.report.grpc_health,
            self.report.rest_health,
        ):
            times.sort()
        return self.report

    async def _closed(self, begin: float) -> None:
        async def caller() -> None:
            while (now := time.perf_counter()) < begin + self.order.seconds:
                await self._call(now)

        await asyncio.gather(*(caller() for _ in range(self.order.callers)))

    async def _open(self, begin: float) -> None:
        dice = random.Random(self.order.seed)
        due, running = begin, set()
        while (due := due + dice.expovariate(self.order.rate)) < begin + self.order.seconds:
            wait = due - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            task = asyncio.ensure_future(self._call(due))
            running.add(task)
            task.add_done_callback(running.discard)
        if running:
            await asyncio.wait(running)

    async def _call(self, due: float) -> None:
        number, order = next(self._numbers), self.order
        request = planner_pb2.PlanRequest(question=order.questions[number % len(order.questions)])
        request.budget.max_tokens = order.budget
        request.allow_ungrounded = True  # an empty plan is an answer too
        metadata = (("authorization", f"Bearer {order.keys[number % len(order.keys)]}"),)
        method = self._methods[number % len(self._methods)]
        try:
            await method(request.SerializeToString(), timeout=DEADLINE_S, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            reason, advised = _meaning(error)
            self._ended(reason)
            self.report.advised += advised
            if reason == "OVERLOADED":
                self.report.refused.append((time.perf_counter() - due) * 1000)
        else:
            self._ended("OK")
            self.report.accepted.append((time.perf_counter() - due) * 1000)

    def _ended(self, reason: str) -> None:
        self.report.outcomes[reason] = self.report.outcomes.get(reason, 0) + 1

    async def _grpc_health(self, channel: grpc.aio.Channel, stop: asyncio.Event) -> None:
        stub = health_pb2_grpc.HealthStub(channel)

        async def ask() -> bool:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=DEADLINE_S)
            return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

        await self._asking(ask, self.report.grpc_health, stop)

    async def _rest_health(self, stop: asyncio.Event) -> None:
        place = urlsplit(self.order.http)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)

        async def ask() -> bool:
            writer.write(f"GET /readyz HTTP/1.1\r\nhost: {place.netloc}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.split(b":")[1]))
            return head.startswith(b"HTTP/1.1 200")

        try:
            await self._asking(ask, self.report.rest_health, stop)
        finally:
            writer.close()

    async def _asking(self, ask: Callable[[], Awaitable[bool]], times: list[float], stop: asyncio.Event) -> None:
        due = time.perf_counter()
        while not stop.is_set():
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                self.report.unhealthy += not await ask()
            except grpc.aio.AioRpcError:
                self.report.unhealthy += 1
            times.append((time.perf_counter() - due) * 1000)
            due += HEALTH_EVERY_S


def _meaning(error: grpc.aio.AioRpcError) -> tuple[str, bool]:
    raw = dict(error.trailing_metadata() or ()).get(DETAILS, b"")
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    advised = False
    for detail in status_pb2.Status.FromString(raw).details:
        detail.Unpack(info)
        advised = detail.Unpack(retry) or advised
    return info.reason or f"{error.code().name} by the transport", advised


def main() -> None:
    """Carry out the order on standard input."""
    order = Order(**json.load(sys.stdin))
    gc.disable()  # a pause of ours must not count as the system's
    report = asyncio.run(Generator(order).run())
    json.dump(asdict(report), sys.stdout)


if __name__ == "__main__":
    main()

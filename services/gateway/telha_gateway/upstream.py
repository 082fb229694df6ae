"""
The way to the planner: one channel, one stub per service, and unary calls that end when their caller does.

Rule 1: the credential passes through untouched; the gateway knows no keys.
Rule 2: a call never outlives its REST request: not its deadline, not its caller's connection.
Rule 3: a call that a planner refused because it is about to end is made again: nothing of it was carried out.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from typing import Any, Protocol, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message
from grpc._cython import cygrpc  # type: ignore[attr-defined]  # the stubs lack it
from grpc_health.v1 import health_pb2, health_pb2_grpc
from telha.administration.v1.administration_pb2_grpc import AdministrationStub
from telha.context.v1.context_pb2_grpc import ContextStub
from telha.memory.v1.memory_pb2_grpc import MemoryStub
from telha.planner.v1.planner_pb2_grpc import PlannerStub
from telha.trace.v1.traces_pb2_grpc import TracesStub

from telha_gateway import problems
from telha_gateway.config import GatewaySettings

BY_TURNS = '{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}'
"""For several planners: they are asked by turns, and one that says that it drains is asked no more."""
AGAIN_AFTER_S = (0.05, 0.2, 0.5)
"""Pauses before a call is made again that a draining planner refused."""

Metadata = Sequence[tuple[str, str]]
Ask = TypeVar("Ask")
Part = TypeVar("Part", bound=Message)
Reply = TypeVar("Reply")
Answer_co = TypeVar("Answer_co", covariant=True)

_OPTIONS: list[tuple[str, int | str]] = [
    ("grpc.max_receive_message_length", -1),  # the planner bounds its answers
    ("grpc.enable_http_proxy", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),  # a restarted planner is found within a second, not two minutes
    ("grpc.keepalive_time_ms", 30_000),
]


class _Call(Protocol[Answer_co]):
    """A call under way."""

    def __await__(self) -> Generator[Any, None, Answer_co]: ...

    def cancel(self) -> bool: ...


class ClientGone(Exception):
    """The caller closed the connection; nobody waits for an answer."""


class Upstream:
    """
    The planner as the gateway sees it. Made inside the running loop.

    Attributes:
        planner, context, memory, traces, administration: Generated stubs.
    """

    def __init__(self, settings: GatewaySettings) -> None:
        self._channel = _channel(settings)
        self.planner = PlannerStub(self._channel)
        self.context = ContextStub(self._channel)
        self.memory = MemoryStub(self._channel)
        self.traces = TracesStub(self._channel)
        self.administration = AdministrationStub(self._channel)
        self._health = health_pb2_grpc.HealthStub(self._channel)

    async def close(self) -> None:
        """Close the channel; running calls are cancelled."""
        await self._channel.close(None)

    async def ready(self, seconds: float) -> bool:
        """Whether the planner answers its health check with SERVING within *seconds*."""
        try:
            answer = await self._health.Check(health_pb2.HealthCheckRequest(), timeout=seconds)
        except grpc.aio.AioRpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def call(
    method: "grpc.aio.UnaryUnaryMultiCallable[Ask, Reply]",
    message: Ask,
    *,
    seconds: float,
    metadata: Metadata,
    gone: Callable[[], Awaitable[None]],
) -> Reply:
    """
    Call *method* and wait for its answer.

    Args:
        method: Of a generated stub.
        message: The request.
        seconds: Until the deadline.
        metadata: Of the call.
        gone: Returns when the caller of the REST request has closed the connection.

    Raises:
        grpc.aio.AioRpcError: The call failed.
        ClientGone: The caller left; the call was cancelled.
    """
    deadline = time.monotonic() + seconds
    for pause in AGAIN_AFTER_S:
        try:
            return await _answered(method(message, timeout=_left(deadline), metadata=metadata), gone)
        except grpc.aio.AioRpcError as error:
            if not problems.is_draining(error) or _left(deadline) < pause:
                raise
        await asyncio.sleep(pause)
    return await _answered(method(message, timeout=_left(deadline), metadata=metadata), gone)


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


async def _answered(running: "_Call[Reply]", gone: Callable[[], Awaitable[None]]) -> Reply:
    left = False

    async def watch() -> None:
        nonlocal left
        await gone()
        left = True
        running.cancel()

    watcher = asyncio.create_task(watch())
    try:
        return await running
    except asyncio.CancelledError:
        if left:
            raise ClientGone from None
        raise
    finally:
        watcher.cancel()


async def send(
    method: "grpc.aio.StreamUnaryMultiCallable[Part, Reply]",
    messages: AsyncIterator[Part],
    *,
    seconds: float,
    metadata: Metadata,
    gone: Callable[[], Awaitable[None]],
) -> Reply:
    """
    Call *method* with *messages*, each taken when the planner has room for it, and wait for its answer.

    Args:
        method: Of a generated stub.
        messages: The request. What it raises ends the call, and is raised.
        seconds: Until the deadline.
        metadata: Of the call.
        gone: As for `call`; asked once the last message is sent.

    Raises:
        grpc.aio.AioRpcError: The call failed, perhaps before it had every message.
        ClientGone: The caller left; the call was cancelled.
    """
    # The stubs know a stream only as an iterator, whose faults gRPC would swallow.
    running = method(timeout=seconds, metadata=metadata)  # type: ignore[call-arg]  # see above
    answer = asyncio.ensure_future(_answer(running))
    sending = asyncio.ensure_future(_send(running, messages))
    try:
        # A planner that has seen enough answers while there is more to send.
        await asyncio.wait({answer, sending}, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return await answer
        with contextlib.suppress(grpc.aio.AioRpcError, cygrpc.InternalError):  # the answer says more
            await sending
        return await _answered(answer, gone)
    finally:
        sending.cancel()
        answer.cancel()
        await asyncio.gather(sending, answer, return_exceptions=True)


async def _answer(running: "grpc.aio.StreamUnaryCall[Part, Reply]") -> Reply:
    return await running


async def _send(running: "grpc.aio.StreamUnaryCall[Part, Reply]", messages: AsyncIterator[Part]) -> None:
    await running.wait_for_connection()
    async for message in messages:
        await _write(running, message)
    await running.done_writing()


async def _write(running: Any, message: Message) -> None:  # noqa: ANN401  # the stubs know no call to write to
    """
    Send *message*; returns when the transport has room for the next.

    The public `write` puts an error of its own in the place of the status with which the planner ended the call, if
    that arrives while a message is on its way; so this goes one level below it.
    """
    await running._cython_call.send_serialized_message(message.SerializeToString())  # noqa: SLF001  # see above


def credentials(settings: GatewaySettings) -> grpc.ChannelCredentials | None:
    """
    What the way to the planner is secured with; None without TLS.

    Raises:
        OSError: A file that the settings name cannot be read.
    """
    if not settings.planner_tls:
        return None
    authority, certificate, key = (
        None if path is None else path.read_bytes()
        for path in (settings.planner_tls_authority, settings.planner_tls_certificate, settings.planner_tls_key)
    )
    return grpc.ssl_channel_credentials(authority, key, certificate)


def _channel(settings: GatewaySettings) -> grpc.aio.Channel:
    secured = credentials(settings)
    several = "," in settings.planner
    options = [*_OPTIONS, ("grpc.service_config", BY_TURNS)] if several else _OPTIONS
    target = f"ipv{6 if '[' in settings.planner else 4}:{settings.planner}" if several else settings.planner
    if secured is None:
        return grpc.aio.insecure_channel(target, options=options)
    return grpc.aio.secure_channel(target, secured, options=options)

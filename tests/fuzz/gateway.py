"""One REST request through the gateway's own code to the servicers of a stage, without sockets."""

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
import grpc.aio
from fuzz.messages import METHODS
from fuzz.stage import Stage
from fuzz.target import law
from grpc.aio import Metadata
from telha_gateway import parameters
from telha_gateway.config import GatewaySettings
from telha_gateway.drain import Drain
from telha_gateway.exchange import Exchange
from telha_gateway.operations import Operation
from telha_gateway.room import Room
from telha_planner.core.errors import RequestInvalid, TelhaError
from telha_planner.server.status import DETAILS_KEY, code_of, details_of, message_of

_SETTINGS = GatewaySettings()
_STUBS = {
    "Planner": "planner",
    "Context": "context",
    "Memory": "memory",
    "Traces": "traces",
    "Administration": "administration",
}
_INVALID = {"telha.context.v1.Context": "CONTEXT_INVALID"}


class _Streamed:
    """A call to which messages are written, as `upstream.send` uses one."""

    def __init__(self, stage: Stage, service: str, method: str) -> None:
        self._asked = (stage, service, method)
        self._raws: list[bytes] = []
        self._whole = asyncio.Event()
        self._cython_call = self

    async def wait_for_connection(self) -> None:
        """There is none."""

    async def send_serialized_message(self, raw: bytes) -> None:
        """Take the next message."""
        self._raws.append(raw)

    async def done_writing(self) -> None:
        """That was the last one."""
        self._whole.set()

    def __await__(self) -> Any:
        return self._answer().__await__()

    def cancel(self) -> bool:
        """Nothing runs."""
        return True

    async def _answer(self) -> Any:
        await self._whole.wait()
        stage, service, method = self._asked
        return _told(service, await stage.asked(service, method, self._raws))


class _Stubs:
    """The generated stubs' methods, each straight into the stage."""

    def __init__(self, stage: Stage) -> None:
        for service, method, _ in METHODS:
            holder = self.__dict__.setdefault(_STUBS[service.rpartition(".")[2]], type("Stub", (), {})())
            setattr(
                holder,
                method,
                _stream(stage, service, method) if method == "IngestStream" else _unary(stage, service, method),
            )


def _unary(stage: Stage, service: str, method: str) -> Callable[..., Any]:
    def call(message: Any, *, timeout: float, metadata: Any) -> Any:
        law(timeout > 0, "a call without time")
        _check(metadata)

        async def answer() -> Any:
            return _told(service, await stage.asked(service, method, [message.SerializeToString()]))

        return asyncio.ensure_future(answer())

    return call


def _stream(stage: Stage, service: str, method: str) -> Callable[..., Any]:
    def call(*, timeout: float, metadata: Any) -> Any:
        law(timeout > 0, "a call without time")
        _check(metadata)
        return _Streamed(stage, service, method)

    return call


def _check(metadata: Any) -> None:
    for name, value in metadata:
        law(value.isascii() and value.isprintable(), f"{name} cannot be sent as metadata")


def _told(service: str, answer: Any) -> Any:
    if not isinstance(answer, TelhaError):
        return answer
    reason = _INVALID.get(service, answer.reason) if isinstance(answer, RequestInvalid) else answer.reason
    trailers = Metadata((DETAILS_KEY, details_of(answer, reason)))
    raise grpc.aio.AioRpcError(code_of(answer), Metadata(), trailers, message_of(answer))


def exchanged(stage: Stage, operation: Operation, body: bytes, headers: dict[str, str]) -> object:
    """
    The answer of *operation*.

    Args:
        body: For operations without one, `segment?query`; before a document, `?query` and a line end.

    Raises:
        RequestFault, Refused: It was refused.
    """
    segment, query = b"", b""
    if operation.raw_types:
        query, _, body = body.removeprefix(b"?").partition(b"\n")
    elif operation.body is None:
        segment, _, query = body.partition(b"?")
        body = b""
    kind = operation.raw_types[0] if operation.raw_types else "application/json"
    heads = {"authorization": f"Bearer {stage.key}", "content-type": kind, **headers}
    scope: Any = {
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in heads.items()],
        "query_string": query,
        "path_params": dict.fromkeys(_path_names(operation), segment.decode("latin-1").replace("/", "%2F")),
    }
    pieces = [body[at : at + 4096] for at in range(0, len(body), 4096)] or [b""]
    events = [{"type": "http.request", "body": piece, "more_body": piece is not pieces[-1]} for piece in pieces]

    async def receive() -> Any:
        if events:
            return events.pop(0)
        return await asyncio.Event().wait()

    async def run() -> object:
        room = Room(1 << 22)
        exchange = Exchange(scope, receive, _SETTINGS, _Stubs(stage), room, Drain(), "r", timeout_ms=30_000)  # type: ignore[arg-type]
        try:
            if operation.media_type == "application/json":
                exchange.need_taste_for_json()
            exchange.need_credential()
            if operation.parameters is None:
                exchange.parameters(parameters.Nothing)
            return await operation.run(exchange)
        finally:
            exchange.close()
            law(room.held == 0, "room is held after the request")

    return stage.run(run())


def _path_names(operation: Operation) -> list[str]:
    places = (operation.path_parameter, operation.other_parameter)
    return [place.name for place in places if place is not None]

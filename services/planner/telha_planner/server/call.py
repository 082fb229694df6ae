"""
One call, from bytes to bytes: what every method has in common.

Request id, credential and deadline are read here, refusals become statuses here, and one access line is logged here,
which never holds a question or a key. Handlers get the raw bytes, so that a message that does not parse, or has
fields that this version does not know, is refused with its place (wire.py) instead of a bare transport error.
"""

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import grpc
import structlog
from google.protobuf.message import Message
from telha_runtime.line import Holder

from telha_planner.core.errors import (
    Bug,
    DeadlineExceeded,
    Draining,
    MessageTooLarge,
    RateLimited,
    RequestInvalid,
    TelhaError,
    Unauthenticated,
)

from .admission import Admission, Room, missing
from .meters import Meters
from .quota import Quota
from .status import DETAILS_KEY, code_of, details_of, message_of

Context = grpc.aio.ServicerContext[Any, Any]

MAX_DEADLINE_S = 86_400.0
"""A client may ask for "no deadline" by a huge number; a day is as long."""

CANCELLATION_S = 0.02
"""How long the end of a stream waits for the word that it was broken off."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/-]{1,128}")
_KEY_ID = re.compile(r"telha_([a-z2-7]{12})_")
_log = structlog.get_logger("telha_planner.server.call")


@dataclass(slots=True, eq=False)
class Call:
    """
    What a handler knows of its call besides the request.

    Attributes:
        credential: The bearer token as sent; empty when there is none.
        deadline: On the clock of `time.monotonic()`; every call has one.
        holder: Whose places and time it takes.
        trace_id, tenant: Set by the handler, for the access line.
    """

    method: str
    request_id: str
    credential: str
    deadline: float
    holder: Holder
    trace_id: str = ""
    tenant: str = ""

    def need_credential(self) -> str:
        """The credential; a call without one is refused before it takes a place on the plan thread."""
        if not self.credential:
            raise Unauthenticated
        return self.credential

    def admitted(self, quota: Quota) -> str:
        """The credential, after one call of it is taken from *quota*; raises `RateLimited`."""
        credential = self.need_credential()
        wait_ms = quota.spend(credential, time.monotonic())
        if wait_ms:
            raise RateLimited(retry_after_ms=wait_ms)
        return credential


Handler = Callable[[bytes, Call], Awaitable[Message]]
StreamHandler = Callable[[AsyncIterator[bytes], Call], Awaitable[Message]]


@dataclass(frozen=True, slots=True)
class Service:
    """
    A gRPC service as the listener serves it.

    Attributes:
        name: Full name, such as `telha.planner.v1.Planner`.
        methods: One handler per method with one request.
        streams: One handler per method whose request is a stream of messages; before it asks for the second, it keeps
            nothing of the first, and counts what comes.
        invalid_reason: How this surface spells `INVALID_REQUEST`.
    """

    name: str
    methods: Mapping[str, Handler]
    streams: Mapping[str, StreamHandler] = field(default_factory=dict)
    invalid_reason: str = RequestInvalid.reason


class InFlight:
    """
    Counts the calls being answered, so that a drain can wait for the last one.

    Attributes:
        draining: New calls are refused; set once, never reset.
    """

    def __init__(self) -> None:
        self.draining = False
        self._count = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def count(self) -> int:
        """Calls that are being answered."""
        return self._count

    def __enter__(self) -> None:
        self._count += 1
        self._idle.clear()

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        if self._count == 0:
            self._idle.set()

    async def until_idle(self) -> None:
        """Return when no call is being answered."""
        await self._idle.wait()


class Endpoint:
    """
    One method behind the listener.

    Args:
        default_deadline_s: For calls whose client sent no deadline.
        max_message_bytes: Largest request and largest answer.
        in_flight: Counts the call while it is being answered.
        meters: Counts it by method and code when it ends.
        admission: Decides whether it may bring its message.
    """

    def __init__(
        self,
        service: Service,
        method: str,
        *,
        default_deadline_s: float,
        max_message_bytes: int,
        in_flight: InFlight,
        meters: Meters,
        admission: Admission,
    ) -> None:
        self._admission = admission
        self._name = f"{service.name}/{method}"
        self._handler = service.methods.get(method)
        self._stream_handler = service.streams.get(method)
        self._invalid_reason = service.invalid_reason
        self._default_deadline_s = default_deadline_s
        self._max_message_bytes = max_message_bytes
        self._in_flight = in_flight
        self._meters = meters

    async def __call__(self, _: AsyncIterator[bytes], context: Context) -> bytes | None:
        """Answer the call, or abort it with a status that names the cause (then nothing is returned)."""
        started = time.monotonic()
        call = self._open(context, started)
        outcome: bytes | TelhaError = Draining()
        try:
            if not self._in_flight.draining:
                with self._in_flight:
                    outcome = await self._answer(context, call, started)
        except asyncio.CancelledError:
            self._note(call, started, "CANCELLED")
            raise
        if isinstance(outcome, bytes):
            self._note(call, started, "OK")
            return outcome
        reason = self._reason(outcome)
        self._note(call, started, code_of(outcome).name, reason=reason)
        trailers = (("x-request-id", call.request_id), (DETAILS_KEY, details_of(outcome, reason)))
        await context.abort(code_of(outcome), message_of(outcome), trailing_metadata=trailers)
        return None

    async def _whole(self, context: Context, room: Room) -> AsyncIterator[bytes]:
        message = await room.read(partial(_read, context))
        while message is not None:
            yield self._fitting(message)
            message = None
            room.close()  # by asking for more, the handler says that it counts what comes itself
            message = await _read(context)
        await _not_broken_off(context)

    async def _handled(self, context: Context, call: Call) -> Message:
        self._admission.look(call.holder)
        room = self._admission.message(call.holder)
        try:
            if self._stream_handler is not None:
                return await self._stream_handler(self._whole(context, room), call)
            message = await room.read(partial(_read, context))
            if message is None:
                await _not_broken_off(context)
                raise missing()
            if self._handler is None:
                raise Bug(request_id=call.request_id)
            return await self._handler(self._fitting(message), call)
        finally:
            room.close()

    def _fitting(self, message: bytes) -> bytes:
        if len(message) > self._max_message_bytes:
            raise MessageTooLarge(limit=self._max_message_bytes)
        return message

    async def _answer(self, context: Context, call: Call, started: float) -> bytes | TelhaError:
        limit = asyncio.timeout(call.deadline - started)
        try:
            async with limit:
                answer = (await self._handled(context, call)).SerializeToString()
            if len(answer) > self._max_message_bytes:
                return MessageTooLarge(limit=self._max_message_bytes)
            return bytes(answer)
        except TelhaError as refusal:
            # The frames of its traceback hold the message, in a cycle that only the garbage collector would end.
            refusal.__traceback__ = refusal.__context__ = refusal.__cause__ = None
            return refusal
        except Exception as fault:  # noqa: BLE001 the outermost border: the caller learns an id, the log the rest
            if isinstance(fault, TimeoutError) and limit.expired():
                return DeadlineExceeded()
            _log.exception("call failed", method=self._name, request_id=call.request_id)
            return Bug(request_id=call.request_id)

    def _open(self, context: Context, now: float) -> Call:
        sent = context.invocation_metadata() or ()
        metadata = {key: value for key, value in sent if isinstance(value, str)}
        request_id = metadata.get("x-request-id", "")
        if not _REQUEST_ID.fullmatch(request_id):
            request_id = str(uuid.uuid4())
        # Of two credentials nobody can say which one a proxy on the way has checked.
        credentials = [value for key, value in sent if key == "authorization"]
        scheme, _, credential = str(credentials[0]).partition(" ") if len(credentials) == 1 else ("", "", "")
        remaining = context.time_remaining()
        deadline = now + (self._default_deadline_s if remaining is None else min(remaining, MAX_DEADLINE_S))
        credential = credential.strip() if scheme.lower() == "bearer" else ""
        return Call(
            method=self._name,
            request_id=request_id,
            credential=credential,
            deadline=deadline,
            holder=self._admission.holders.of(credential),
        )

    def _reason(self, error: TelhaError) -> str:
        return self._invalid_reason if isinstance(error, RequestInvalid) else error.reason

    def _note(self, call: Call, started: float, code: str, **more: str) -> None:
        self._meters.called(call.method, code, more.get("reason", ""))
        key = _KEY_ID.match(call.credential)
        _log.info(
            "call",
            method=call.method,
            code=code,
            ms=round((time.monotonic() - started) * 1000, 3),
            request_id=call.request_id,
            trace_id=call.trace_id,
            tenant=call.tenant,
            key=key.group(1) if key else "",
            **more,
        )


async def _read(context: Context) -> bytes | None:
    # Not by gRPC's iterator, which keeps each message until the garbage collector finds it.
    message = await context.read()
    return message if isinstance(message, bytes) else None


async def _not_broken_off(context: Context) -> None:
    # A broken connection ends the messages too, a moment before the call is cancelled.
    await asyncio.sleep(CANCELLATION_S)
    if context.cancelled():
        raise asyncio.CancelledError

"""
One REST request under way: what it carries, the calls made for it, and when its caller has left.

Rule 1: the body is read piece by piece and never held beyond the limit.
Rule 2: what is wrong with the head of a request is said before its body is read.
Rule 3: one clock rules the exchange: the time spent reading the body is taken from the planner's deadline.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Collection, Mapping
from typing import TypeVar
from urllib.parse import unquote_to_bytes

import grpc.aio
import msgspec
from google.protobuf.message import Message
from litestar.types import HTTPRequestEvent, HTTPScope, Receive

from telha_gateway import parameters, problems, upstream
from telha_gateway.config import GatewaySettings
from telha_gateway.drain import Drain
from telha_gateway.faults import RequestFault, child
from telha_gateway.problems import Failure, Refused
from telha_gateway.room import Room
from telha_gateway.shapes import shaped
from telha_gateway.strict_json import decode
from telha_gateway.upstream import ClientGone, Upstream

Ask = TypeVar("Ask")
Part = TypeVar("Part", bound=Message)
Reply = TypeVar("Reply")
T = TypeVar("T")
ParametersT = TypeVar("ParametersT", bound=msgspec.Struct)

IDEMPOTENCY_KEY = "Idempotency-Key"
AFFINITY = "x-telha-affinity"
"""What a balancer before several planners hashes on; it passes through."""
_CREDENTIAL = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +[!-+\--~]{1,8192} *")
"""One bearer token; no comma stands in one, so two lines of `authorization` are none."""
_AFFINITY = re.compile(r"[!-~]{1,255}")
_JSON_TYPE = re.compile(r"application/(?:[a-z0-9.-]+\+)?json *(?:;.*)?", re.IGNORECASE)
_TAKES_JSON = re.compile(r"(?:\*/\*|application/(?:\*|json|problem\+json)) *(?:;.*)?", re.IGNORECASE)
_WEIGHS_NOTHING = re.compile(r"; *q=0(?:\.0*)? *(?:;|$)", re.IGNORECASE)


class Exchange:
    """
    A request and the way to its answer.

    Attributes:
        drain: Whether the gateway is about to end.
        upstream: The planner.
        request_id: Of this request; in its answer, its logs, and the planner's.
        trace_id: Of the plan that was made, for the log; None if there was none.
    """

    def __init__(
        self,
        scope: HTTPScope,
        receive: Receive,
        settings: GatewaySettings,
        planner: Upstream,
        room: Room,
        drain: Drain,
        request_id: str,
        *,
        timeout_ms: int,
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._settings = settings
        self._deadline = time.monotonic() + timeout_ms / 1000
        self._headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            # Several lines of one name are one list; of a credential, that is none that anybody made.
            known = self._headers.get(name.decode("latin-1"))
            line = value.decode("latin-1")
            self._headers[name.decode("latin-1")] = line if known is None else f"{known}, {line}"
        self._room = room
        self._held = 0
        self.drain = drain
        self.upstream = planner
        self.request_id = request_id
        self.trace_id: str | None = None

    def close(self) -> None:
        """Hold nothing any more."""
        self._room.give_back(self._held)
        self._held = 0

    def need_credential(self) -> None:
        """Refuse who shows none: nobody can be answered without one, so nothing else is looked at."""
        if not _CREDENTIAL.fullmatch(self._headers.get("authorization", "")):
            raise Refused(Failure(401, "UNAUTHENTICATED", "a valid API key is required"))

    def need_taste_for_json(self) -> None:
        """Refuse who says that JSON is of no use."""
        accepted = self._headers.get("accept", "").split(",")
        wanted = [kind.strip() for kind in accepted if not _WEIGHS_NOTHING.search(kind)]
        if any(accepted) and not any(_TAKES_JSON.fullmatch(kind) for kind in wanted):
            raise Refused(Failure(406, "NOT_ACCEPTABLE", "answers are application/json; accept that"))

    @property
    def path_value(self) -> str:
        """
        The variable segment of the path, decoded.

        Raises:
            Refused: It is not UTF-8; then nothing can have that name.
        """
        (segment,) = self.path_values
        return segment

    @property
    def path_values(self) -> tuple[str, ...]:
        """As `path_value`, where there are several, in the order of the path."""
        segments = self._scope["path_params"].values()
        try:
            return tuple(unquote_to_bytes(str(segment)).decode() for segment in segments)
        except UnicodeDecodeError:
            raise Refused(Failure(404, "NOT_FOUND", "no such path; a name is UTF-8, percent-encoded")) from None

    @property
    def idempotency_key(self) -> str:
        """
        What makes a write repeatable, as the caller sent it; empty if it sent none.

        Raises:
            RequestFault: The header is there and empty.
        """
        key = self._headers.get("idempotency-key")
        if key == "":
            raise RequestFault(child("", IDEMPOTENCY_KEY), "must not be empty")
        return key or ""

    async def body(self, shape: type[T]) -> T:
        """
        The JSON body as a *shape*.

        Raises:
            Refused: Not declared as JSON, too large, or too slow.
            RequestFault: Not strict JSON, or not the shape.
        """
        self._need_json()
        return shaped(decode(await self._read()), shape)

    async def optional_body(self, shape: type[T]) -> T:
        """As `body`; nothing at all is the same as an empty object."""
        if "content-type" in self._headers:
            self._need_json()
        content = await self._read()
        if content:
            self._need_json()
        return shaped(decode(content) if content else {}, shape)

    def media_type(self, known: Collection[str]) -> str:
        """
        What the body says it is, one of *known*.

        Raises:
            Refused: It is something else, not in UTF-8, or packed.
        """
        kind, *words = (word.strip().lower() for word in self._headers.get("content-type", "").split(";"))
        charsets = [word.removeprefix("charset=").strip('"') for word in words if word.startswith("charset=")]
        if kind not in known or any(charset not in {"utf-8", "utf8", "us-ascii"} for charset in charsets):
            accepted = ", ".join(known)
            detail = f"send the document in UTF-8, with a content-type of {accepted}"
            raise Refused(Failure(415, "UNSUPPORTED_MEDIA_TYPE", detail, headers={"accept": accepted}))
        self._refuse_encoding()
        return kind

    @property
    def announced_bytes(self) -> int | None:
        """How long the body says it is; None if it does not."""
        announced = self._headers.get("content-length", "")
        return int(announced) if announced.isdecimal() else None

    async def pieces(self) -> AsyncIterator[bytes]:
        """
        The body piece by piece, as it comes.

        Raises:
            Refused: It is too slow.
            ClientGone: It ended before its end.
        """
        more = True
        while more:
            event = await self._next()
            more = event["more_body"]
            if event["body"]:
                yield event["body"]

    async def send(
        self,
        method: "grpc.aio.StreamUnaryMultiCallable[Part, Reply]",
        messages: AsyncIterator[Part],
        renames: Mapping[str, str],
    ) -> Reply:
        """As `call`, for a method that takes a stream of messages."""
        try:
            return await upstream.send(
                method, messages, seconds=self._left(), metadata=self._metadata(), gone=self._gone
            )
        except grpc.aio.AioRpcError as error:
            raise self._refused(error, renames) from error

    def parameters(self, shape: type[ParametersT]) -> ParametersT:
        """
        The query parameters as a *shape*.

        Raises:
            RequestFault: A parameter is unknown, repeated or malformed.
        """
        return parameters.read(self._scope["query_string"], shape)

    async def call(
        self,
        method: "grpc.aio.UnaryUnaryMultiCallable[Ask, Reply]",
        message: Ask,
        renames: Mapping[str, str] | None = None,
    ) -> Reply:
        """
        Ask the planner, within what is left of the time.

        Args:
            method: Of one of the stubs.
            message: The request.
            renames: Field paths whose place in the REST request follows no law, as for `pointer_of`.

        Raises:
            Refused: The planner refused, or cannot be reached.
            ClientGone: Nobody waits any more.
        """
        try:
            return await upstream.call(
                method, message, seconds=self._left(), metadata=self._metadata(), gone=self._gone
            )
        except grpc.aio.AioRpcError as error:
            raise self._refused(error, renames or {}) from error

    def _refused(self, error: grpc.aio.AioRpcError, renames: Mapping[str, str]) -> Refused:
        return Refused(problems.of_rpc(error, {"idempotency_key": IDEMPOTENCY_KEY, **renames}))

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _metadata(self) -> list[tuple[str, str]]:
        metadata = [("x-request-id", self.request_id)]
        if "authorization" in self._headers:
            metadata.append(("authorization", self._headers["authorization"]))
        affinity = self._headers.get(AFFINITY, "")
        if _AFFINITY.fullmatch(affinity):  # it is only a matter of speed, so one that cannot be sent is no fault
            metadata.append((AFFINITY, affinity))
        return metadata

    def _need_json(self) -> None:
        if not _JSON_TYPE.fullmatch(self._headers.get("content-type", "")):
            detail = "send the body with content-type: application/json"
            raise Refused(Failure(415, "UNSUPPORTED_MEDIA_TYPE", detail, headers={"accept": "application/json"}))
        self._refuse_encoding()

    def _refuse_encoding(self) -> None:
        encoding = self._headers.get("content-encoding", "identity").strip().lower()
        if encoding != "identity":
            detail = "send the body as it is, without content-encoding"
            raise Refused(Failure(415, "UNSUPPORTED_MEDIA_TYPE", detail, headers={"accept-encoding": "identity"}))

    async def _read(self) -> bytes:
        limit = self._settings.max_body_bytes
        announced = self.announced_bytes or 0
        if announced > limit:
            raise _too_large(limit)
        self._room.check(announced)
        parts: list[bytes] = []
        async for piece in self.pieces():
            if self._held + len(piece) > limit:
                raise _too_large(limit)
            self._room.take(len(piece))
            self._held += len(piece)
            parts.append(piece)
        return b"".join(parts)

    async def _next(self) -> HTTPRequestEvent:
        try:
            async with asyncio.timeout(self._left()):
                event = await self._receive()
        except TimeoutError:
            raise Refused(Failure(408, "REQUEST_TIMEOUT", "the body did not arrive in time")) from None
        if event["type"] != "http.request":
            raise ClientGone
        return event

    async def _gone(self) -> None:
        while True:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                return


def _too_large(limit: int) -> Refused:
    return Refused(Failure(413, "MESSAGE_TOO_LARGE", f"the body is larger than the {limit} bytes that are accepted"))

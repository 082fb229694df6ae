"""
One HTTP connection: uvicorn's protocol, with a bound on the head of each request, in bytes and in time.

Uvicorn bounds neither, so one caller without a key could fill the memory with a header that never ends, or hold every
file descriptor with connections that never say what they want. The body is bounded elsewhere (exchange.py).
"""

import asyncio
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import structlog
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from telha_gateway import problems
from telha_gateway.problems import Failure

_LOG = structlog.get_logger(__name__)

HEAD_S = 10.0
"""Seconds from the connection, or from the first byte of a later request, to the end of the request's head."""
MAX_HEAD_BYTES = 64 * 1024
"""Bytes of request line and headers that are collected, and of trailers; what came whole in one read may be longer."""

_TOO_LARGE = Failure(
    431, "MESSAGE_TOO_LARGE", f"the headers are larger than the {MAX_HEAD_BYTES} bytes that are accepted"
)
_TOO_LATE = Failure(408, "REQUEST_TIMEOUT", "the head of the request did not arrive in time")
_NO_HTTP = Failure(400, "INVALID_REQUEST", "the bytes sent are not an HTTP request")


class Connection(HttpToolsProtocol):
    """Ends the connection of a caller whose head is too long or too slow."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401  # uvicorn's own
        super().__init__(*arguments, **named)
        self._in_head = False
        self._in_body = False
        self._head_bytes = 0
        self._beside_body = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._head_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser; refuse a head that has grown too large."""
        if self.cycle is not None and self.cycle.response_complete:
            self._expect_head()  # blank lines between requests begin no message, yet end uvicorn's own timer
        if self._in_head and not self._in_body:
            self._head_bytes += len(data)
        if self._in_body:
            self._beside_body += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES:
            self._end(_TOO_LARGE)
        elif self._in_body and self._beside_body > MAX_HEAD_BYTES:
            self._end_body()

    def send_400_response(self, msg: str) -> None:
        """Say that the bytes were no HTTP; *msg*, in uvicorn's words, stays here."""
        del msg
        self._end(_NO_HTTP)

    def on_message_begin(self) -> None:
        """Begin to wait for a head, if that has not begun."""
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._head_arrived()
        self._in_body, self._beside_body = True, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some of the body has come; what stands beside it (sizes of chunks, trailers) is counted anew."""
        self._beside_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The body is whole; one that was refused has been let pass, for as long as a head may take."""
        self._in_body = False
        super().on_message_complete()

    def _expect_head(self) -> None:
        if not self._in_head:
            self._in_head, self._head_bytes = True, 0
            self._head_timer = self.loop.call_later(HEAD_S, self._head_late)

    def _head_arrived(self) -> None:
        self._in_head = False
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_late(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:  # closing would end an earlier request
            self._head_timer = self.loop.call_later(HEAD_S, self._head_late)
        elif self._head_bytes:
            self._end(_TOO_LATE)
        else:
            self.transport.close()

    def _end_body(self) -> None:
        """Trailers are headers: they are collected, and nothing reads them."""
        if self.cycle is not None and self.cycle.response_started:
            self.transport.close()
        else:
            self._end(_TOO_LARGE)

    def _end(self, failure: Failure) -> None:
        request_id = uuid4().hex
        document = failure.document(request_id)
        headers = {
            "content-type": problems.MEDIA_TYPE,
            "content-length": str(len(document)),
            "connection": "close",
            "x-request-id": request_id,
        }
        lines = [f"HTTP/1.1 {failure.status} {HTTPStatus(failure.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + document)
        self.transport.close()
        _LOG.info("request", operation=None, status=failure.status, request_id=request_id)

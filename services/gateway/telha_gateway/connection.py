"""
One HTTP connection: uvicorn's protocol, with a bound on the head of each request, in bytes and in time.

Uvicorn bounds neither, so one caller without a key could fill the memory with a header that never ends, or hold every
file descriptor with connections that never say what they want. The body is bounded elsewhere (exchange.py).
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_S = 10.0
"""Seconds from the connection, or from the first byte of a later request, to the end of the request's head."""
MAX_HEAD_BYTES = 64 * 1024
"""Bytes of request line and headers that are collected; a head that came whole in one read may be longer."""

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\n"
    b"content-length: 26\r\n"
    b"connection: close\r\n"
    b"\r\n"
    b"The headers are too large."
)


class Connection(HttpToolsProtocol):
    """Ends the connection of a caller whose head is too long or too slow."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401  # uvicorn's own
        super().__init__(*arguments, **named)
        self._in_head = False
        self._head_bytes = 0
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
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin to wait for a head, if that has not begun."""
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._head_arrived()
        super().on_headers_complete()

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
        else:
            self.transport.close()

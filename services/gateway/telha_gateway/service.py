"""
The running gateway: a socket, the application on it, and an orderly end.

Rule 1: the socket is bound before anything else, so that a busy port is one sentence and not a stack trace.
Rule 2: SIGTERM and SIGINT drain: the end is announced for `drain_notice_ms` (see `drain`), then there are no new
connections, and running requests finish within `drain_ms`. A second signal shortens the announcement.
"""

import contextlib
import logging
import math
import os
import signal
import socket
import time
from collections.abc import Iterator
from types import FrameType

import structlog
import uvicorn

from telha_gateway import app, upstream
from telha_gateway.config import GatewaySettings
from telha_gateway.connection import Connection
from telha_gateway.drain import Drain

_BACKLOG = 2048
_LOG = structlog.get_logger(__name__)


class CannotStart(Exception):
    """The address cannot be had, or a file cannot be read; the message says why in one sentence."""


def serve(settings: GatewaySettings) -> None:
    """
    Answer requests until a signal asks to stop.

    Raises:
        CannotStart: Another program has the port, the address is not this machine's, or a TLS file cannot be read.
    """
    try:
        upstream.credentials(settings)
    except OSError as error:
        raise CannotStart(f"the gateway cannot read {error.filename}: {error.strerror}") from error
    listener = _listen(settings.host, settings.port)
    # Uvicorn's own lines repeat what is logged here and in `app`.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    drain = Drain()
    server = _Server(
        drain,
        settings.drain_notice_ms / 1000,
        uvicorn.Config(
            app.create(settings, drain=drain),
            loop="uvloop",
            http=Connection,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=max(1, -(-settings.drain_ms // 1000)),
        ),
    )
    host, port = listener.getsockname()[:2]
    _LOG.info("listening", host=host, port=port, planner=settings.planner)
    server.run(sockets=[listener])
    _LOG.info("stopped")


class _Server(uvicorn.Server):
    """Uvicorn's server, which announces its end, and ends by returning instead of by raising the signal again."""

    def __init__(self, drain: Drain, notice_s: float, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._drain = drain
        self._notice_s = notice_s
        self._ends_at = math.inf

    async def on_tick(self, counter: int) -> bool:
        """Whether to end, looked at ten times a second."""
        ended = await super().on_tick(counter)
        return ended or time.monotonic() >= self._ends_at

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, _: int, __: FrameType | None) -> None:
        if self._drain.announced or not self._notice_s:
            self.should_exit = True
        self._drain.announced = True
        self._ends_at = time.monotonic() + self._notice_s


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotStart(f"the gateway cannot listen on {host}:{port}: {error.strerror}") from error
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        words = os.strerror(error.errno) if error.errno else str(error)
        raise CannotStart(f"the gateway cannot listen on {host}:{port}: {words}") from error
    return listener

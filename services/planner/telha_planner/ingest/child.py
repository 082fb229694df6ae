"""
The ingest child as the planner holds it: started when it is needed, told one thing at a time, ended in order.

Rule 1: it is used from one event loop, and by one call at a time (`process`). Rule 2: if it dies, whoever waits for an
answer gets `Unavailable`, and the next call starts another one.
"""

import asyncio
import contextlib
import os
import sys
from typing import NamedTuple, cast

import structlog

from telha_planner.core.errors import Unavailable

from .channel import PREFIX, Call, Reply, decode, encode
from .worker import GIVEN_UP, Start

PART = "ingestion"
PIECE = 1 << 20
"""Bytes of a document that are on their way to the child at once."""

By = str | None
"""The id of the API key that asks for a write, which must still stand when it commits; None: nobody's."""

_log = structlog.get_logger(__name__)


class IngestFault(Exception):
    """The child met a mistake of ours; the message says where, for the log, and quotes nothing."""


class Body(NamedTuple):
    """The *size* bytes of an open file that follow a call."""

    descriptor: int
    size: int


class Child:
    """
    The child of one planner, or the place of one.

    Args:
        start: What a child is told first.
        drain_seconds: How long `close` waits for the call that runs.

    Attributes:
        is_ending: The planner ends, so that the end of the child is no accident.
    """

    def __init__(self, start: Start, drain_seconds: float) -> None:
        self.is_ending = False
        self._start = start
        self._drain_seconds = drain_seconds
        self._number = 0
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._is_ready = False
        self._replies: dict[int, asyncio.Future[object]] = {}

    @property
    def pid(self) -> int | None:
        """Its process id, None while there is none."""
        return self._process.pid if self._process is not None else None

    async def close(self) -> None:
        """Let it end; one that does not in time is killed."""
        child, self._process = self._process, None
        if child is None or child.stdin is None:
            return
        child.stdin.close()
        try:
            await asyncio.wait_for(child.wait(), self._drain_seconds)
        except TimeoutError:
            _log.warning("ingest_killed", pid=child.pid, reason="it did not end in time")
            child.kill()
            await child.wait()
        if self._reader is not None:
            await self._reader

    def tell_given_up(self) -> None:
        """Say that nobody waits for the call that runs."""
        if self._process is not None and self._is_ready and self._replies:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(GIVEN_UP)

    async def ensure(self) -> None:
        """
        Start it if there is none, and wait until it can write.

        Raises:
            Unavailable: It ended at once.
            IngestFault: It cannot open the store.
        """
        if self._process is not None:
            return
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # the working folder is no place to import from
            "-m",
            "telha_planner.ingest.worker",
            str(os.getpid()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self._process = child
        self._reader = asyncio.create_task(self._read(child))
        try:
            self._is_ready = False
            await self.exchange("start", (self._start,))
            self._is_ready = True  # it knows the signal by now
        except IngestFault:
            await self._reader  # it ends by itself now, and the next call needs another one
            raise
        _log.info("ingest_started", pid=child.pid)

    async def exchange(
        self, method: str, arguments: tuple[object, ...], body: Body | None = None, by: By = None
    ) -> object:
        """
        Its answer to one call.

        Raises:
            TelhaError: As the child raised it, or `Unavailable` if it died.
            IngestFault: It met a mistake of ours.
        """
        child = self._process
        if child is None or child.stdin is None:
            raise Unavailable(part=PART)
        self._number += 1
        number = self._number
        reply: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        try:
            message = encode(Call(number, method, arguments, body.size if body else None, by))
            await _send(child.stdin, message, body)
            return await reply
        finally:
            self._replies.pop(number, None)

    async def _read(self, child: asyncio.subprocess.Process) -> None:
        stream = child.stdout
        if stream is None:
            return
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                size = int.from_bytes(await stream.readexactly(PREFIX), "big")
                self._settle(cast("Reply", decode(await stream.readexactly(size))))
        code = await child.wait()
        if self._process is child:
            self._process = None
        if not self.is_ending:
            _log.error("ingest_died", pid=child.pid, code=code)
        for waiting in self._replies.values():
            if not waiting.done():
                waiting.set_exception(Unavailable(part=PART))

    def _settle(self, reply: Reply) -> None:
        waiting = self._replies.get(reply.number)
        if waiting is None or waiting.done():
            return
        if reply.error is not None:
            waiting.set_exception(reply.error)
        elif reply.fault is not None:
            waiting.set_exception(IngestFault(reply.fault))
        else:
            waiting.set_result(reply.value)


async def _send(pipe: asyncio.StreamWriter, message: bytes, body: Body | None) -> None:
    """Write a whole call. A pipe that breaks is told by its reader."""
    with contextlib.suppress(ConnectionError):
        pipe.write(message)
        await pipe.drain()
        sent = 0
        while body is not None and sent < body.size:
            piece = await asyncio.to_thread(os.pread, body.descriptor, PIECE, sent)
            pipe.write(piece)
            await pipe.drain()
            sent += len(piece)

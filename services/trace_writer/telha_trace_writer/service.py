"""
The trace writer as a service: what it is made of, how it starts and how it drains.

    stream ──► consumer ─┐
           ──► reclaim ──┴─► intake ──► store ◄── servicer ◄── planners

Rule 1: it serves as soon as its store is open; a Redis that is away is waited for. Rule 2: at the stop the batch in
hand is finished first, then calls in flight.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import time
from typing import Final

from telha_runtime import process, redis
from telha_runtime.redis import AWAY

from .config import WriterConfig
from .consumer import REPLY_WITHIN_S, Consumer
from .intake import Intake
from .opening import open_store
from .reclaim import Reclaim
from .servicer import Listener, TraceStoreServicer
from .stream import Stream

_CONSUMERS_STOP_S: Final = REPLY_WITHIN_S + 5
_log = logging.getLogger(__name__)


class AddressTaken(Exception):
    """Another process listens where this one should."""


async def serve(config: WriterConfig, stop: asyncio.Event | None = None) -> None:
    """
    Run until SIGTERM, SIGINT or *stop*.

    Raises:
        StoreUnusable: The store cannot be opened.
        UrlInvalid: The Redis URL is none.
        AddressTaken, OSError: The address cannot be had.
    """
    stop = stop or process.install_stop_signals(asyncio.get_running_loop())
    writer = config.writer
    client = redis.connect(config.trace.redis_url)
    reader = redis.connect(config.trace.redis_url, reply_within_s=REPLY_WITHIN_S)
    migrates = writer.migrate == "auto"
    store = await asyncio.to_thread(open_store, writer.store, writer.busy_timeout_ms, migrates=migrates)
    stream = Stream(client, config.trace.stream, writer.group, _consumer_name())
    intake = Intake(store, stream, writer.max_deliveries, lambda: time.time_ns() // 1000)
    consumer = Consumer(stream, reader, intake, writer.batch_entries)
    reclaim = Reclaim(stream, intake, writer.reclaim_idle_ms, writer.batch_entries)
    listener = Listener(config.trace.writer, TraceStoreServicer(store, stream, config.trace.internal_token))
    try:
        _refuse_taken_socket(config.trace.writer)
        await listener.start()
        _log.info("serving traces on %s", config.trace.writer)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(consumer.run(stop))
            tasks.create_task(reclaim.run(stop))
            tasks.create_task(_warn(stream))
        await listener.stop(writer.drain_ms / 1000)
    finally:
        await listener.stop(0)
        await reader.aclose()
        await client.aclose()
        store.close()
    counts = (intake.stored, intake.repeated, intake.dropped, intake.buried)
    _log.info("stopped: %d stored, %d repeated, %d dropped, %d dead", *counts)


def _refuse_taken_socket(address: str) -> None:
    # gRPC removes an existing socket file before it binds, even under a living server.
    if not address.startswith("unix:"):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe, contextlib.suppress(OSError):
        probe.connect(address.removeprefix("unix:").removeprefix("//"))
        raise AddressTaken(f"another process listens on {address}")


async def _warn(stream: Stream) -> None:
    try:
        for warning in await redis.durability_warnings(stream.redis):
            _log.warning("%s", warning)
    except AWAY as fault:
        _log.warning("Redis is away at the start: %s", fault)


def _consumer_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"

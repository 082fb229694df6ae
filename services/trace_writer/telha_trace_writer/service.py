"""
The trace writer as a service: what it is made of, how it starts and how it drains.

    stream ──► consumer ─┐
           ──► reclaim ──┴─► intake ──► store ◄── servicer ◄── planners
                                          ▲
                              retention ──┘

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

from telha_runtime import process, redis

from .config import WriterConfig
from .consumer import REPLY_WITHIN_S, Consumer
from .intake import Intake
from .meters import Metrics
from .opening import open_store
from .reclaim import Reclaim
from .retention import Retention
from .servicer import Listener, TraceStoreServicer
from .spools import Spools
from .stream import Stream

_log = logging.getLogger(__name__)


class AddressTaken(Exception):
    """Another process listens where this one should."""


async def serve(config: WriterConfig, stop: asyncio.Event | None = None) -> None:
    """
    Run until SIGTERM, SIGINT or *stop*.

    Raises:
        StoreUnusable: The store cannot be opened.
        UrlInvalid: The Redis URL is none.
        AddressTaken, OSError: An address cannot be had.
    """
    stop = stop or process.install_stop_signals(asyncio.get_running_loop())
    writer = config.writer
    client = redis.connect(config.trace.redis_url)
    reader = redis.connect(config.trace.redis_url, reply_within_s=REPLY_WITHIN_S)
    migrates = writer.migrate == "auto"
    store = await asyncio.to_thread(open_store, writer.store, writer.busy_timeout_ms, migrates=migrates)
    stream = Stream(client, config.trace.stream, writer.group, _consumer_name())
    intake = Intake(store, stream, writer.max_deliveries, _now_us)
    consumer = Consumer(stream, reader, intake, writer.batch_entries)
    reclaim = Reclaim(stream, intake, writer.reclaim_idle_ms, writer.batch_entries)
    retention = Retention(store, writer.retention_days, writer.retention_max_mb, _now_us)
    servicer = TraceStoreServicer(store, stream, Spools(store, _now_us), config.trace.internal_token)
    listener = Listener(config.trace.writer, servicer)
    metrics = Metrics(store, intake, reclaim, retention)
    try:
        _refuse_taken_socket(config.trace.writer)
        await listener.start()
        metrics.serve(writer.metrics_host, writer.metrics_port)
        _log.info("serving traces on %s", config.trace.writer)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(consumer.run(stop))
            tasks.create_task(reclaim.run(stop))
            tasks.create_task(retention.run(stop))
        await listener.stop(writer.drain_ms / 1000)
    finally:
        await listener.stop(0)
        metrics.close()
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


def _now_us() -> int:
    return time.time_ns() // 1000


def _consumer_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"

"""
The planner put together: the one place that knows every part, in the order in which they start and stop.

    store → ingest children → tokenizers, columns → spool, emitter → plan thread → listener

Rule 1: nothing is constructed at import. Rule 2: what starts is stopped in reverse order, whatever fails on the way.
Rule 3: at SIGTERM the listener drains first, then the spool gets its chance to be shipped.
"""

import asyncio
import gc
import os
import sys
import time
from contextlib import AsyncExitStack
from functools import partial
from uuid import uuid4

import structlog
from redis.asyncio import Redis
from telha_runtime import process
from telha_runtime import redis as redis_client

from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig
from telha_planner.core.errors import Unavailable
from telha_planner.ingest.child import IngestFault
from telha_planner.ingest.lanes import DocumentLanes
from telha_planner.ingest.process import IngestProcess
from telha_planner.memory.directory import Directory
from telha_planner.memory.reads import Sources
from telha_planner.memory.store import Store, StoreUnusable
from telha_planner.memory.texts import SourceTexts
from telha_planner.models.embedders.opening import opened
from telha_planner.models.embedders.questions import Questions
from telha_planner.models.embedders.seam import EmbedderMissing
from telha_planner.models.tokenizers import Tokenizers, TokenizersInvalid
from telha_planner.pipeline import Planning
from telha_planner.replay import Replaying
from telha_planner.server.administration import AdministrationSurface
from telha_planner.server.admission import Admission
from telha_planner.server.context import ContextSurface
from telha_planner.server.deletions import Deletions
from telha_planner.server.dispatch import PlanThread, WorkThread
from telha_planner.server.holders import Holders
from telha_planner.server.listener import Listener, ListenFailed
from telha_planner.server.load_meters import LoadMeters
from telha_planner.server.memory import MemorySurface
from telha_planner.server.meters import Meters
from telha_planner.server.planner import PlannerSurface
from telha_planner.server.ports import Records
from telha_planner.server.questions import QuestionThreads
from telha_planner.server.quota import Quota
from telha_planner.server.replay import Replays
from telha_planner.server.trace_meters import MissedMeters, SpoolMeters, StreamMeters
from telha_planner.server.trace_reader import TraceReader
from telha_planner.server.trace_writer_port import TraceWriter
from telha_planner.server.traces import TracesSurface
from telha_planner.server.uploads import Uploads
from telha_planner.trace.best_effort import BestEffort
from telha_planner.trace.direct import REPLY_WITHIN_S, StreamRecords
from telha_planner.trace.emitter import Emitter
from telha_planner.trace.ids import TraceIds
from telha_planner.trace.spool import Spool, SpoolUnusable

CONFIGURATION_FAULTS = (TokenizersInvalid, EmbedderMissing, redis_client.UrlInvalid)
START_FAULTS = (StoreUnusable, SpoolUnusable, ListenFailed, IngestFault, Unavailable)

MEBIBYTE = 1 << 20
ADMINISTRATION_WAITING = 32
"""Writes of keys and tenants that may wait; each is one small transaction."""
HOUR_US = 3_600_000_000
MOST_ROWS_AT_ONCE = 500
"""Rows of columns that are read in one job of the plan thread: about as long as a plan takes."""
EMITTER_REPLY_WITHIN_S = 5.0
"""How long the emitter waits for a reply of Redis; no call waits for it."""
SWITCH_S = 0.0005
"""How long the plan thread may keep the event loop from health and refusals, which take a few turns each."""
INGEST_END_S = 2.0
"""What is left to the write that runs once the listener has drained: its caller has gone, and it is all or nothing."""

_log = structlog.get_logger(__name__)


def now() -> int:
    """The wall clock, µs since 1970 UTC."""
    return time.time_ns() // 1000


async def serve(config: PlannerConfig) -> None:
    """
    Answer calls until SIGTERM or SIGINT, then drain.

    Raises:
        TokenizersInvalid, EmbedderMissing, UrlInvalid: The configuration is wrong.
        StoreUnusable, SpoolUnusable, ListenFailed, IngestFault, Unavailable: A part cannot be had.
    """
    sys.setswitchinterval(SWITCH_S)
    stop = process.install_stop_signals(asyncio.get_running_loop())
    tokenizers = Tokenizers(config.tokens)
    embedder = opened(config.embedding)
    questions = None if embedder is None else Questions(embedder)
    async with AsyncExitStack() as parts:
        store = Store.open(config.store.url, busy_timeout_ms=config.store.busy_timeout_ms, migrate=config.store.migrate)
        parts.callback(store.close)
        ingest, large = _ingest_process(config), _ingest_process(config)
        parts.push_async_callback(large.close)
        parts.push_async_callback(ingest.close)
        await ingest.start()
        texts = SourceTexts(store, config.store.text_cache_mb * MEBIBYTE)
        columns = Columns(store, config.store.columns_memory_mb * MEBIBYTE, MOST_ROWS_AT_ONCE)
        meters = Meters()
        records, writer, spool = await _trace_path(config, meters, parts)
        holders = Holders()
        planning = Planning(
            store=store,
            columns=columns,
            texts=texts,
            tokenizers=tokenizers,
            config=config,
            now=now,
            new_trace_id=TraceIds(now, os.urandom, spool).next,
            questions=questions,
            credentials=holders,
            stage=meters.stage,
        )
        thread = PlanThread(config.server.max_waiting, columns.advance, partial(meters.stage, "wait"))
        parts.callback(thread.close)
        threads = QuestionThreads(thread, questions)
        parts.callback(threads.close)
        writes = WorkThread(ADMINISTRATION_WAITING, "administration")
        parts.callback(writes.close)
        directory = Directory(store, now)
        forget = (planning.forget, planning.forget_erased, records.roll)
        deletions = Deletions(directory, thread, writes, *forget, writer, now)
        write_quota = Quota(config.server.write_calls_per_minute)
        administration = AdministrationSurface(planning, thread, writes, directory, ingest, deletions, write_quota)
        admission, uploads = Admission(config.server, holders, thread), Uploads.under(config.server)
        listener = _listener(
            config,
            planning,
            threads,
            records,
            writer,
            Replaying(planning, store, config, tokenizers),
            ingest,
            DocumentLanes(ingest, large),
            Sources(store),
            meters,
            administration,
            write_quota,
            admission,
            uploads,
        )
        meters.registry.register(
            LoadMeters(
                {
                    "telha_calls_in_flight": lambda: listener.in_flight,
                    "telha_plans_waiting": lambda: thread.waiting,
                    "telha_writes_waiting": lambda: ingest.held + large.held,
                    "telha_questions_waiting": lambda: threads.waiting,
                    "telha_held_bytes": lambda: admission.held,
                    "telha_upload_bytes": lambda: uploads.shares.held,
                }
            )
        )
        await listener.start()
        deletions.start()
        parts.push_async_callback(deletions.stop)
        parts.push_async_callback(listener.drain)
        if config.server.metrics_port:
            _serve_metrics(meters, config.server.host, config.server.metrics_port)
        # What is loaded by now lives as long as the process; collections need not visit it again.
        gc.freeze()
        _log.info("listening", address=listener.address)
        threads.warm()
        await stop.wait()
        _log.info("draining")
    _log.info("stopped")


def _ingest_process(config: PlannerConfig) -> IngestProcess:
    return IngestProcess(
        config.store.url,
        busy_timeout_ms=config.store.busy_timeout_ms,
        keep_us=config.server.idempotency_hours * HOUR_US,
        log_level=config.server.log_level,
        log_format=config.server.log_format,
        embedding=config.embedding,
        drain_seconds=INGEST_END_S,
    )


def _serve_metrics(meters: Meters, host: str, port: int) -> None:
    try:
        meters.serve(host, port)
    except OSError as fault:
        raise ListenFailed(
            f"metrics cannot be served on port {port} of {host}: {fault.strerror}; choose another with "
            "server.metrics_port."
        ) from None


async def _trace_path(
    config: PlannerConfig, meters: Meters, parts: AsyncExitStack
) -> tuple[Records, TraceWriter, str | None]:
    """Where records go, the writer, and the name of the spool if there is one."""
    settings = config.trace
    writer = TraceWriter(settings.writer, settings.internal_token)
    parts.push_async_callback(writer.close)
    records: Spool | StreamRecords
    if settings.durability == "stream":
        redis = _redis(settings.redis_url, REPLY_WITHIN_S, parts)
        records = StreamRecords(redis, settings.stream, settings.stream_max_entries, str(uuid4()))
        records.start()
        parts.push_async_callback(records.close)
        meters.registry.register(StreamMeters(records))
    else:
        records = Spool.open(settings.spool, settings.spool_max_mb * MEBIBYTE)
        parts.push_async_callback(records.close)
        redis = _redis(settings.redis_url, EMITTER_REPLY_WITHIN_S, parts)
        emitter = Emitter(
            records, redis, writer, settings.stream, now_us=now, stream_max_entries=settings.stream_max_entries
        )
        emitter.start()
        parts.push_async_callback(emitter.stop, config.server.drain_ms / 1000)
        tending = asyncio.create_task(records.tend())
        parts.callback(tending.cancel)
        meters.registry.register(SpoolMeters(records, emitter, now))
    name = records.name if isinstance(records, Spool) else None
    if settings.required:
        return records, writer, name
    lenient = BestEffort(records)
    meters.registry.register(MissedMeters(lenient))
    return lenient, writer, name


def _redis(url: str, reply_within_s: float, parts: AsyncExitStack) -> Redis:
    try:
        client = redis_client.connect(url, reply_within_s=reply_within_s)
    except redis_client.UrlInvalid as fault:
        raise redis_client.UrlInvalid(f"trace.redis_url: {fault}") from None
    parts.push_async_callback(client.aclose)
    return client


def _listener(
    config: PlannerConfig,
    planning: Planning,
    threads: QuestionThreads,
    records: Records,
    writer: TraceWriter,
    replaying: Replaying,
    ingest: IngestProcess,
    documents: DocumentLanes,
    sources: Sources,
    meters: Meters,
    administration: AdministrationSurface,
    write_quota: Quota,
    admission: Admission,
    uploads: Uploads,
) -> Listener:
    plan_quota = Quota(config.server.plan_calls_per_minute)
    context_quota = Quota(config.server.context_calls_per_minute)
    reader = TraceReader(records, writer)
    limit = config.server.max_message_bytes
    replays = Replays(planning, replaying, threads.plans, reader, plan_quota, limit)
    limit = config.server.max_message_bytes
    surfaces = (
        PlannerSurface(planning, threads, records, plan_quota, meters, replays, reader, limit),
        ContextSurface(
            planning, threads, records, context_quota, meters, reader, limit, enabled=config.context.enabled
        ),
        MemorySurface(planning, threads.plans, ingest, documents, sources, uploads, write_quota),
        TracesSurface(planning, replaying, threads.plans, records, writer, limit),
        administration,
    )
    return Listener(config.server, [surface.service() for surface in surfaces], meters, admission)

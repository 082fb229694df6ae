"""Real gRPC listeners in this process, each on an event loop in a thread of its own, for tests that call them."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from telha_client import Client
from telha_planner.bootstrap import MOST_ROWS_AT_ONCE
from telha_planner.caller import Caller
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig, ServerSettings
from telha_planner.ingest.lanes import DocumentLanes
from telha_planner.ingest.process import IngestProcess
from telha_planner.memory import keys
from telha_planner.memory.directory import Directory
from telha_planner.memory.reads import Sources
from telha_planner.memory.store import Store
from telha_planner.memory.texts import SourceTexts
from telha_planner.models.embedders.opening import opened
from telha_planner.models.embedders.questions import Questions
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.pipeline import Planning
from telha_planner.replay import Replaying
from telha_planner.server.administration import AdministrationSurface
from telha_planner.server.admission import Admission
from telha_planner.server.call import Service
from telha_planner.server.context import ContextSurface
from telha_planner.server.deletions import Deletions
from telha_planner.server.dispatch import PlanThread, WorkThread
from telha_planner.server.holders import Holders
from telha_planner.server.listener import Listener
from telha_planner.server.memory import MemorySurface
from telha_planner.server.meters import Meters
from telha_planner.server.planner import PlannerSurface
from telha_planner.server.questions import QuestionThreads
from telha_planner.server.quota import Quota
from telha_planner.server.replay import Replays
from telha_planner.server.trace_reader import TraceReader
from telha_planner.server.trace_writer_port import TraceWriter
from telha_planner.server.traces import TracesSurface
from telha_planner.server.uploads import Uploads
from telha_planner.trace.ids import TraceIds
from telha_planner.trace.spool import Spool

RIGHTS = ("read", "write", "admin")


class PlannerServer:
    """Serves what *services* makes (called on the loop) until the `with` block ends."""

    def __init__(self, services: Callable[[], Sequence[Service]], **settings: Any) -> None:
        self.settings = ServerSettings(**{"port": 0, "drain_ms": 2000, **settings})
        self.meters = Meters()
        self._services = services
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="server", daemon=True)
        self.listener: Listener
        self.address = ""

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.address = self.run(self._start())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._stop())
        self._end()

    def run(self, coroutine: Any) -> Any:
        """Run *coroutine* on the server's loop and wait for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def admission(self) -> Admission | None:
        """What decides which calls may bring their message; None is the listener's own."""
        return None

    async def _start(self) -> str:
        self.listener = Listener(self.settings, self._services(), self.meters, self.admission())
        return await self.listener.start()

    async def _stop(self) -> None:
        await self.listener.drain()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class RealPlanner(PlannerServer):
    """
    A whole planner over `folder`: store, pipeline, ingest child, spool, listener.

    The store is at *url*, or a file in *folder*. Nothing is shipped from the spool. Without *writer*, the address of a
    trace writer, what is not in the spool cannot be told. *ingest* does the writes, in a child by default. Deletions of
    other processes are looked for every *round_s* seconds: never by default, since a round takes a place of the plan
    thread and counts as a write. *now* is its clock, µs.
    """

    def __init__(
        self,
        folder: Path,
        config: PlannerConfig | None = None,
        *,
        url: str | None = None,
        writer: str | None = None,
        token: str = "token",
        spool_bytes: int = 16 << 20,
        ingest: type[IngestProcess] = IngestProcess,
        round_s: float | None = None,
        now: Callable[[], int] | None = None,
    ) -> None:
        self.config = config or PlannerConfig()
        self.holders = Holders()
        super().__init__(self._surfaces, **self.config.server.model_dump(exclude={"port"}))
        self.folder = folder
        self.writer_address = writer or f"unix:{folder}/no-writer.sock"
        self._token = token
        self._round_s = round_s
        self._now = now or _now
        self._spool_bytes = spool_bytes
        url = url or f"sqlite:///{folder / 'memory.db'}"
        self.store = Store.open(url, busy_timeout_ms=10_000)
        self._columns = Columns(self.store, 1 << 30, MOST_ROWS_AT_ONCE)
        self.plan_thread = PlanThread(self.config.server.max_waiting, self._columns.advance)
        self.writes = WorkThread(32, "administration")
        self.directory = Directory(self.store, self._now)
        embedder = opened(self.config.embedding)
        self._questions = None if embedder is None else Questions(embedder)
        self.threads = QuestionThreads(self.plan_thread, self._questions)
        self._ingest, self._large = (
            ingest(url, busy_timeout_ms=10_000, log_level="warning", embedding=self.config.embedding) for _ in range(2)
        )
        self._keys: dict[str, str] = {}
        self.spool: Spool
        self.planning: Planning
        self.deletions: Deletions
        self.writer: TraceWriter
        self.uploads = Uploads.under(self.config.server)

    def key(self, tenant: str = "acme", spaces: Sequence[str] | None = None, rights: Sequence[str] = RIGHTS) -> str:
        """A key, made once for each scope."""
        name = f"{tenant}/{spaces}/{rights}"
        if name not in self._keys:
            self._keys[name], _ = keys.create(
                self.store, tenant, name="test", rights=rights, spaces=spaces, now=self._now, create_tenant=True
            )
        return self._keys[name]

    def key_id(self, tenant: str = "acme", spaces: Sequence[str] | None = None, rights: Sequence[str] = RIGHTS) -> str:
        """The id of such a key."""
        return self.key(tenant, spaces, rights).split("_")[1]

    def caller(self, key: str) -> Caller:
        """Who calls with *key*."""
        with self.store.reading() as connection:
            found = keys.authenticate(connection, key, self._now)
        assert found is not None
        return found[0]

    def client(
        self, tenant: str = "acme", spaces: Sequence[str] | None = None, rights: Sequence[str] = RIGHTS
    ) -> Client:
        """A client with such a key."""
        return Client(self.address, self.key(tenant, spaces, rights))

    def waiting_writes(self) -> int:
        """Writes that were let in and are not answered, those in the ingest children included."""
        return self._ingest.held + self._large.held + self.writes.held

    def admission(self) -> Admission:
        """As in the server."""
        return Admission(self.config.server, self.holders, self.plan_thread)

    def _surfaces(self) -> list[Service]:
        self.spool = Spool.open(self.folder / "spool", self._spool_bytes)
        self.writer = TraceWriter(self.writer_address, self._token)
        tokenizers = Tokenizers(self.config.tokens)
        planning = Planning(
            store=self.store,
            columns=self._columns,
            texts=SourceTexts(self.store, limit_bytes=1 << 26),
            tokenizers=tokenizers,
            config=self.config,
            now=self._now,
            new_trace_id=TraceIds(self._now, os.urandom, self.spool.name).next,
            questions=self._questions,
            credentials=self.holders,
        )
        self.planning = planning
        self.deletions = Deletions(
            self.directory,
            self.plan_thread,
            self.writes,
            planning.forget,
            planning.forget_erased,
            self.spool.roll,
            self.writer,
            self._now,
            round_s=self._round_s or 0.0,
        )
        if self._round_s is not None:
            self.deletions.start()
        spool, thread, server = self.spool, self.plan_thread, self.config.server
        plans, contexts = Quota(server.plan_calls_per_minute), Quota(server.context_calls_per_minute)
        written = Quota(server.write_calls_per_minute)
        enabled, limit = self.config.context.enabled, server.max_message_bytes
        reader = TraceReader(spool, self.writer)
        replaying = Replaying(planning, self.store, self.config, tokenizers)
        replays = Replays(planning, replaying, thread, reader, plans, server.max_message_bytes)
        context = ContextSurface(planning, self.threads, spool, contexts, self.meters, reader, limit, enabled=enabled)
        return [
            PlannerSurface(planning, self.threads, spool, plans, self.meters, replays, reader, limit).service(),
            context.service(),
            MemorySurface(
                planning,
                thread,
                self._ingest,
                DocumentLanes(self._ingest, self._large),
                Sources(self.store),
                self.uploads,
                written,
            ).service(),
            TracesSurface(planning, replaying, thread, spool, self.writer, server.max_message_bytes).service(),
            AdministrationSurface(
                planning, thread, self.writes, self.directory, self._ingest, self.deletions, written
            ).service(),
        ]

    async def _stop(self) -> None:
        await super()._stop()
        await self.deletions.stop()
        await self._ingest.close()
        await self._large.close()
        await self.writer.close()
        await self.spool.close()
        self.threads.close()
        self.plan_thread.close()
        self.writes.close()
        self.store.close()


def _now() -> int:
    return time.time_ns() // 1000

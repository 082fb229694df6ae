"""
A whole planner in this process, without sockets or children: every servicer over a real store, called with raw bytes.

Rule 1: a refused write leaves the store as it was; `asked` compares every table's rows before and after.
Rule 2: what an input may end (the key, the tenant) is set up anew, so that the next input meets the same memory.
"""

import asyncio
import contextlib
import os
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from counting_embedder import CountingEmbedder
from fuzz.target import law
from google.protobuf.message import Message
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig, ServerSettings
from telha_planner.core.errors import Bug, TelhaError, Unauthenticated, Unavailable
from telha_planner.ingest.document import DocumentInput
from telha_planner.ingest.embedding import Embedding
from telha_planner.ingest.worker import Worker
from telha_planner.memory import keys, tables
from telha_planner.memory.directory import Directory
from telha_planner.memory.reads import Sources
from telha_planner.memory.store import Store
from telha_planner.memory.texts import SourceTexts
from telha_planner.memory.writes import Writer
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.pipeline import Planning
from telha_planner.replay import Replaying
from telha_planner.server.administration import AdministrationSurface
from telha_planner.server.call import Call, Service
from telha_planner.server.context import ContextSurface
from telha_planner.server.deletions import Deletions
from telha_planner.server.holders import STRANGERS
from telha_planner.server.memory import MemorySurface
from telha_planner.server.meters import Meters
from telha_planner.server.planner import PlannerSurface
from telha_planner.server.questions import QuestionThreads
from telha_planner.server.quota import Quota
from telha_planner.server.replay import Replays
from telha_planner.server.trace_reader import TraceReader
from telha_planner.server.traces import TracesSurface
from telha_planner.server.uploads import Uploads
from telha_planner.server.wire import decode

T = TypeVar("T")

RIGHTS = ("read", "write", "admin", "operator")
PAGE = "# Deploys\n\nDeploys to eu-west need a sign-off.\n\n| who | when |\n|---|---|\n| Ana | 電車 |\n"
_LARGEST_DOCUMENT = 1 << 20
_GROWN_ROWS = 3000
"""Rows above which the memory is set up anew: recall over what inputs have written would take all the time."""


class Inline:
    """Runs the work of calls at once."""

    async def run(self, work: Callable[[], T], deadline: float, holder: object = None) -> T:
        """The result of *work*."""
        del deadline, holder
        return work()


class Written:
    """The ingest child's work, done here."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def __getattr__(self, method: str) -> Callable[..., Any]:
        absent = object()

        async def called(*arguments: Any, by: str, spaces: Any = absent, key: Any = absent) -> Any:
            # As the process passes them on: spaces before the key, each only where the method takes it.
            more = [given for given in (spaces, key) if given is not absent]
            return getattr(self._worker.on_behalf_of(by), method)(*arguments, *more)

        return called

    async def ingest_file(
        self, tenant: int, name: str, header: Any, descriptor: int, size: int, *, key: Any, by: str
    ) -> Any:
        """As the lanes have it: the content lies in a file."""
        content = os.pread(descriptor, size, 0)
        return self._worker.on_behalf_of(by).ingest_file(tenant, name, header, key, content)


class Kept:
    """Trace records of this process, and a trace writer that is away."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], bytes] = {}
        self._last = ("", "")

    async def append(self, record: bytes, trace_id: str) -> bool:
        """Keep the newest few."""
        if len(self._records) > 50:
            self._records.clear()
        self._records["acme", trace_id] = record
        return True

    def get(self, tenant: str, trace_id: str) -> bytes | None:
        """A record that is kept."""
        return self._records.get((tenant, trace_id))

    def spools(self) -> list[str]:
        """None that a trace writer would know."""
        return []

    async def fetch(self, *_: object) -> None:
        """Nothing can be told."""
        raise Unavailable(part="the trace writer")

    fetch_as_written = fetch

    browse = delete_tenant = delete_trace = fetch

    def erase(self, tenant: str, trace_id: str) -> None:
        """Forget a record."""
        self._records.pop((tenant, trace_id), None)

    def roll(self) -> None:
        """There are no files."""


class Stage:
    """A planner on a memory of its own."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self._loop = asyncio.new_event_loop()
        self._open()

    def ask(self, service: str, method: str, raw: bytes) -> Message | TelhaError:
        """The answer to *raw*; raises for what no caller may see."""
        return self._loop.run_until_complete(self.asked(service, method, [raw]))

    def run(self, work: Any) -> Any:
        """The result of the coroutine *work*."""
        return self._loop.run_until_complete(work)

    async def asked(self, service: str, method: str, raws: list[bytes]) -> Message | TelhaError:
        """As `ask`; a stream may have several messages."""
        call = Call(f"{service}/{method}", "r", self.key, time.monotonic() + 30, STRANGERS)
        found = self._services[service]
        before = self.rows()
        try:
            if method in found.streams:

                async def messages() -> Any:
                    for raw in raws:
                        yield raw

                answer = await found.streams[method](messages(), call)
            else:
                answer = await found.methods[method](raws[0], call)
        except TelhaError as refused:
            law(not isinstance(refused, Bug), "a caller was told of an internal error")
            law(self.rows() == before, f"{method} was refused ({refused}) and the store has changed")
            if isinstance(refused, Unauthenticated):
                self.reset()
            return refused
        again = decode(type(answer), answer.SerializeToString())
        law(again == answer, f"the answer of {method} does not read back")
        if sum(count for count, _ in self.rows().values()) > _GROWN_ROWS:
            self.reset()
        return answer

    def rows(self) -> dict[str, tuple[int, int]]:
        """Per table its rows, and a sum over the numbers of them that writes and closings change."""
        with self.store.reading() as connection:
            parts = []
            for table in tables.metadata.sorted_tables:
                closing = [column for column in table.columns if column.name in {"tx_to", "last_tx", "revoked_us"}]
                closed = sa.func.total(closing[0] % 1_000_003) if closing else sa.literal(0.0)
                parts.append(sa.select(sa.literal(table.name), sa.func.count(), closed).select_from(table))
            return {name: (count, int(closed)) for name, count, closed in connection.execute(sa.union_all(*parts))}

    def reset(self) -> None:
        """Start anew with the same few documents."""
        self.store.close()
        self._folder.cleanup()
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self._open()

    def _open(self) -> None:
        self.store = Store.open(f"sqlite:///{Path(self._folder.name) / 'memory.db'}", busy_timeout_ms=1000)
        self._last = 1_780_000_000_000_000
        self.key, self.key_id = keys.create(
            self.store, "acme", name="k", rights=RIGHTS, spaces=None, now=self._now, create_tenant=True
        )
        config, server = PlannerConfig(), ServerSettings(max_document_bytes=_LARGEST_DOCUMENT)
        columns, tokenizers = Columns(self.store, 1 << 28), Tokenizers(config.tokens)
        planning = Planning(
            store=self.store,
            columns=columns,
            texts=SourceTexts(self.store, limit_bytes=1 << 24),
            tokenizers=tokenizers,
            config=config,
            now=self._now,
            new_trace_id=lambda: str(uuid.uuid4()),
        )
        worker = Worker(Writer(self.store, self._now), Embedding(CountingEmbedder(dimensions=8), self.store))
        written: Any = Written(worker)
        thread: Any = Inline()
        threads: Any = QuestionThreads(thread, None)
        kept: Any = Kept()
        directory, free = Directory(self.store, self._now), Quota(0)
        deletions = Deletions(
            directory, thread, thread, planning.forget, planning.forget_erased, kept.roll, kept, self._now
        )
        meters = Meters()
        replaying = Replaying(planning, self.store, config, tokenizers)
        replays = Replays(planning, replaying, thread, TraceReader(kept, kept), free, 4 << 20)
        services = [
            PlannerSurface(planning, threads, kept, free, meters, replays, TraceReader(kept, kept), 4 << 20).service(),
            ContextSurface(
                planning, threads, kept, free, meters, TraceReader(kept, kept), 4 << 20, enabled=True
            ).service(),
            MemorySurface(
                planning, thread, written, written, Sources(self.store), Uploads.under(server), free
            ).service(),
            TracesSurface(planning, replaying, thread, kept, kept, server.max_message_bytes).service(),
            AdministrationSurface(planning, thread, thread, directory, written, deletions, free).service(),
        ]
        self._services: dict[str, Service] = {service.name: service for service in services}
        tenant = planning.caller(self.key).tenant
        worker.ingest(
            tenant, "acme", [DocumentInput(None, "runbook.md", None, "main", None, PAGE.encode(), None)], None
        )

    def _now(self) -> int:
        self._last += 1_000_000
        return self._last


_stages: list[Stage] = []


def stage() -> Stage:
    """The stage of this process."""
    if not _stages:
        _stages.append(Stage())
    return _stages[0]


def close() -> None:
    """Let go of it."""
    while _stages:
        opened = _stages.pop()
        opened.store.close()
        with contextlib.suppress(OSError):
            opened._folder.cleanup()
        opened._loop.close()

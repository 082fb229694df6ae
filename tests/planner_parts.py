"""A real planner in process: store, writer, parser, columns and pipeline on a folder of the test's own."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from uuid import UUID

from telha_planner.caller import MAIN_SPACE
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig
from telha_planner.core.request import PlanRequest, SelectRequest, Window
from telha_planner.ingest.document import DocumentInput
from telha_planner.ingest.embedding import Embedding
from telha_planner.ingest.parse import parse
from telha_planner.memory import keys
from telha_planner.memory.store import Store
from telha_planner.memory.texts import SourceTexts
from telha_planner.memory.writes import Writer
from telha_planner.models.embedders.questions import Questions, embedded_first
from telha_planner.models.embedders.seam import Embedder
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.pipeline import Planning

START = 1_780_000_000_000_000
"""The first reading of the parts' clock, µs."""

RIGHTS = ("read", "write", "admin")


@dataclass
class Clock:
    """A clock that moves by one second at each reading."""

    now: int = START

    def __call__(self) -> int:
        self.now += 1_000_000
        return self.now


@dataclass
class Parts:
    """Everything behind the servicers, without processes or sockets."""

    url: str
    store: Store
    writer: Writer
    planning: Planning
    columns: Columns
    clock: Clock
    embedding: Embedding
    questions: Questions | None
    keys: dict[str, str] = field(default_factory=dict)

    def key(self, tenant: str = "acme", spaces: tuple[str, ...] | None = None) -> str:
        """A key of *tenant* with every right, made once for each pair."""
        name = f"{tenant}/{spaces}"
        if name not in self.keys:
            self.keys[name], _ = keys.create(
                self.store, tenant, name=name, rights=RIGHTS, spaces=spaces, now=self.clock, create_tenant=True
            )
        return self.keys[name]

    def remember(
        self,
        name: str,
        text: str | bytes,
        *,
        tenant: str = "acme",
        space: str = MAIN_SPACE,
        valid_from: int | None = None,
        media_type: str | None = None,
    ) -> UUID:
        """Ingest one document; returns its source id."""
        content = text.encode() if isinstance(text, str) else text
        document = DocumentInput(None, name, None, space, media_type, content, valid_from)
        caller = self.planning.caller(self.key(tenant))
        records = [parse(document, tenant)]
        embedded = self.embedding.of_documents(caller.tenant, records, every=False)
        committed = self.writer.write_documents(caller.tenant, records, embedded)
        return UUID(bytes=committed.sources[0].source_id)

    def plan(self, question: str | None = None, *, tenant: str = "acme", window: Window | None = None, **changes):
        """Plan as *tenant*."""
        request = PlanRequest(question=question, window=window or Window(), allow_ungrounded=True, **changes)
        key, sent = self.key(tenant), {"question": question}
        return embedded_first(self.questions, lambda vector: self.planning.plan(key, request, sent, vector))

    def context(self, question: str | None = None, *, tenant: str = "acme", window: Window | None = None, **changes):
        """Build context as *tenant*."""
        request = PlanRequest(question=question, window=window or Window(), **changes)
        key, sent = self.key(tenant), {"question": question}
        return embedded_first(self.questions, lambda vector: self.planning.context(key, request, sent, vector))

    def select(self, pool, *, tenant: str = "acme", **changes):
        """Select as *tenant*."""
        return self.planning.select(self.key(tenant), SelectRequest(pool=pool, **changes), {})

    def reembed(self, tenant: str = "acme") -> int:
        """Move *tenant* to the embedder's model; returns how many batches it took."""
        number, after, batches = self.planning.caller(self.key(tenant)).tenant, None, 0
        while True:
            done = self.embedding.next_batch(number, after, self.writer)
            after, batches = done.after, batches + 1
            if after is None:
                return batches

    def restarted(self, embedder: Embedder | None = None) -> "Parts":
        """New parts over the same store, as after a restart."""
        again = parts_over(self.url, clock=self.clock, embedder=embedder)
        again.keys = self.keys
        return again

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()


def parts_in(
    folder: Path, *, config: PlannerConfig | None = None, clock: Clock | None = None, embedder: Embedder | None = None
) -> Parts:
    """Parts over `folder/memory.db`."""
    return parts_over(f"sqlite:///{folder / 'memory.db'}", config=config, clock=clock, embedder=embedder)


def parts_over(
    url: str, *, config: PlannerConfig | None = None, clock: Clock | None = None, embedder: Embedder | None = None
) -> Parts:
    """Parts over the store at *url*."""
    config = config or PlannerConfig()
    clock = clock or Clock()
    store = Store.open(url, busy_timeout_ms=10_000)
    columns = Columns(store, memory_limit_bytes=1 << 30)
    numbers = count(1)
    questions = None if embedder is None else Questions(embedder)
    planning = Planning(
        store=store,
        columns=columns,
        texts=SourceTexts(store, limit_bytes=1 << 26),
        tokenizers=Tokenizers(config.tokens),
        config=config,
        now=clock,
        new_trace_id=lambda: str(UUID(int=next(numbers))),
        questions=questions,
    )
    return Parts(url, store, Writer(store, clock), planning, columns, clock, Embedding(embedder, store), questions)


def texts_of(spans: Iterable) -> list[str]:
    """The texts of planned spans or items."""
    return [span.text for span in spans]

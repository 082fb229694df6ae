"""
The planner that is evaluated, in this process: the real store, columns and pipeline on a throw-away folder.

Rule 1: nothing here is random and the clock stands still, so that equal sets give equal commits, plans and hashes.
Rule 2: ingestion goes through the parser and the writer that serve, in batches; what is there already is left alone,
so an interrupted one goes on where it stopped.
"""

from itertools import count
from pathlib import Path
from time import perf_counter_ns
from urllib.parse import quote
from uuid import UUID

from telha_planner import resolution
from telha_planner.caller import Caller
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.tenant import Columns
from telha_planner.config import PlannerConfig
from telha_planner.core.errors import Unauthenticated
from telha_planner.core.plan import PlannedSpan
from telha_planner.ingest.embedding import Embedding
from telha_planner.ingest.parse import parse
from telha_planner.memory import keys
from telha_planner.memory.reads import Sources
from telha_planner.memory.store import Store
from telha_planner.memory.texts import SourceTexts
from telha_planner.memory.writes import Writer
from telha_planner.models.embedders.questions import Questions
from telha_planner.models.embedders.seam import Embedder
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.pipeline import Planning
from telha_planner.recall.ports import RecallQuery

from .asking import Asked, Returned, Told, batches, request_of, space_of
from .dataset import Dataset, GoldSpan, Question

TENANT = "evaluation"
_PAGE = 1000
_INSTANT = 1_700_000_000_000_000
_MEBIBYTE = 1 << 20


class InProcess:
    """
    A planner over *dataset*.

    Args:
        folder: Where its store is.
        embedder: Makes vectors of passages and questions, if any.

    Attributes:
        config: Its settings.
        columns, tokenizers: Its parts, for comparisons on the same store.
        caller: Who asks.
    """

    def __init__(
        self, dataset: Dataset, folder: Path, config: PlannerConfig, embedder: Embedder | None, told: Told
    ) -> None:
        self.config = config
        self._dataset = dataset
        url = f"sqlite:///{quote(str(folder / 'memory.db'))}"
        self._store = Store.open(url, busy_timeout_ms=config.store.busy_timeout_ms)
        self.columns = Columns(self._store, config.store.columns_memory_mb * _MEBIBYTE)
        self.tokenizers = Tokenizers(config.tokens)
        self._index = {
            source.id_in(space_of(dataset, source.scope)): number for number, source in enumerate(dataset.sources)
        }
        self._key, _ = keys.create(
            self._store, TENANT, name="evaluation", rights=("read",), spaces=None, now=_now, create_tenant=True
        )
        numbers = count(1)
        self._questions = None if embedder is None else Questions(embedder)
        self.planning = Planning(
            store=self._store,
            columns=self.columns,
            texts=SourceTexts(self._store, config.store.text_cache_mb * _MEBIBYTE),
            tokenizers=self.tokenizers,
            config=config,
            now=_now,
            new_trace_id=lambda: str(UUID(int=next(numbers))),
            questions=self._questions,
        )
        self._embedding = Embedding(embedder, self._store)
        self.caller: Caller = self.planning.caller(self._key)
        self._ingest(told)

    def ask(self, question: Question, budget: int, share: float) -> Asked:
        """See `Asker`."""
        request = request_of(self._dataset, question, budget, share)
        vector = None if self._questions is None else self._questions.vector(question.text)
        begin = perf_counter_ns()
        plan = self.planning.plan(self._key, request, {"question": question.text}, vector).plan
        took = (perf_counter_ns() - begin) / 1e6
        return Asked(tuple(map(self._returned, plan.spans)), plan.budget, plan.used, plan.plan_hash, took)

    def snapshot(self) -> Snapshot:
        """The whole set as the planner sees it."""
        with self._store.reading() as connection:
            found = keys.authenticate(connection, self._key, _now)
        if found is None:
            raise Unauthenticated
        return self.columns.at(found[0].tenant, found[1])

    def query(self, question: Question, budget: int, share: float) -> RecallQuery:
        """What recall is asked for *question*."""
        request = request_of(self._dataset, question, budget, share)
        surface = resolution.plan_surface(self.config)
        limits = resolution.resolve_limits(request, surface, self.config, self.tokenizers)
        window = resolution.resolve_window(request.window, self.snapshot().last_tx, _now())
        vector = None if self._questions is None else self._questions.vector(question.text)
        return resolution.resolve_recall(request, limits, self.caller, self.config, window, vector)

    def index_of(self, source_id: bytes) -> int:
        """The index in the set of a source in memory."""
        return self._index[source_id]

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _returned(self, planned: PlannedSpan) -> Returned:
        span = GoldSpan(self._index[planned.span.source_id], planned.span.start, planned.span.end)
        return Returned(span, planned.text)

    def _stored(self) -> set[bytes]:
        reads, stored, after = Sources(self._store), set[bytes](), None
        while page := reads.page(self.caller.tenant, None, after, _PAGE):
            stored.update(source.source_id for source in page)
            after = (page[-1].source_id, page[-1].source_no)
        return stored

    def _ingest(self, told: Told) -> None:
        writer = Writer(self._store, _now)
        stored = self._stored()
        for documents in batches(self._dataset, told):
            if not all(document.source_id in stored for document in documents):
                records = [parse(document, TENANT) for document in documents]
                embedded = self._embedding.of_documents(self.caller.tenant, records, every=True)
                writer.write_documents(self.caller.tenant, records, embedded)


def _now() -> int:
    return _INSTANT

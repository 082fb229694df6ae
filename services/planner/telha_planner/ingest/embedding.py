"""
Vectors at ingest: made in the ingest child, before the write transaction opens, like counting and analysis.

Rule 1: a text that the tenant has a vector of is not embedded again, whatever node it stands on.
Rule 2: no vectors, no write: a call whose vectors cannot be made fails whole with `Unavailable`, so that what is
written can always be found by what it means.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import structlog

from telha_planner import patience
from telha_planner.core.errors import Unavailable, VectorLegUnavailable
from telha_planner.memory import reembedding, writes_documents
from telha_planner.memory.cited_texts import texts_to_embed
from telha_planner.memory.embedded import Embedded, TextVector, hash_of, known_vectors, text_to_embed
from telha_planner.memory.records import DocumentRecord, NodeRecord, Reembedded
from telha_planner.memory.reembedding import Lacking
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer
from telha_planner.models.embedders.seam import Embedder, EmbedderFailed

PART = "the embedder"

BATCH = 256
"""Most nodes that one call of a move to another model takes."""
BATCH_S = 1.0
"""How long such a call embeds, while other writes wait."""
AT_ONCE = 16
BETWEEN_LOOKS = 64
"""Texts that are embedded before it is looked whether anybody still waits."""

_log = structlog.get_logger(__name__)


class Embedding:
    """
    Embeds what is about to be written to *store*.

    Args:
        embedder: The configured one, None if there is none: then nothing is embedded.
    """

    def __init__(self, embedder: Embedder | None, store: Store) -> None:
        self._embedder = embedder
        self._store = store

    def of_documents(self, tenant: int, documents: Sequence[DocumentRecord], *, every: bool) -> Embedded | None:
        """
        Vectors of the passages and windows of *documents*; None without an embedder.

        Args:
            every: Embed also what the store has already in this form; else its documents are passed over.

        Raises:
            Unavailable: The embedder fails.
        """
        if self._embedder is None:
            return None
        passed_over: frozenset[bytes] = frozenset()
        if not every:
            with self._store.reading(tenant) as connection:
                passed_over = writes_documents.unchanged(connection, tenant, documents)
        new = [document for document in documents if document.source_id not in passed_over]
        return self._embedded(self._embedder, tenant, passages_of(new), passed_over)

    def of_nodes(self, tenant: int, records: Sequence[NodeRecord]) -> Embedded | None:
        """
        Vectors of those of *records* that rest on spans and bring none of their own; None without an embedder.

        Raises:
            Unavailable: The embedder fails.
        """
        if self._embedder is None:
            return None
        return self._embedded(self._embedder, tenant, texts_to_embed(self._store, tenant, records).items())

    def next_batch(self, tenant: int, after: int | None, writer: Writer) -> Reembedded:
        """
        Give some nodes that lack a vector of the embedder's model one, or make the model active if none does.

        Args:
            after: Where the last call ended; None begins anew.

        Raises:
            VectorLegUnavailable: There is no embedder, or its model's name stands for vectors of another length.
            Unavailable: The embedder fails; what earlier calls wrote stays.
        """
        embedder = self._embedder
        if embedder is None:
            raise VectorLegUnavailable(cause="no embedder is configured")
        model = embedder.model
        with self._store.reading(tenant) as connection:
            left = reembedding.count_lacking(connection, tenant, model.name) if after is None else None
            batch = reembedding.lacking(connection, tenant, model.name, after or 0, BATCH)
        if not batch:
            tx = writer.complete_model(tenant, model)
            return Reembedded(model.name, 0, None if tx is not None else 0, left, tx)
        batch, vectors = self._within_time(embedder, tenant, batch)
        writer.add_vectors(tenant, model, batch, vectors)
        return Reembedded(model.name, len(batch), batch[-1].version_no, left, None)

    def _within_time(
        self, embedder: Embedder, tenant: int, batch: list[Lacking]
    ) -> tuple[list[Lacking], dict[int, TextVector]]:
        """As much of *batch* as a write may be held up for, with its vectors by version number."""
        hashes = {one.version_no: hash_of(one.text) for one in batch}
        values = known_vectors(self._store, tenant, embedder.model.name, hashes.values())
        end = time.monotonic() + BATCH_S
        done: list[Lacking] = []
        for start in range(0, len(batch), AT_ONCE):
            if done and time.monotonic() > end:
                break
            some = batch[start : start + AT_ONCE]
            missing = {hashes[one.version_no]: one.text for one in some if hashes[one.version_no] not in values}
            values.update(made(embedder, missing))
            done += some
        vectors = {one.version_no: TextVector(hashes[one.version_no], values[hashes[one.version_no]]) for one in done}
        return done, vectors

    def _embedded(
        self,
        embedder: Embedder,
        tenant: int,
        texts: Iterable[tuple[bytes, str]],
        passed_over: frozenset[bytes] = frozenset(),
    ) -> Embedded:
        text_of: dict[bytes, bytes] = {}
        distinct: dict[bytes, str] = {}
        for node_id, text in texts:
            text_of[node_id] = text_hash = hash_of(text)
            distinct[text_hash] = text
        values = known_vectors(self._store, tenant, embedder.model.name, distinct) if distinct else {}
        missing = {text_hash: text for text_hash, text in distinct.items() if text_hash not in values}
        values.update(made(embedder, missing))
        return Embedded(embedder.model, text_of, values, passed_over)


def made(embedder: Embedder, texts: Mapping[bytes, str]) -> dict[bytes, bytes]:
    """
    The vectors of *texts*, by the same keys.

    Raises:
        Unavailable: The embedder fails.
    """
    found: dict[bytes, bytes] = {}
    waiting = list(texts)
    for start in range(0, len(waiting), BETWEEN_LOOKS):
        patience.check()
        some = waiting[start : start + BETWEEN_LOOKS]
        try:
            vectors = embedder.passages([texts[text_hash] for text_hash in some])
        except EmbedderFailed as failed:
            _log.error("embedding_failed", model=embedder.model.name, texts=len(texts), cause=str(failed))
            raise Unavailable(part=PART) from failed
        found.update((text_hash, vector.tobytes()) for text_hash, vector in zip(some, vectors, strict=True))
    return found


def passages_of(documents: Iterable[DocumentRecord]) -> Iterator[tuple[bytes, str]]:
    """The nodes of *documents* that are embedded, each with its text."""
    for document in documents:
        texts = [document.text[span.start : span.end].decode() for span in document.spans]
        for passage in document.nodes:
            if passage.preface is not None:
                own = [texts[position] for position in passage.spans]
                yield passage.node_id, text_to_embed(passage.preface, own)

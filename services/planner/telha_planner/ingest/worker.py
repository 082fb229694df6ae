"""
The ingest child: parses, counts and analyses documents, and does every write; `python -m telha_planner.ingest.worker`.

It has the store's writer to itself and answers one call after the other. Parsing and embedding are over before the
write transaction opens, so the lock is held for the inserts alone.

Rule 1: it ends with its parent: by the kernel's word when the parent dies, and at the end of its requests.
Rule 2: signals to the group (Ctrl-C) do not stop it; the parent drains it by closing the pipe.
Rule 3: replies have a descriptor of their own, so that nothing a library prints can come between.
Rule 4: `GIVEN_UP` says that nobody waits for the call that runs; it ends at its next look (`telha_planner.patience`),
which is never inside a transaction.
"""

import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, NamedTuple, cast

from telha_runtime import logs
from telha_runtime.process import die_with_parent

from telha_planner import patience
from telha_planner.config import EmbeddingSettings
from telha_planner.core.errors import RequestInvalid, TelhaError
from telha_planner.memory.embedded import Embedded, Unprepared
from telha_planner.memory.receipts import Deletion, SpaceReceipt
from telha_planner.memory.records import (
    ClarificationRecord,
    Committed,
    DocumentRecord,
    EdgeRecord,
    ErasureReceipt,
    IdempotencyKey,
    NodeRecord,
    Reembedded,
)
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Spaces, Writer
from telha_planner.models.analysis import term_counts
from telha_planner.models.embedders.opening import opened
from telha_planner.models.tokenizers import token_counts
from telha_planner.patience import Patience

from . import artifact
from .artifact import ArtifactInput
from .channel import PREFIX, Call, Reply, decode, encode
from .document import MAX_BASE_SPANS, MAX_STREAMED_SPANS, DocumentHeader, DocumentInput, TooManySpans
from .embedding import Embedding
from .parse import WINDOW_KIND, parse

GIVEN_UP = signal.SIGUSR1

_NICENESS = 5  # plans come first
_OBJECTS_BEFORE_COLLECTION = 50_000  # records are many, small and free of cycles


class Start(NamedTuple):
    """The argument of the first call, `start`."""

    store_url: str
    busy_timeout_ms: int
    keep_us: int
    log_level: logs.Level
    log_format: logs.Format
    embedding: EmbeddingSettings


@dataclass(frozen=True)
class Worker:
    """What the child can be asked for; every public method is callable from the parent."""

    writer: Writer
    embedding: Embedding

    def on_behalf_of(self, key_id: str | None) -> "Worker":
        """This worker, writing for the API key *key_id*."""
        return replace(self, writer=self.writer.on_behalf_of(key_id))

    def ingest(
        self, tenant: int, tenant_name: str, documents: Sequence[DocumentInput], key: IdempotencyKey | None
    ) -> Committed:
        """Parse and embed *documents*, then write them in one transaction."""
        done = self.writer.replay(tenant, key)
        if done is not None:
            return done
        return self._write_documents(tenant, _parsed(tenant_name, documents), key)

    def ingest_file(
        self, tenant: int, tenant_name: str, header: DocumentHeader, key: IdempotencyKey | None, content: bytes
    ) -> Committed:
        """Parse and embed one streamed document, then write it in one transaction."""
        done = self.writer.replay(tenant, key)
        if done is not None:
            return done
        try:
            return self._write_documents(tenant, [_streamed(tenant_name, header, content)], key)
        except RequestInvalid as error:
            _, _, field = error.field.rpartition("documents[0].")
            place = "chunk" if field == "content" else f"header.{field}"
            raise RequestInvalid(field=place, rule=error.rule) from None

    def put_artifacts(self, tenant: int, artifacts: Sequence[ArtifactInput], key: IdempotencyKey | None) -> Committed:
        """Count, analyse and embed *artifacts*, then write them in one transaction."""
        done = self.writer.replay(tenant, key)
        if done is not None:
            return done
        records = [artifact.record(each) for each in artifacts]
        return self._embedded(
            tenant,
            [each.document for each in records],
            lambda embedded: self.writer.put_artifacts(tenant, records, embedded, key=key),
        )

    def put_nodes(self, tenant: int, records: Sequence[NodeRecord], key: IdempotencyKey | None) -> Committed:
        """Embed *records*, then write them in one transaction."""
        done = self.writer.replay(tenant, key)
        if done is not None:
            return done
        return self.writer.put_nodes(tenant, records, self.embedding.of_nodes(tenant, records), key=key)

    def put_edges(
        self, tenant: int, records: Sequence[EdgeRecord], spaces: Spaces, key: IdempotencyKey | None
    ) -> Committed:
        """Write edges in one transaction."""
        return self.writer.put_edges(tenant, records, spaces=spaces, key=key)

    def put_clarifications(
        self, tenant: int, records: Sequence[ClarificationRecord], spaces: Spaces, key: IdempotencyKey | None
    ) -> Committed:
        """Write clarifications in one transaction."""
        return self.writer.put_clarifications(tenant, records, spaces=spaces, key=key)

    def erase_source(self, tenant: int, source_id: bytes, spaces: Spaces, key: IdempotencyKey | None) -> ErasureReceipt:
        """Erase a source."""
        return self.writer.erase_source(tenant, source_id, spaces=spaces, key=key)

    def erase_space(self, tenant: int, name: str) -> SpaceReceipt:
        """Erase a space."""
        return self.writer.erase_space(tenant, name)

    def delete_tenant(self, tenant: int, deletion_id: bytes) -> Deletion:
        """Delete a tenant."""
        return self.writer.delete_tenant(tenant, deletion_id)

    def reembed(self, tenant: int, after: int | None) -> Reembedded:
        """Go on with the move to the configured model."""
        return self.embedding.next_batch(tenant, after, self.writer)

    def _write_documents(self, tenant: int, records: Sequence[DocumentRecord], key: IdempotencyKey | None) -> Committed:
        return self._embedded(
            tenant, records, lambda embedded: self.writer.write_documents(tenant, records, embedded, key=key)
        )

    def _embedded(
        self, tenant: int, records: Sequence[DocumentRecord], write: Callable[[Embedded | None], Committed]
    ) -> Committed:
        try:
            return write(self._vectors(tenant, records, every=False))
        except Unprepared:
            return write(self._vectors(tenant, records, every=True))

    def _vectors(self, tenant: int, records: Sequence[DocumentRecord], *, every: bool) -> Embedded | None:
        vectors = self.embedding.of_documents(tenant, records, every=every)
        patience.check()
        return vectors


METHODS = (
    "ingest",
    "ingest_file",
    "put_artifacts",
    "put_nodes",
    "put_edges",
    "put_clarifications",
    "erase_source",
    "erase_space",
    "delete_tenant",
    "reembed",
)


def _parsed(tenant_name: str, documents: Sequence[DocumentInput]) -> list[DocumentRecord]:
    records: list[DocumentRecord] = []
    left = MAX_BASE_SPANS
    for index, document in enumerate(documents):
        patience.check()
        try:
            records.append(parse(document, tenant_name, left))
        except RequestInvalid as error:
            raise error.under(f"documents[{index}]") from None
        except TooManySpans:
            raise RequestInvalid(
                field=f"documents[{index}].content",
                rule=f"must split into at most {left:,} spans; one call may write {MAX_BASE_SPANS:,}",
            ) from None
        left -= sum(span.kind != WINDOW_KIND for span in records[-1].spans)
    return records


def _streamed(tenant_name: str, header: DocumentHeader, content: bytes) -> DocumentRecord:
    try:
        return parse(header.with_content(content), tenant_name, MAX_STREAMED_SPANS)
    except TooManySpans:
        rule = f"must split into at most {MAX_STREAMED_SPANS:,} spans"
        raise RequestInvalid(field="content", rule=rule) from None


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer calls until *requests* ends; the first must be `start`."""
    worker: Worker | None = None
    current = Patience()
    signal.signal(GIVEN_UP, lambda *_: current.end())
    while (call := _next_call(requests)) is not None:  # a call may be given up while it is being read
        if worker is None:
            worker, reply = _opened(cast("Start", call.arguments[0]), call.number)
        else:
            asked = worker.on_behalf_of(call.key_id)
            with patience.lasting(current):
                reply = _answer(call, getattr(asked, call.method) if call.method in METHODS else None)
            current = Patience()
        replies.write(encode(reply))
        replies.flush()
        if worker is None:
            return
    if worker is not None:
        worker.writer.store.close()


def _next_call(requests: BinaryIO) -> Call | None:
    prefix = requests.read(PREFIX)
    if len(prefix) < PREFIX:
        return None
    size = int.from_bytes(prefix, "big")
    body = requests.read(size)
    if len(body) < size:
        return None
    call = cast("Call", decode(body))
    if call.body is None:
        return call
    content = requests.read(call.body)
    return call._replace(arguments=(*call.arguments, content)) if len(content) == call.body else None


def _opened(start: Start, number: int) -> tuple[Worker | None, Reply]:
    logs.configure("planner-ingest", start.log_level, start.log_format)
    try:
        store = Store.open(start.store_url, busy_timeout_ms=start.busy_timeout_ms)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent reports it
        return None, Reply(number, fault=str(error))
    # The first document should not pay for loading tables and vocabularies.
    token_counts("warm")
    term_counts("wärm")
    gc.freeze()
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    writer = Writer(store, lambda: time.time_ns() // 1000, start.keep_us)
    return Worker(writer, Embedding(opened(start.embedding), store)), Reply(number)


def _answer(call: Call, method: Callable[..., Any] | None) -> Reply:
    if method is None:
        return Reply(call.number, fault=f"no such method: {call.method}")
    try:
        return Reply(call.number, method(*call.arguments))
    except TelhaError as error:
        return Reply(call.number, error=error)
    except Exception as error:  # noqa: BLE001 - a fault in one call must not end the others
        # Without its message, which may quote a document: the parent logs this.
        places = traceback.format_tb(error.__traceback__)
        return Reply(call.number, fault="".join([*places, type(error).__qualname__]))


def main() -> None:
    """Run the child; the argument is the parent's process id."""
    die_with_parent(int(sys.argv[1]), signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.nice(_NICENESS)
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()

"""What the servicers need from below, as small as they need it; bootstrap hands in the real parts."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from telha.trace.v1 import traces_pb2

from telha_planner.answers import Answer, ContextAnswer, QueryAnswer
from telha_planner.caller import Caller
from telha_planner.core.difference import HeldSpan
from telha_planner.core.model import SpanRef
from telha_planner.core.request import PlanRequest, QueryRequest, SelectRequest, Window
from telha_planner.core.subject import Subject
from telha_planner.ingest.artifact import ArtifactInput
from telha_planner.ingest.document import DocumentHeader, DocumentInput
from telha_planner.memory.erased import Version
from telha_planner.memory.keys import KeyDraft, KeyInfo
from telha_planner.memory.reads import StoredSource
from telha_planner.memory.receipts import Deletion, SpaceReceipt
from telha_planner.memory.records import (
    ClarificationRecord,
    Committed,
    EdgeRecord,
    ErasureReceipt,
    IdempotencyKey,
    NodeRecord,
    Reembedded,
)
from telha_planner.memory.tenants import TenantInfo
from telha_planner.memory.writes import Spaces
from telha_planner.models.embedders.questions import QuestionVector
from telha_planner.replay import Replayed
from telha_planner.trace.recorded import Recorded


class Planning(Protocol):
    """The pipeline; every method runs on the plan thread and is given the bearer token as sent."""

    def caller(self, credential: str) -> Caller:
        """Who is calling; raises `Unauthenticated`."""

    def plan(
        self, credential: str, request: PlanRequest, sent: Mapping[str, Any], question: QuestionVector | None = None
    ) -> Answer:
        """Plan from memory; *sent* is the request as sent, for the trace. Raises `QuestionNotEmbedded`."""

    def context(
        self,
        credential: str,
        request: PlanRequest,
        sent: Mapping[str, Any],
        question: QuestionVector | None = None,
        *,
        prompt: bool = False,
    ) -> ContextAnswer:
        """Plan from memory under the limits of Context, as items, and with *prompt* as one text too."""

    def select(self, credential: str, request: SelectRequest, sent: Mapping[str, Any]) -> Answer:
        """Select from the caller's own pool."""

    def query(self, credential: str, request: QueryRequest) -> QueryAnswer:
        """One page of the nodes that satisfy *request*."""


class Replaying(Protocol):
    """Records made anew, on the plan thread."""

    def replay(
        self,
        credential: str,
        recorded: Recorded,
        request: PlanRequest | SelectRequest,
        *,
        explain: bool,
        why_not: tuple[Subject, ...],
    ) -> Replayed:
        """The plan of *recorded* as it would be now, beside what it was; raises `NotFound` for a key that may not."""

    def erased_of(self, caller: Caller, spans: Sequence[SpanRef]) -> Sequence[int]:
        """Places in *spans* of those whose text is not in memory any more."""

    def names(self, credential: str, held: Sequence[HeldSpan]) -> Mapping[Version, str]:
        """Display names of the sources of *held*, as far as the key may read them."""


class Records(Protocol):
    """Where trace records become durable: the spool, where they stay until the trace writer has them, or the stream."""

    async def append(self, record: bytes, trace_id: str) -> bool:
        """Return when *record* survives a crash; false if it may miss. Raises `TraceBacklogFull`, `Unavailable`."""

    def get(self, tenant: str, trace_id: str) -> bytes | None:
        """The record of *trace_id* if it is *tenant*'s and still here."""

    def spools(self) -> list[str]:
        """Names of the spools in which `get` looks."""

    def erase(self, tenant: str, trace_id: str) -> None:
        """Forget *trace_id* if it is *tenant*'s: the trace writer drops it. Its bytes go with those of its file."""

    def roll(self) -> None:
        """Have the file at hand go as soon as nothing in it is needed."""


class TraceStore(Protocol):
    """The trace writer."""

    async def fetch(
        self,
        tenant: str,
        allowed: tuple[str, ...],
        key_id: str,
        trace_id: str,
        searched: Sequence[str],
        deadline: float,
    ) -> traces_pb2.GetResponse | None:
        """
        One trace of *tenant* that the key *key_id* may see, None if there is none; raises `TracePending`.

        *allowed* is as in `browse`. The spools *searched* do not have it.
        """

    async def fetch_as_written(
        self,
        tenant: str,
        allowed: tuple[str, ...],
        key_id: str,
        trace_id: str,
        searched: Sequence[str],
        deadline: float,
    ) -> bytes | None:
        """As `fetch`: the record as it was written."""

    async def browse(
        self, tenant: str, allowed: tuple[str, ...], key_id: str, request: traces_pb2.ListRequest, deadline: float
    ) -> traces_pb2.ListResponse:
        """A page of *tenant*'s traces for the key *key_id*; *allowed* empty is every space. Raises `Unavailable`."""

    async def delete_trace(self, tenant: str, trace_id: str, deadline: float) -> None:
        """Delete one trace of *tenant*, also if it is still to come. Raises `Unavailable`."""

    async def delete_tenant(self, tenant: str, deleted_us: int) -> int:
        """Delete what was recorded of *tenant* until *deleted_us*; how many traces went. Raises `Unavailable`."""


class Documents(Protocol):
    """Writes of documents, each one transaction, for the key with the id *by*; raises `Unauthenticated`."""

    async def ingest(
        self, tenant: int, tenant_name: str, documents: Sequence[DocumentInput], *, key: IdempotencyKey | None, by: str
    ) -> Committed:
        """Parse and write documents."""

    async def ingest_file(
        self,
        tenant: int,
        tenant_name: str,
        header: DocumentHeader,
        descriptor: int,
        size: int,
        *,
        key: IdempotencyKey | None,
        by: str,
    ) -> Committed:
        """Parse and write the document whose *size* bytes of content lie in an open file."""


class Ingest(Protocol):
    """Every other write, each one transaction, for the key with the id *by*; raises `Unauthenticated`."""

    async def put_artifacts(
        self, tenant: int, artifacts: Sequence[ArtifactInput], *, key: IdempotencyKey | None, by: str
    ) -> Committed:
        """Write derived artifacts."""

    async def put_nodes(
        self, tenant: int, records: Sequence[NodeRecord], *, key: IdempotencyKey | None, by: str
    ) -> Committed:
        """Write nodes."""

    async def put_edges(
        self, tenant: int, records: Sequence[EdgeRecord], *, spaces: Spaces, key: IdempotencyKey | None, by: str
    ) -> Committed:
        """Write edges between nodes in *spaces*."""

    async def put_clarifications(
        self,
        tenant: int,
        records: Sequence[ClarificationRecord],
        *,
        spaces: Spaces,
        key: IdempotencyKey | None,
        by: str,
    ) -> Committed:
        """Write clarifications about nodes in *spaces*."""

    async def erase_source(
        self, tenant: int, source_id: bytes, *, spaces: Spaces, key: IdempotencyKey | None, by: str
    ) -> ErasureReceipt:
        """Remove a source in *spaces*; raises `NotFound`."""

    async def erase_space(self, tenant: int, name: str, *, by: str) -> SpaceReceipt:
        """Remove a space; raises `NotFound`."""

    async def delete_tenant(self, tenant: int, deletion_id: bytes, *, by: str) -> Deletion:
        """Remove a tenant; raises `NotFound`."""

    async def reembed(self, tenant: int, after: int | None, *, by: str) -> Reembedded:
        """Go on with the move to the configured model; raises `VectorLegUnavailable`."""


class Directory(Protocol):
    """
    Keys and tenants, within what the caller's key reaches.

    Reads run on the plan thread; writes on a thread of their own, since they wait for the store's lock.
    """

    def create_key(self, caller: Caller, tenant_name: str | None, draft: KeyDraft) -> tuple[str, KeyInfo]:
        """Make a key of a tenant, None the caller's; the key, shown once, and what may be shown of it."""

    def keys(self, caller: Caller, tenant_name: str | None, after: tuple[int, str] | None, limit: int) -> list[KeyInfo]:
        """At most *limit* keys behind the key *after* (made, id), oldest first."""

    def revoke_key(self, caller: Caller, key_id: str) -> KeyInfo:
        """End a key at once."""

    def create_tenant(self, caller: Caller, name: str) -> tuple[TenantInfo, bool]:
        """A tenant, and whether it is new."""

    def tenants(self, after: int, limit: int) -> list[TenantInfo]:
        """At most *limit* tenants with numbers above *after*."""

    def deletable(self, caller: Caller, name: str) -> int:
        """The number of the tenant that *caller* may delete under *name*."""

    def deletion(self, deletion_id: bytes) -> Deletion:
        """A receipt."""

    def deletions(self, after: int, limit: int) -> list[Deletion]:
        """At most *limit* receipts of tenants with numbers above *after*."""

    def unfinished(self, since_us: int) -> list[Deletion]:
        """Receipts whose traces are still there, and those made since."""

    def traces_gone(self, deletion: Deletion, traces: int) -> Deletion:
        """The receipt, once the trace writer has removed the tenant's traces."""


class Sources(Protocol):
    """
    Reads of sources, on the plan thread. *spaces* None reads every space of the tenant.

    What lies outside *spaces* is absent.
    """

    def get(
        self, tenant: int, spaces: tuple[str, ...] | None, source_id: bytes, version_tx: int | None, window: Window
    ) -> StoredSource | None:
        """The named version, or the newest as of *window*."""

    def text(self, tenant: int, stored: StoredSource, start: int = 0, limit: int = 0) -> str:
        """The canonical text of that version from *start*, at most *limit* bytes; raises `NotFound` if it is erased."""

    def page(
        self, tenant: int, spaces: tuple[str, ...] | None, after: tuple[bytes, int] | None, limit: int
    ) -> list[StoredSource]:
        """The newest versions of at most *limit* sources behind *after* (id, number), by id."""

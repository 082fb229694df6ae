"""
Every way to change memory: one call, one transaction, all or nothing.

Rule 1: a batch with a bad item is refused whole, with the item's index in the field path, and leaves no byte behind.
Rule 2: what is stated already is not written again; a call that writes nothing makes no commit and answers with the
newest one.
Rule 3: what lies outside the spaces that a caller is limited to does not exist for it.
Rule 4: a call with an idempotency key that was carried out before is answered as it was then (`idempotency`), whatever
has been written since.
Rule 5: the API key that asked is looked at again inside the transaction. A call may have waited for long; nothing
commits for a key after its revocation has.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from telha_planner.core.errors import NotFound, Unauthenticated
from telha_planner.models import speakers
from telha_planner.models.embedders.seam import Model

from . import (
    clock,
    erasure,
    erasure_space,
    erasure_tenant,
    keys,
    reembedding,
    writes_artifacts,
    writes_clarifications,
    writes_documents,
    writes_edges,
    writes_nodes,
)
from .clock import Commit
from .embedded import Embedded, TextVector
from .idempotency import DEFAULT_KEEP_US, Outcome, Outcomes
from .receipts import Deletion, SpaceReceipt
from .records import (
    ArtifactRecord,
    ClarificationRecord,
    Committed,
    DocumentRecord,
    EdgeRecord,
    ErasureReceipt,
    IdempotencyKey,
    IngestedSource,
    NodeRecord,
)
from .reembedding import Lacking
from .store import Store

Spaces = tuple[str, ...] | None
"""What a caller is limited to; None is every space of the tenant."""


class Writer:
    """
    Writes to *store*.

    Every method raises `Unauthenticated` if the API key that it writes for has ended, `NotFound` for a tenant that does
    not exist, `IdempotencyKeyReused` for a key of another request, and `Unavailable` if the store is locked beyond its
    busy timeout or broken.

    Attributes:
        store: The open store.
        now: The wall clock, µs since 1970 UTC.
        keep_us: How long the outcome of a call with an idempotency key is kept.
        key_id: The API key that it writes for; None for whoever acts on the store itself.
    """

    def __init__(
        self, store: Store, now: Callable[[], int], keep_us: int = DEFAULT_KEEP_US, key_id: str | None = None
    ) -> None:
        self.store = store
        self.now = now
        self.keep_us = keep_us
        self.key_id = key_id

    def on_behalf_of(self, key_id: str | None) -> "Writer":
        """A writer to the same store, for the API key *key_id*."""
        return Writer(self.store, self.now, self.keep_us, key_id)

    def replay(self, tenant: int, key: IdempotencyKey | None) -> Committed | None:
        """What was answered to this call before, so that a document need not be parsed again; None if nothing was."""
        if key is None:
            return None
        with self.store.reading(tenant) as connection:
            return Outcomes(connection, tenant, self.now(), self.keep_us).stored(key, Committed)

    def write_documents(
        self,
        tenant: int,
        documents: Sequence[DocumentRecord],
        embedded: Embedded | None = None,
        *,
        key: IdempotencyKey | None = None,
    ) -> Committed:
        """
        Write parsed documents, with the vectors made for them; see `writes_documents`.

        Raises:
            RequestInvalid: A source is named twice or lives in another space.
            Unprepared: *embedded* has passed over a document that says something new.
        """

        def write(commit: Commit) -> Committed:
            written, outcomes = writes_documents.write(commit, documents, embedded)
            return _committed(commit, written=written, sources=outcomes)

        return self._once(tenant, key, Committed, write)

    def put_artifacts(
        self,
        tenant: int,
        artifacts: Sequence[ArtifactRecord],
        embedded: Embedded | None = None,
        *,
        key: IdempotencyKey | None = None,
    ) -> Committed:
        """
        Write derived artifacts, with the vectors made for them; see `writes_artifacts`.

        Raises:
            RequestInvalid: An item breaks a rule.
            Unprepared: As `write_documents`.
        """

        def write(commit: Commit) -> Committed:
            written, outcomes = writes_artifacts.write(commit, artifacts, embedded)
            return _committed(commit, written=written, sources=outcomes)

        return self._once(tenant, key, Committed, write)

    def put_nodes(
        self,
        tenant: int,
        records: Sequence[NodeRecord],
        embedded: Embedded | None = None,
        *,
        key: IdempotencyKey | None = None,
    ) -> Committed:
        """
        Write nodes, with the vectors made for them; see `writes_nodes`.

        Raises:
            RequestInvalid: An item breaks a rule.
        """

        def write(commit: Commit) -> Committed:
            return _committed(commit, written=writes_nodes.write(commit, records, embedded))

        return self._once(tenant, key, Committed, write)

    def put_edges(
        self,
        tenant: int,
        records: Sequence[EdgeRecord],
        *,
        spaces: Spaces = None,
        key: IdempotencyKey | None = None,
    ) -> Committed:
        """
        Write edges; see `writes_edges`.

        Raises:
            RequestInvalid: An item breaks a rule.
        """
        return self._once(
            tenant,
            key,
            Committed,
            lambda commit: _committed(commit, written=writes_edges.write(commit, records, spaces)),
        )

    def put_clarifications(
        self,
        tenant: int,
        records: Sequence[ClarificationRecord],
        *,
        spaces: Spaces = None,
        key: IdempotencyKey | None = None,
    ) -> Committed:
        """
        Write clarifications; see `writes_clarifications`.

        Raises:
            RequestInvalid: An item breaks a rule.
        """
        return self._once(
            tenant,
            key,
            Committed,
            lambda commit: _committed(commit, written=writes_clarifications.write(commit, records, spaces)),
        )

    def erase_source(
        self, tenant: int, source_id: bytes, *, spaces: Spaces = None, key: IdempotencyKey | None = None
    ) -> ErasureReceipt:
        """
        Remove a source and all that rests on it alone, from the files too; see `erasure`.

        Raises:
            NotFound: There is no such source.
        """

        def erase(commit: Commit) -> ErasureReceipt:
            receipt = erasure.erase(commit, source_id, spaces)
            commit.seal(erased=True)
            return receipt

        receipt = self._once(tenant, key, ErasureReceipt, erase)
        speakers.forget()
        self.store.scrub()  # after a replay too: the process that erased may have ended before this
        return receipt

    def erase_space(self, tenant: int, name: str) -> SpaceReceipt:
        """
        Remove a space and all that it holds, from the files too; see `erasure_space`.

        Raises:
            NotFound: There is no such space.
        """
        with self._commit(tenant) as commit:
            receipt = erasure_space.erase(commit, name)
            commit.seal(erased=True)
        speakers.forget()
        self.store.scrub()
        return receipt

    def delete_tenant(self, tenant: int, deletion_id: bytes) -> Deletion:
        """
        Remove a tenant and all that is its, from the files too; see `erasure_tenant`.

        Raises:
            NotFound: There is no such tenant.
        """
        with self._commit(tenant) as commit:
            receipt = erasure_tenant.delete(commit.connection, tenant, deletion_id, self.now())
        speakers.forget()
        self.store.scrub()
        return receipt

    def add_vectors(
        self, tenant: int, model: Model, batch: Sequence[Lacking], vectors: Mapping[int, TextVector]
    ) -> None:
        """
        Write one batch of vectors of another model; see `reembedding`.

        Raises:
            VectorLegUnavailable: The tenant has vectors of that name with other dimensions.
        """
        with self._commit(tenant) as commit:
            if reembedding.add(commit, model, batch, vectors):
                commit.seal()

    def complete_model(self, tenant: int, model: Model) -> int | None:
        """
        Make *model* active if nothing lacks its vectors; answers with the newest commit then, else None.

        Raises:
            VectorLegUnavailable: The tenant has vectors of that name with other dimensions.
        """
        with self._commit(tenant) as commit:
            done = reembedding.complete(commit, model)
            if done is None:
                return None
            return _committed(commit, written=done).tx

    @contextmanager
    def _commit(self, tenant: int) -> Iterator[Commit]:
        with self.store.writing(tenant) as connection:
            # The tenant's clock first: a deletion of the tenant takes it before the keys, too.
            try:
                commit = clock.begin(connection, tenant, self.now)
            except NotFound:
                if self.key_id is None:
                    raise
                raise Unauthenticated from None
            if self.key_id is not None:
                keys.need_standing(connection, self.key_id, self.now)
            yield commit

    def _once(
        self, tenant: int, key: IdempotencyKey | None, outcome_type: type[Outcome], write: Callable[[Commit], Outcome]
    ) -> Outcome:
        with self._commit(tenant) as commit:
            if key is None:
                return write(commit)
            outcomes = Outcomes(commit.connection, tenant, self.now(), self.keep_us)
            stored = outcomes.stored(key, outcome_type)
            if stored is None:
                outcome = write(commit)
                outcomes.store(key, outcome)
                return outcome
            return stored


def _committed(commit: Commit, *, written: bool, sources: tuple[IngestedSource, ...] = ()) -> Committed:
    if not written:
        return Committed(tx=commit.last_tx, sources=sources)
    commit.seal()
    return Committed(tx=commit.tx, sources=sources)

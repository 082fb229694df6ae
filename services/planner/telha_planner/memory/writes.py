"""
Every way to change memory: one call, one transaction, all or nothing.

Rule 1: a batch with a bad item is refused whole, with the item's index in the field path, and leaves no byte behind.
Rule 2: what is stated already is not written again; a call that writes nothing makes no commit and answers with the
newest one.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from . import clock, erasure, writes_clarifications, writes_documents, writes_edges, writes_nodes
from .clock import Commit
from .records import (
    ClarificationRecord,
    Committed,
    DocumentRecord,
    EdgeRecord,
    ErasureReceipt,
    NodeRecord,
)
from .store import Store

_Item = TypeVar("_Item")


class Writer:
    """
    Writes to *store*.

    Every method raises `NotFound` for a tenant that does not exist, and `Unavailable` if the store is locked beyond
    its busy timeout or broken.

    Attributes:
        store: The open store.
        now: The wall clock, µs since 1970 UTC.
    """

    def __init__(self, store: Store, now: Callable[[], int]) -> None:
        self.store = store
        self.now = now

    def write_documents(self, tenant: int, documents: Sequence[DocumentRecord]) -> Committed:
        """
        Write parsed documents; see `writes_documents`.

        Raises:
            RequestInvalid: A source is named twice or lives in another space.
        """
        with self.store.writing(tenant) as connection:
            commit = clock.begin(connection, tenant, self.now)
            written, outcomes = writes_documents.write(commit, documents)
            if not written:
                return Committed(tx=commit.last_tx, sources=outcomes)
            commit.seal()
        return Committed(tx=commit.tx, sources=outcomes)

    def put_nodes(self, tenant: int, records: Sequence[NodeRecord]) -> Committed:
        """
        Write nodes; see `writes_nodes`.

        Raises:
            RequestInvalid: An item breaks a rule.
        """
        return self._put(tenant, records, writes_nodes.write)

    def put_edges(self, tenant: int, records: Sequence[EdgeRecord]) -> Committed:
        """
        Write edges; see `writes_edges`.

        Raises:
            RequestInvalid: An item breaks a rule.
        """
        return self._put(tenant, records, writes_edges.write)

    def put_clarifications(self, tenant: int, records: Sequence[ClarificationRecord]) -> Committed:
        """
        Write clarifications; see `writes_clarifications`.

        Raises:
            RequestInvalid: An item breaks a rule.
        """
        return self._put(tenant, records, writes_clarifications.write)

    def erase_source(self, tenant: int, source_id: bytes) -> ErasureReceipt:
        """
        Remove a source and all that rests on it alone, from the files too; see `erasure`.

        Raises:
            NotFound: There is no such source.
        """
        with self.store.writing(tenant) as connection:
            commit = clock.begin(connection, tenant, self.now)
            receipt = erasure.erase(commit, source_id)
            commit.seal(erased=True)
        self.store.scrub()
        return receipt

    def _put(
        self, tenant: int, records: Sequence[_Item], write: Callable[[Commit, Sequence[_Item]], bool]
    ) -> Committed:
        with self.store.writing(tenant) as connection:
            commit = clock.begin(connection, tenant, self.now)
            if not write(commit, records):
                return Committed(tx=commit.last_tx)
            commit.seal()
        return Committed(tx=commit.tx)

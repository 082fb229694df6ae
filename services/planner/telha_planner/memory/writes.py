"""
Every way to change memory: one call, one transaction, all or nothing.

Rule 1: a batch with a bad item is refused whole, with the item's index in the field path, and leaves no byte behind.
Rule 2: what is stated already is not written again; a call that writes nothing makes no commit and answers with the
newest one.
"""

from collections.abc import Callable, Sequence

from . import clock, writes_documents
from .records import Committed, DocumentRecord
from .store import Store


class Writer:
    """
    Writes to *store*.

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
            NotFound: There is no such tenant.
            Unavailable: The store is locked or broken.
        """
        writes_documents.refuse_repeated(documents)
        with self.store.writing() as connection:
            commit = clock.begin(connection, tenant, self.now)
            written, outcomes = writes_documents.write(commit, documents)
            if not written:
                return Committed(tx=commit.last_tx, sources=outcomes)
            commit.seal()
        return Committed(tx=commit.tx, sources=outcomes)

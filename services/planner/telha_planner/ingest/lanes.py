"""
Two ingest children for documents: one that every other write shares, and one for what takes long to parse and embed.

Rule 1: a write that takes minutes holds up only its like; an erasure, a node, a page of text goes by. Rule 2: calls of
one lane are answered in the order they come; whoever needs an order between the lanes waits for an answer first.
"""

from collections.abc import Sequence

from telha_planner.memory.records import Committed, IdempotencyKey

from .child import By
from .document import DocumentHeader, DocumentInput
from .process import IngestProcess

LARGE_BYTES = 128 * 1024
"""Content of one call above which it is large: some seconds of embedding, a fifth of a second without."""


class DocumentLanes:
    """
    Sends documents to the child that they belong to; methods and errors are those of `IngestProcess`.

    Args:
        small: Shared with every other write.
        large: For streams, and for calls with more than `LARGE_BYTES` of content; its child starts with the first.
    """

    def __init__(self, small: IngestProcess, large: IngestProcess) -> None:
        self._small = small
        self._large = large

    async def ingest(
        self,
        tenant: int,
        tenant_name: str,
        documents: Sequence[DocumentInput],
        *,
        key: IdempotencyKey | None = None,
        by: By = None,
    ) -> Committed:
        """Parse *documents* and write them in one transaction."""
        is_large = sum(len(document.content) for document in documents) > LARGE_BYTES
        lane = self._large if is_large else self._small
        return await lane.ingest(tenant, tenant_name, documents, key=key, by=by)

    async def ingest_file(
        self,
        tenant: int,
        tenant_name: str,
        header: DocumentHeader,
        descriptor: int,
        size: int,
        *,
        key: IdempotencyKey | None = None,
        by: By = None,
    ) -> Committed:
        """Parse and write the document whose *size* bytes of content lie in the open file *descriptor*."""
        return await self._large.ingest_file(tenant, tenant_name, header, descriptor, size, key=key, by=by)

"""
What is handed to the writer: documents as ingestion leaves them, and the rows that callers write by API.

Everything here is already checked and counted, so that the write transaction does nothing but read, compare and
insert. Ids are 16 bytes, instants int64 µs; None for an instant means "the commit" (from) or "open" (to).
"""

from dataclasses import dataclass, field

from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.models.counts import Terms, TokenCounts

__all__ = [
    "ArtifactRecord",
    "ClarificationRecord",
    "Committed",
    "DocumentRecord",
    "EdgeRecord",
    "ErasureReceipt",
    "IdempotencyKey",
    "IngestedSource",
    "NodeRecord",
    "PassageEdge",
    "PassageNode",
    "SpanRecord",
    "Terms",
    "TokenCounts",
    "VectorRecord",
]


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """One row of the span ledger: bytes [start, end) of the document's canonical text."""

    start: int
    end: int
    kind: str
    counts: TokenCounts


@dataclass(frozen=True, slots=True)
class PassageNode:
    """
    A node that ingestion derives from a document.

    Attributes:
        node_id: UUIDv5(source, path): equal content at an equal place has an equal id.
        spans: Indices into the document's spans, in order.
        properties: RFC 8785 JSON object.
        valid_from: Since when it is true where it states that itself, as a turn of a conversation does; None is the
            document's start.
        preface: What stands before its text in what is embedded of it; None embeds nothing.
    """

    node_id: bytes
    type: str
    spans: tuple[int, ...]
    properties: str
    terms: Terms
    valid_from: int | None = None
    preface: str | None = None


@dataclass(frozen=True, slots=True)
class PassageEdge:
    """An edge between two nodes of one document; `edge_id` is UUIDv5(source, from, type, to)."""

    edge_id: bytes
    from_node: bytes
    to_node: bytes
    type: str


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """
    One document, parsed, counted and analysed.

    Attributes:
        source_id: 16 bytes.
        text: Canonical UTF-8 text.
        content_hash: BLAKE3 of *text*.
        input_hash: BLAKE3 over all inputs of ingestion (text, name, media type, ingester version): equal hash means
            there is nothing to write.
        valid_from: Stated start of validity, or None for the commit.
    """

    source_id: bytes
    space: str
    name: str
    uri: str | None
    media_type: str
    text: bytes
    content_hash: bytes
    input_hash: bytes
    valid_from: int | None
    spans: tuple[SpanRecord, ...]
    nodes: tuple[PassageNode, ...]
    edges: tuple[PassageEdge, ...]
    span_class: SpanClass = SpanClass.TRUTH


@dataclass(frozen=True, slots=True)
class ArtifactRecord:
    """
    A derived artifact: a source of its own, and the ids of those that it was made from.

    Attributes:
        document: Of class `cache`, with one span and one node.
        derived_from: 16 bytes each, in the caller's order.
    """

    document: DocumentRecord
    derived_from: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """A vector of a node: float32 values, finite."""

    model: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node written by API; `properties` is an RFC 8785 JSON object."""

    node_id: bytes
    space: str
    type: str
    properties: str
    valid_from: int | None = None
    valid_to: int | None = None
    provenance: tuple[SpanRef, ...] = ()
    vector: VectorRecord | None = None


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """An edge written by API."""

    edge_id: bytes
    from_node: bytes
    to_node: bytes
    type: str
    confidence: float = 1.0
    valid_from: int | None = None
    valid_to: int | None = None


@dataclass(frozen=True, slots=True)
class ClarificationRecord:
    """A clarification; *state* is `pending`, `conflicted` or `resolved`."""

    clarification_id: bytes
    node_id: bytes
    state: str
    question: str


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """
    Under what the outcome of a write is kept, so that the same call is answered and not carried out again.

    Attributes:
        key: BLAKE3 of the caller's key and the caller's spaces, in hexadecimal.
        request_hash: BLAKE3 of the caller's key, the method and all that it was given.
    """

    key: str
    request_hash: bytes


@dataclass(frozen=True, slots=True)
class IngestedSource:
    """
    What became of one document.

    Attributes:
        outcome: `created`, `updated` or `unchanged`.
    """

    source_id: bytes
    version_tx: int
    outcome: str
    spans: int
    nodes_opened: int
    nodes_closed: int
    nodes_kept: int


@dataclass(frozen=True, slots=True)
class Committed:
    """
    A commit's transaction time, and what became of each document in the order given.

    Attributes:
        replayed: This is the stored outcome of an earlier call with the same idempotency key.
    """

    tx: int
    sources: tuple[IngestedSource, ...] = field(default=())
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Reembedded:
    """
    How far the move to another model has come.

    Attributes:
        model: The model that the tenant is moved to.
        embedded: Nodes that this call gave a vector.
        after: Where the next call goes on; None when there is nothing left to do.
        left: Nodes that lacked a vector when the call began; counted by a first call alone.
        tx: The commit as of which the model is active, if it is.
    """

    model: str
    embedded: int
    after: int | None
    left: int | None
    tx: int | None


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """
    What an erasure removed.

    Attributes:
        artifacts: Derived artifacts that went with the source; the other numbers count theirs too.
        replayed: As in `Committed`.
    """

    source_id: bytes
    tx: int
    versions: int
    spans: int
    nodes: int
    edges: int
    vectors: int
    artifacts: int = 0
    replayed: bool = False

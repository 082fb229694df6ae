"""What a write has done, as frozen dataclasses; `results` has them too, with what reads answer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit's transaction time, µs; *replayed* if this answers an earlier call with the same idempotency key."""

    tx: int
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class IngestedDocument:
    """What became of a document; *outcome* is `created`, `updated` or `unchanged`."""

    source_id: str
    source_version_tx: int
    outcome: str
    spans: int
    nodes_opened: int
    nodes_closed: int
    nodes_kept: int


@dataclass(frozen=True, slots=True)
class Ingestion:
    """One commit: what became of each document, in the order sent; *replayed* as in `Committed`."""

    documents: tuple[IngestedDocument, ...]
    tx: int
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class WrittenArtifact:
    """What became of one artifact; *outcome* is `created`, `updated` or `unchanged`."""

    artifact_id: str
    source_version_tx: int
    outcome: str


@dataclass(frozen=True, slots=True)
class WrittenArtifacts:
    """One commit: what became of each artifact, in the order sent; *replayed* as in `Committed`."""

    artifacts: tuple[WrittenArtifact, ...]
    tx: int
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Erasure:
    """What an erasure removed, derived artifacts with all that was theirs included; *replayed* as in `Committed`."""

    source_id: str
    tx: int
    versions: int
    spans: int
    nodes: int
    edges: int
    vectors: int
    artifacts: int = 0
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Reembedding:
    """
    How far the move to another embedding model has come.

    Attributes:
        model: The model that the tenant is moved to.
        embedded: Nodes that this call gave a vector.
        left: Nodes that lacked a vector when the call began; None unless the call had no cursor.
        next_cursor: Cursor of the next call; empty once the model is active.
        finished: Whether the model is active and no node lacks a vector of it.
        tx: The newest commit, if finished: plans as of then use the model.
    """

    model: str
    embedded: int
    left: int | None
    next_cursor: str
    finished: bool
    tx: int | None

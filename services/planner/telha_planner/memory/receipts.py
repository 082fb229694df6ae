"""What is left of a space or a tenant that was removed for good: counts, instants, and a name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Removed:
    """Rows removed, by what they were; of edges and clarifications, every version counts."""

    sources: int = 0
    versions: int = 0
    spans: int = 0
    nodes: int = 0
    edges: int = 0
    clarifications: int = 0
    vectors: int = 0


@dataclass(frozen=True, slots=True)
class SpaceReceipt:
    """The erasure of a space; *tx* is its commit."""

    space: str
    tx: int
    removed: Removed


@dataclass(frozen=True, slots=True)
class Deletion:
    """
    The deletion of a tenant.

    Attributes:
        deletion_id: 16 bytes.
        number: The tenant's number, which nobody gets again.
        name: The name that it had.
        deleted_us: When, µs.
        rows: Rows removed in all.
        traces: Traces removed; None until the trace writer has said so.
    """

    deletion_id: bytes
    number: int
    name: str
    deleted_us: int
    removed: Removed
    keys: int
    rows: int
    traces: int | None = None

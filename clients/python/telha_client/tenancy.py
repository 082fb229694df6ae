"""What the server says of keys and tenants, and the receipts of what is removed for good."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApiKey:
    """
    What may be shown of a key; instants are µs since 1970 UTC.

    Attributes:
        rights: Of `read`, `write`, `admin`, `operator`.
        spaces: Spaces that it is limited to; empty is every space of the tenant.
    """

    key_id: str
    tenant: str
    name: str
    rights: tuple[str, ...]
    spaces: tuple[str, ...]
    created: int
    expires: int | None
    revoked: int | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made: *key* cannot be read again."""

    key: str
    api_key: ApiKey

    def __repr__(self) -> str:
        return f"<NewKey {self.api_key.key_id}>"


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant; *last_tx* is the transaction time of its newest commit, None if nothing was ever written."""

    name: str
    last_tx: int | None


@dataclass(frozen=True, slots=True)
class NewTenant:
    """A tenant, and whether the call has made it."""

    tenant: Tenant
    created: bool


@dataclass(frozen=True, slots=True)
class Removed:
    """Rows removed, by what they were."""

    sources: int
    versions: int
    spans: int
    nodes: int
    edges: int
    clarifications: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Deletion:
    """
    The receipt of a deleted tenant.

    Attributes:
        deleted: When, µs since 1970 UTC.
        rows: Rows removed in all.
        traces: Traces removed; None while the trace writer has not answered, whom the server asks until it has.
    """

    deletion_id: str
    tenant: str
    deleted: int
    removed: Removed
    keys: int
    rows: int
    traces: int | None


@dataclass(frozen=True, slots=True)
class SpaceErasure:
    """What the erasure of a space removed; *tx* is the commit's transaction time."""

    space: str
    tx: int
    removed: Removed

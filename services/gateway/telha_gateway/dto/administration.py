"""The JSON shapes of keys, tenants, and the receipts of what was removed for good."""

from typing import Annotated, Literal

from msgspec import Meta
from telha.administration.v1 import administration_pb2 as pb

from telha_gateway.dto.shape import (
    Given,
    GivenName,
    Instant,
    Micros,
    Name,
    PageSize,
    PageToken,
    Sent,
    Tally,
    Uuid,
    told,
)
from telha_gateway.instants import instant

RightName = Literal["read", "write", "admin", "operator"]

_RIGHTS: "dict[RightName, pb.Right]" = {
    "read": pb.RIGHT_READ,
    "write": pb.RIGHT_WRITE,
    "admin": pb.RIGHT_ADMIN,
    "operator": pb.RIGHT_OPERATOR,
}
_NAMES: dict[int, str] = {number: name for name, number in _RIGHTS.items()}
UNKNOWN_RIGHT = "unknown"
"""For a right that a newer planner may send."""


class CreateKeyRequest(Sent, kw_only=True):
    """Asks for a key. `admin` may grant `read`, `write` and `admin` in its own tenant, `operator` anything."""

    tenant: Annotated[Name, Meta(description="Tenant that it acts for. Default: the own.")] | None = None
    name: Annotated[Name, Meta(description="What it is for, 1 to 128 bytes.")]
    rights: Annotated[
        list[RightName], told("What it shall allow; none includes another.", minItems=1, uniqueItems=True)
    ]
    spaces: (
        Annotated[
            list[Name],
            told(
                "Spaces that it is limited to; not beside `operator`. Default: as the calling key is limited.",
                maxItems=256,
                uniqueItems=True,
            ),
        ]
        | None
    ) = None
    expires: Annotated[Instant, Meta(description="When it shall end by itself. Default: never.")] | None = None


class KeyListParameters(Sent):
    """Which keys to list."""

    tenant: Annotated[GivenName, Meta(description="Tenant whose keys. Default: the own.")] | None = None
    page_size: Annotated[PageSize, Meta(description="More than 1000: 1000. 0 and default: 100.")] | None = None
    page_token: PageToken | None = None


class PageParameters(Sent):
    """Which page of a list."""

    page_size: Annotated[PageSize, Meta(description="More than 1000: 1000. 0 and default: 100.")] | None = None
    page_token: PageToken | None = None


class ApiKey(Given, kw_only=True):
    """What may be shown of a key; without `spaces` it is not limited to any."""

    key_id: Annotated[str, Meta(description="12 characters, also in the key itself; it may be logged.")]
    tenant: str
    name: str
    rights: Annotated[list[str], Meta(description="`read`, `write`, `admin`, `operator`; accept others.")]
    spaces: list[str] | None = None
    created: Micros
    expires: Annotated[Micros, Meta(description="When it ends by itself.")] | None = None
    revoked: Annotated[Micros, Meta(description="When it was ended.")] | None = None


class CreatedKey(Given, kw_only=True):
    """The key itself, which cannot be read again, and what may be shown of it."""

    key: str
    api_key: ApiKey


class KeyPage(Given):
    """One page of keys, oldest first; without `nextPageToken` it is the last."""

    keys: list[ApiKey]
    next_page_token: str | None = None


class CreateTenantRequest(Sent):
    """Asks for a tenant; one that exists stays as it is."""

    name: Annotated[Name, Meta(description="1 to 128 bytes; that of a deleted one is free once its traces are gone.")]


class Tenant(Given, kw_only=True):
    """A tenant; without `lastTx` nothing was ever written to it."""

    name: str
    last_tx: Annotated[Micros, Meta(description="Its newest commit.")] | None = None


class CreatedTenant(Given):
    """The tenant, and whether it is new."""

    tenant: Tenant
    created: bool


class TenantPage(Given):
    """One page of tenants, oldest first; without `nextPageToken` it is the last."""

    tenants: list[Tenant]
    next_page_token: str | None = None


class Removed(Given):
    """Rows removed, by what they were."""

    sources: Tally
    versions: Tally
    spans: Tally
    nodes: Tally
    edges: Tally
    clarifications: Tally
    vectors: Tally


class Deletion(Given, kw_only=True):
    """The receipt of a deleted tenant."""

    deletion_id: Uuid
    tenant: str
    deleted: Micros
    removed: Removed
    keys: Annotated[Tally, Meta(description="Keys removed; none of them holds any longer.")]
    rows: Annotated[Tally, Meta(description="Rows removed in all.")]
    traces: Annotated[Tally, Meta(description="Traces removed; absent until the trace writer has answered.")] | None = (
        None
    )


class DeletionPage(Given):
    """One page of receipts, oldest tenant first; without `nextPageToken` it is the last."""

    deletions: list[Deletion]
    next_page_token: str | None = None


class SpaceErasure(Given):
    """The receipt of an erased space."""

    space: str
    tx_time: Micros
    removed: Removed


def create_key_message(body: CreateKeyRequest) -> pb.CreateKeyRequest:
    """*body* on the wire."""
    return pb.CreateKeyRequest(
        tenant=body.tenant,
        name=body.name,
        rights=[_RIGHTS[right] for right in body.rights],
        spaces=body.spaces,
        expires_us=None if body.expires is None else instant(body.expires, "/expires"),
    )


def list_keys_message(parameters: KeyListParameters) -> pb.ListKeysRequest:
    """The request for a page of keys on the wire."""
    return pb.ListKeysRequest(
        tenant=parameters.tenant, page_size=parameters.page_size or 0, page_token=parameters.page_token or ""
    )


def key_answer(message: pb.ApiKey) -> ApiKey:
    """The JSON shape of a key."""
    return ApiKey(
        key_id=message.key_id,
        tenant=message.tenant,
        name=message.name,
        rights=[_NAMES.get(right, UNKNOWN_RIGHT) for right in message.rights],
        spaces=list(message.spaces) or None,
        created=message.created_us,
        expires=message.expires_us if message.HasField("expires_us") else None,
        revoked=message.revoked_us if message.HasField("revoked_us") else None,
    )


def tenant_answer(message: pb.Tenant) -> Tenant:
    """The JSON shape of a tenant."""
    return Tenant(name=message.name, last_tx=message.last_tx_us if message.HasField("last_tx_us") else None)


def deletion_answer(message: pb.Deletion) -> Deletion:
    """The JSON shape of a receipt."""
    return Deletion(
        deletion_id=message.deletion_id,
        tenant=message.tenant,
        deleted=message.deleted_us,
        removed=_removed(message.removed),
        keys=message.keys,
        rows=message.rows,
        traces=message.traces if message.HasField("traces") else None,
    )


def space_answer(message: pb.EraseSpaceResponse) -> SpaceErasure:
    """The JSON shape of a receipt."""
    return SpaceErasure(space=message.space, tx_time=message.tx_us, removed=_removed(message.removed))


def _removed(message: pb.Removed) -> Removed:
    return Removed(
        sources=message.sources,
        versions=message.versions,
        spans=message.spans,
        nodes=message.nodes,
        edges=message.edges,
        clarifications=message.clarifications,
        vectors=message.vectors,
    )

"""Calls of `Administration`, prepared, and how their answers read."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from telha.administration.v1 import administration_pb2 as pb

from .fields import extend, micros, named, put
from .inputs import Instant
from .requests import Prepared
from .results import Page
from .tenancy import ApiKey, Deletion, NewKey, NewTenant, Removed, SpaceErasure, Tenant

T = TypeVar("T")

_SERVICE = "/telha.administration.v1.Administration"
_RIGHTS = {
    "read": pb.RIGHT_READ,
    "write": pb.RIGHT_WRITE,
    "admin": pb.RIGHT_ADMIN,
    "operator": pb.RIGHT_OPERATOR,
}
_NAMES = {number: name for name, number in _RIGHTS.items()}


def create_key(
    name: str,
    rights: Sequence[str],
    spaces: Sequence[str],
    tenant: str | None,
    expires: Instant | None,
    timeout: float | None,
) -> Prepared[NewKey]:
    """`CreateKey`."""
    message = pb.CreateKeyRequest()
    put(message, "tenant", tenant)
    put(message, "name", name)
    message.rights.extend(named(_RIGHTS, right, f"rights[{index}]") for index, right in enumerate(rights))
    extend(message.spaces, spaces, "spaces")
    put(message, "expires_us", micros(expires, "expires_us"))

    def read(raw: bytes) -> NewKey:
        answer = pb.CreateKeyResponse.FromString(raw)
        return NewKey(answer.key, _key(answer.api_key))

    return Prepared(f"{_SERVICE}/CreateKey", message, read, False, timeout)


def keys(tenant: str | None, page_size: int, page_token: str, timeout: float | None) -> Prepared[Page[ApiKey]]:
    """`ListKeys`."""
    message = pb.ListKeysRequest()
    put(message, "tenant", tenant)
    put(message, "page_size", page_size)
    put(message, "page_token", page_token)

    def read(raw: bytes) -> Page[ApiKey]:
        answer = pb.ListKeysResponse.FromString(raw)
        return Page(tuple(map(_key, answer.keys)), answer.next_page_token)

    return Prepared(f"{_SERVICE}/ListKeys", message, read, True, timeout)


def revoke_key(key_id: str, timeout: float | None) -> Prepared[ApiKey]:
    """`RevokeKey`; a second time changes nothing, so it may be repeated."""
    message = pb.RevokeKeyRequest()
    put(message, "key_id", key_id)
    return Prepared(
        f"{_SERVICE}/RevokeKey", message, lambda raw: _key(pb.RevokeKeyResponse.FromString(raw).api_key), True, timeout
    )


def create_tenant(name: str, timeout: float | None) -> Prepared[NewTenant]:
    """`CreateTenant`; a second time changes nothing, so it may be repeated."""
    message = pb.CreateTenantRequest()
    put(message, "name", name)

    def read(raw: bytes) -> NewTenant:
        answer = pb.CreateTenantResponse.FromString(raw)
        return NewTenant(_tenant(answer.tenant), answer.created)

    return Prepared(f"{_SERVICE}/CreateTenant", message, read, True, timeout)


def tenants(page_size: int, page_token: str, timeout: float | None) -> Prepared[Page[Tenant]]:
    """`ListTenants`."""
    message = pb.ListTenantsRequest()
    put(message, "page_size", page_size)
    put(message, "page_token", page_token)

    def read(raw: bytes) -> Page[Tenant]:
        answer = pb.ListTenantsResponse.FromString(raw)
        return Page(tuple(map(_tenant, answer.tenants)), answer.next_page_token)

    return Prepared(f"{_SERVICE}/ListTenants", message, read, True, timeout)


def delete_tenant(name: str, timeout: float | None) -> Prepared[Deletion]:
    """`DeleteTenant`."""
    message = pb.DeleteTenantRequest()
    put(message, "tenant", name)
    return Prepared(f"{_SERVICE}/DeleteTenant", message, _reading(pb.DeleteTenantResponse), False, timeout)


def deletion(deletion_id: str, timeout: float | None) -> Prepared[Deletion]:
    """`GetDeletion`."""
    message = pb.GetDeletionRequest()
    put(message, "deletion_id", deletion_id)
    return Prepared(f"{_SERVICE}/GetDeletion", message, _reading(pb.GetDeletionResponse), True, timeout)


def deletions(page_size: int, page_token: str, timeout: float | None) -> Prepared[Page[Deletion]]:
    """`ListDeletions`."""
    message = pb.ListDeletionsRequest()
    put(message, "page_size", page_size)
    put(message, "page_token", page_token)

    def read(raw: bytes) -> Page[Deletion]:
        answer = pb.ListDeletionsResponse.FromString(raw)
        return Page(tuple(map(_deletion, answer.deletions)), answer.next_page_token)

    return Prepared(f"{_SERVICE}/ListDeletions", message, read, True, timeout)


def erase_space(space: str, timeout: float | None) -> Prepared[SpaceErasure]:
    """`EraseSpace`."""
    message = pb.EraseSpaceRequest()
    put(message, "space", space)

    def read(raw: bytes) -> SpaceErasure:
        answer = pb.EraseSpaceResponse.FromString(raw)
        return SpaceErasure(answer.space, answer.tx_us, _removed(answer.removed))

    return Prepared(f"{_SERVICE}/EraseSpace", message, read, False, timeout)


def _reading(response: type[pb.DeleteTenantResponse | pb.GetDeletionResponse]) -> Callable[[bytes], Deletion]:
    return lambda raw: _deletion(response.FromString(raw).deletion)


def _key(message: pb.ApiKey) -> ApiKey:
    return ApiKey(
        key_id=message.key_id,
        tenant=message.tenant,
        name=message.name,
        rights=tuple(_NAMES.get(right, str(right)) for right in message.rights),
        spaces=tuple(message.spaces),
        created=message.created_us,
        expires=message.expires_us if message.HasField("expires_us") else None,
        revoked=message.revoked_us if message.HasField("revoked_us") else None,
    )


def _tenant(message: pb.Tenant) -> Tenant:
    return Tenant(message.name, message.last_tx_us if message.HasField("last_tx_us") else None)


def _deletion(message: pb.Deletion) -> Deletion:
    return Deletion(
        deletion_id=message.deletion_id,
        tenant=message.tenant,
        deleted=message.deleted_us,
        removed=_removed(message.removed),
        keys=message.keys,
        rows=message.rows,
        traces=message.traces if message.HasField("traces") else None,
    )


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

"""Keys, tenants, and removal for good, for synchronous and for asynchronous code."""

# ruff: noqa: ASYNC109  (a timeout is also sent to the server, as the deadline of the call)

from collections.abc import Awaitable, Sequence
from typing import Protocol, TypeVar

from . import administration_calls as calls
from .inputs import Instant
from .requests import Prepared
from .results import Page
from .tenancy import ApiKey, Deletion, NewKey, NewTenant, SpaceErasure, Tenant

T = TypeVar("T")


class Calling(Protocol):
    """A client that waits."""

    def call(self, prepared: Prepared[T]) -> T:
        """Send a prepared call."""


class AsyncCalling(Protocol):
    """A client that is awaited."""

    def call(self, prepared: Prepared[T]) -> Awaitable[T]:
        """Send a prepared call."""


class Administration:
    """Administers keys and tenants; reached as `client.administration`."""

    def __init__(self, client: Calling) -> None:
        self._client = client

    def create_key(
        self,
        name: str,
        rights: Sequence[str],
        *,
        spaces: Sequence[str] = (),
        tenant: str | None = None,
        expires: Instant | None = None,
        timeout: float | None = None,
    ) -> NewKey:
        """Make a key of the own tenant or, with the right `operator`, of *tenant*; it is shown once."""
        return self._client.call(calls.create_key(name, rights, spaces, tenant, expires, timeout))

    def keys(
        self, tenant: str | None = None, *, page_size: int = 0, page_token: str = "", timeout: float | None = None
    ) -> Page[ApiKey]:
        """List keys, oldest first, one page at a time."""
        return self._client.call(calls.keys(tenant, page_size, page_token, timeout))

    def revoke_key(self, key_id: str, *, timeout: float | None = None) -> ApiKey:
        """End a key at once."""
        return self._client.call(calls.revoke_key(key_id, timeout))

    def create_tenant(self, name: str, *, timeout: float | None = None) -> NewTenant:
        """Make a tenant, unless it exists."""
        return self._client.call(calls.create_tenant(name, timeout))

    def tenants(self, *, page_size: int = 0, page_token: str = "", timeout: float | None = None) -> Page[Tenant]:
        """List tenants in the order in which they were made, one page at a time."""
        return self._client.call(calls.tenants(page_size, page_token, timeout))

    def delete_tenant(self, name: str, *, timeout: float | None = None) -> Deletion:
        """Remove a tenant for good: memory, keys and traces."""
        return self._client.call(calls.delete_tenant(name, timeout))

    def deletion(self, deletion_id: str, *, timeout: float | None = None) -> Deletion:
        """Read the receipt of a deleted tenant."""
        return self._client.call(calls.deletion(deletion_id, timeout))

    def deletions(self, *, page_size: int = 0, page_token: str = "", timeout: float | None = None) -> Page[Deletion]:
        """List the receipts of deleted tenants, one page at a time."""
        return self._client.call(calls.deletions(page_size, page_token, timeout))

    def erase_space(self, space: str, *, timeout: float | None = None) -> SpaceErasure:
        """Remove a space of the own tenant for good."""
        return self._client.call(calls.erase_space(space, timeout))


class AsyncAdministration:
    """Administers keys and tenants; reached as `client.administration`."""

    def __init__(self, client: AsyncCalling) -> None:
        self._client = client

    async def create_key(
        self,
        name: str,
        rights: Sequence[str],
        *,
        spaces: Sequence[str] = (),
        tenant: str | None = None,
        expires: Instant | None = None,
        timeout: float | None = None,
    ) -> NewKey:
        """Make a key of the own tenant or, with the right `operator`, of *tenant*; it is shown once."""
        return await self._client.call(calls.create_key(name, rights, spaces, tenant, expires, timeout))

    async def keys(
        self, tenant: str | None = None, *, page_size: int = 0, page_token: str = "", timeout: float | None = None
    ) -> Page[ApiKey]:
        """List keys, oldest first, one page at a time."""
        return await self._client.call(calls.keys(tenant, page_size, page_token, timeout))

    async def revoke_key(self, key_id: str, *, timeout: float | None = None) -> ApiKey:
        """End a key at once."""
        return await self._client.call(calls.revoke_key(key_id, timeout))

    async def create_tenant(self, name: str, *, timeout: float | None = None) -> NewTenant:
        """Make a tenant, unless it exists."""
        return await self._client.call(calls.create_tenant(name, timeout))

    async def tenants(self, *, page_size: int = 0, page_token: str = "", timeout: float | None = None) -> Page[Tenant]:
        """List tenants in the order in which they were made, one page at a time."""
        return await self._client.call(calls.tenants(page_size, page_token, timeout))

    async def delete_tenant(self, name: str, *, timeout: float | None = None) -> Deletion:
        """Remove a tenant for good: memory, keys and traces."""
        return await self._client.call(calls.delete_tenant(name, timeout))

    async def deletion(self, deletion_id: str, *, timeout: float | None = None) -> Deletion:
        """Read the receipt of a deleted tenant."""
        return await self._client.call(calls.deletion(deletion_id, timeout))

    async def deletions(
        self, *, page_size: int = 0, page_token: str = "", timeout: float | None = None
    ) -> Page[Deletion]:
        """List the receipts of deleted tenants, one page at a time."""
        return await self._client.call(calls.deletions(page_size, page_token, timeout))

    async def erase_space(self, space: str, *, timeout: float | None = None) -> SpaceErasure:
        """Remove a space of the own tenant for good."""
        return await self._client.call(calls.erase_space(space, timeout))

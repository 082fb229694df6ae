"""
Who there is, as a key may administer it: keys and tenants, within what the calling key reaches.

    admin       its own tenant, and the keys of it that do not operate; limited to spaces, those limited to some of them
    operator    every tenant, every key

Rule 1: what a key does not reach is answered as absent, by the same statements.
Rule 2: no key grants what it has not got: `admin` grants `read`, `write` and `admin` within its own spaces, `operator`
grants anything. Rule 3: a write looks at the calling key again inside its transaction, so that a key that was revoked
meanwhile changes nothing.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from telha_planner.caller import Caller
from telha_planner.core.errors import NotFound, PermissionDenied

from . import erasure_tenant, keys, tenants
from .keys import KeyDraft, KeyInfo
from .receipts import Deletion
from .store import Store
from .tenants import TenantInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    import sqlalchemy as sa

_GRANTS = {
    "admin": frozenset({"read", "write", "admin"}),
    "operator": frozenset({"read", "write", "admin", "operator"}),
}


class Directory:
    """
    Keys and tenants. For one thread at a time.

    Every write raises `Unauthenticated` if the caller's key has ended, and `Unavailable` if the store is busy.

    Args:
        now: The wall clock, µs since 1970 UTC.
    """

    def __init__(self, store: Store, now: Callable[[], int]) -> None:
        self._store = store
        self._now = now

    def create_key(self, caller: Caller, tenant_name: str | None, draft: KeyDraft) -> tuple[str, KeyInfo]:
        """
        Make a key for *tenant_name*, or for the caller's own tenant; see `keys.insert`.

        Raises:
            PermissionDenied: The caller may not grant this.
            NotFound: There is no such tenant, or it is not the caller's.
        """
        grants = frozenset[str]().union(*(_GRANTS[right] for right in caller.rights & _GRANTS.keys()))
        for right in draft.rights:
            if right not in grants:
                raise PermissionDenied(right=f"the right to grant {right}")
        draft = _limited(draft, caller)
        with self._changing(caller) as connection:
            name = tenant_name or caller.tenant_name
            number = tenants.locked(connection, name)
            if number is None or not _reaches(caller, number):
                raise NotFound(resource="tenant")
            return keys.insert(connection, number, name, draft, self._now())

    def keys(self, caller: Caller, tenant_name: str | None, after: tuple[int, str] | None, limit: int) -> list[KeyInfo]:
        """
        At most *limit* keys of *tenant_name*, or of the caller's own tenant, behind the key *after* (made, id).

        Raises:
            NotFound: There is no such tenant, or it is not the caller's.
        """
        with self._store.reading() as connection:
            number = tenants.number_of(connection, tenant_name or caller.tenant_name)
            if number is None or not _reaches(caller, number):
                raise NotFound(resource="tenant")
            reached = (info for info in keys.keys_after(connection, number, after) if _within(info, caller))
            return list(islice(reached, limit))

    def revoke_key(self, caller: Caller, key_id: str) -> KeyInfo:
        """
        End a key at once; one that was revoked before keeps its instant.

        Raises:
            PermissionDenied: The caller administers nothing, and this is not its own key.
            NotFound: There is no such key, or the caller does not reach it.
        """
        if key_id != caller.key_id:
            _need_administration(caller)
        with self._changing(caller) as connection:
            found = keys.find(connection, key_id)
            if found is None:
                raise NotFound(resource="key")
            number, info = found
            if key_id != caller.key_id and not (_reaches(caller, number) and _within(info, caller)):
                raise NotFound(resource="key")
            if info.revoked_us is None:
                at_us = self._now()
                keys.end(connection, key_id, at_us)
                info = replace(info, revoked_us=at_us)
        return info

    def create_tenant(self, caller: Caller, name: str) -> tuple[TenantInfo, bool]:
        """The tenant *name*, and whether it is new; see `tenants.insert`."""
        with self._changing(caller) as connection:
            number = tenants.locked(connection, name)
            created = number is None
            if number is None:
                number = tenants.insert(connection, name, self._now())
            found = tenants.find(connection, number)
        if found is None:
            raise NotFound(resource="tenant")
        return found, created

    def tenants(self, after: int, limit: int) -> list[TenantInfo]:
        """At most *limit* tenants with numbers above *after*, in the order in which they were made."""
        with self._store.reading() as connection:
            return tenants.tenants_after(connection, after, limit)

    def deletable(self, caller: Caller, name: str) -> int:
        """
        The number of the tenant that *caller* may delete under *name*.

        Raises:
            PermissionDenied: The caller administers only some spaces of its tenant, or nothing.
            NotFound: There is no such tenant, or it is not the caller's.
        """
        _need_administration(caller)
        if caller.spaces is not None:
            raise PermissionDenied(right="every space of its tenant")
        with self._store.reading() as connection:
            number = tenants.number_of(connection, name)
        if number is None or not _reaches(caller, number):
            raise NotFound(resource="tenant")
        return number

    def deletion(self, deletion_id: bytes) -> Deletion:
        """The receipt with that id; raises `NotFound`."""
        with self._store.reading() as connection:
            found = erasure_tenant.find(connection, deletion_id)
        if found is None:
            raise NotFound(resource="deletion")
        return found

    def deletions(self, after: int, limit: int) -> list[Deletion]:
        """At most *limit* receipts of tenants with numbers above *after*, by number."""
        with self._store.reading() as connection:
            return erasure_tenant.receipts_after(connection, after, limit)

    def unfinished(self, since_us: int) -> list[Deletion]:
        """The receipts whose traces are still there, and those made at or after *since_us*."""
        with self._store.reading() as connection:
            return erasure_tenant.unfinished(connection, since_us)

    def traces_gone(self, deletion: Deletion, traces: int) -> Deletion:
        """The receipt, once the trace writer has removed the tenant's traces."""
        with self._store.writing() as connection:
            erasure_tenant.traces_gone(connection, deletion.deletion_id, traces)
        return self.deletion(deletion.deletion_id)

    @contextmanager
    def _changing(self, caller: Caller) -> "Iterator[sa.Connection]":
        with self._store.writing() as connection:
            keys.need_standing(connection, caller.key_id, self._now)
            yield connection


def _need_administration(caller: Caller) -> None:
    if "operator" not in caller.rights:
        caller.need("admin")


def _reaches(caller: Caller, number: int) -> bool:
    return "operator" in caller.rights or number == caller.tenant


def _within(info: KeyInfo, caller: Caller) -> bool:
    if "operator" in info.rights and "operator" not in caller.rights:
        return False
    return caller.spaces is None or (info.spaces is not None and set(info.spaces) <= set(caller.spaces))


def _limited(draft: KeyDraft, caller: Caller) -> KeyDraft:
    if caller.spaces is None:
        return draft
    for space in draft.spaces or ():
        caller.need_space(space)
    return draft if draft.spaces is not None else replace(draft, spaces=caller.spaces)

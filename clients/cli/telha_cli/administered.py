"""
Administration as the commands need it, of a running server or of a store: the same questions, the same JSON.

Rule: each says where it acts, so that what was made or removed names the system it was done to.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from telha_client import Client, NotFound, as_json
from telha_client.results import Page

from . import calls, on_store, target
from .calls import LARGEST_PAGE
from .problems import Problem

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NewKey:
    """
    A key to make.

    Attributes:
        spaces: Those it is limited to; none: not limited.
        tenant: Whose memory it opens; None is the calling key's own, on a store the first one.
        expires: When it ends by itself, µs since 1970 UTC.
        create_tenant: Make the tenant if there is none.
    """

    name: str
    rights: Sequence[str]
    spaces: Sequence[str]
    tenant: str | None
    expires: int | None
    create_tenant: bool


class System(Protocol):
    """Keys and tenants of one system."""

    @property
    def where(self) -> str:
        """The system, for a person."""

    def create_key(self, wanted: NewKey) -> Json:
        """A new key, shown once."""

    def keys(self, tenant: str | None) -> Json:
        """All keys of a tenant; None is the key's own, on a store all."""

    def revoke_key(self, key_id: str) -> Json:
        """The key, ended."""

    def create_tenant(self, name: str) -> Json:
        """The tenant, and whether it is new."""

    def tenants(self) -> Json:
        """All tenants."""

    def delete_tenant(self, name: str) -> Json:
        """The receipt."""

    def deletions(self) -> Json:
        """All receipts of deleted tenants."""


@contextmanager
def at(
    address: str | None,
    key: str | None,
    data: Path | None,
    url: str | None,
    config: Path | None,
    environ: Mapping[str, str],
) -> Iterator[System]:
    """
    The store that *data*, *url* or *config* names, else the server that is found as by every other command.

    Raises:
        UsageInvalid: Two are named.
        Problem: There is no such store or server, or a call in the block fails.
    """
    place = on_store.named(data, url, config, address, key)
    if place is not None:
        yield OnStore(place)
        return
    with on_server(address, key, None, environ) as server:
        yield server


@contextmanager
def on_server(
    address: str | None, key: str | None, data: Path | None, environ: Mapping[str, str]
) -> Iterator["OnServer"]:
    """The server that the arguments and the environment name; raises as `at`."""
    found = target.find(address, key, data, environ)
    with calls.connected(found) as client:
        yield OnServer(client, f"at {found.address}")


class OnServer:
    """The keys, tenants and spaces that *client*'s key reaches."""

    def __init__(self, client: Client, where: str) -> None:
        self._administration = client.administration
        self.where = where

    def create_key(self, wanted: NewKey) -> Json:
        """A new key, shown once."""
        if wanted.create_tenant and wanted.tenant is not None:
            self._administration.create_tenant(wanted.tenant)
        try:
            made = self._administration.create_key(
                wanted.name, wanted.rights, spaces=wanted.spaces, tenant=wanted.tenant, expires=wanted.expires
            )
        except NotFound as absent:
            hint = "--create-tenant makes it"
            raise Problem(absent.reason, f"there is no tenant {wanted.tenant} {self.where}", hint=hint) from None
        return {"key": made.key, **as_json(made.api_key)}

    def keys(self, tenant: str | None) -> Json:
        """All keys of a tenant; None is the key's own."""
        return {"keys": _all(lambda token: self._administration.keys(tenant, page_size=LARGEST_PAGE, page_token=token))}

    def revoke_key(self, key_id: str) -> Json:
        """The key, ended."""
        return _json(self._administration.revoke_key(key_id))

    def create_tenant(self, name: str) -> Json:
        """The tenant, and whether it is new."""
        made = self._administration.create_tenant(name)
        return {**as_json(made.tenant), "created": made.created}

    def tenants(self) -> Json:
        """All tenants."""
        return {"tenants": _all(lambda token: self._administration.tenants(page_size=LARGEST_PAGE, page_token=token))}

    def delete_tenant(self, name: str) -> Json:
        """The receipt."""
        return _json(self._administration.delete_tenant(name))

    def deletions(self) -> Json:
        """All receipts of deleted tenants."""
        return {
            "deletions": _all(lambda token: self._administration.deletions(page_size=LARGEST_PAGE, page_token=token))
        }

    def erase_space(self, name: str) -> Json:
        """The receipt."""
        receipt = self._administration.erase_space(name)
        return {"space": receipt.space, "txTime": receipt.tx, "removed": as_json(receipt.removed)}


class OnStore:
    """The keys and tenants of the store at *place*, without a server."""

    def __init__(self, place: on_store.Place) -> None:
        self._place = place
        self.where = place.words

    def create_key(self, wanted: NewKey) -> Json:
        """A new key, shown once."""
        words = [f"--name={wanted.name}", f"--rights={','.join(wanted.rights)}"]
        words += [f"--space={one}" for one in wanted.spaces]
        words += [] if wanted.tenant is None else [f"--tenant={wanted.tenant}"]
        words += ["--create-tenant"] if wanted.create_tenant else []
        words += [] if wanted.expires is None else [f"--expires-us={wanted.expires}"]
        return self._asked("keys", "create", *words)

    def keys(self, tenant: str | None) -> Json:
        """All keys of a tenant; None is every one's."""
        return self._asked("keys", "list", *([] if tenant is None else [f"--tenant={tenant}"]))

    def revoke_key(self, key_id: str) -> Json:
        """The key, ended."""
        return self._asked("keys", "revoke", "--", key_id)

    def create_tenant(self, name: str) -> Json:
        """The tenant, and whether it is new."""
        return self._asked("tenants", "create", "--", name)

    def tenants(self) -> Json:
        """All tenants."""
        return self._asked("tenants", "list")

    def delete_tenant(self, name: str) -> Json:
        """The receipt."""
        return self._asked("tenants", "delete", "--yes", "--", name)

    def deletions(self) -> Json:
        """All receipts of deleted tenants."""
        return self._asked("tenants", "deletions")

    def _asked(self, *words: str) -> Json:
        return on_store.administer(self._place, *words)


def _all(page_after: Callable[[str], Page[Any]]) -> list[Json]:
    found: list[Json] = []
    token = ""
    while True:
        page = page_after(token)
        found += map(_json, page.items)
        token = page.next_page_token
        if not token:
            return found


def _json(answer: object) -> Json:
    told: Json = as_json(answer)
    return told

"""Administration through a running server: client in, JSON out, in the shape of the administration on the store."""

from collections.abc import Callable, Sequence
from typing import Any

from telha_client import Client, as_json
from telha_client.results import Page

from .calls import LARGEST_PAGE

Json = dict[str, Any]


class Administered:
    """The keys, tenants and spaces that *client*'s key reaches."""

    def __init__(self, client: Client) -> None:
        self._administration = client.administration

    def create_key(
        self, name: str, rights: Sequence[str], spaces: Sequence[str], tenant: str | None, expires: int | None
    ) -> Json:
        """A new key, shown once."""
        made = self._administration.create_key(name, rights, spaces=spaces, tenant=tenant, expires=expires)
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

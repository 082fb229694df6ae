"""Who calls: from a credential to a caller and the newest commit of its tenant, in one read of the store."""

from collections.abc import Callable
from typing import Protocol

from telha_planner.caller import Caller
from telha_planner.core.errors import Unauthenticated
from telha_planner.memory import keys
from telha_planner.memory.store import Store


class Credentials(Protocol):
    """Who wants to know whose a credential is."""

    def proved(self, credential: str, tenant: int, key_id: str) -> None:
        """It is the key *key_id* of *tenant*."""

    def disproved(self, credential: str) -> None:
        """It does not hold."""


class Authentication:
    """
    Looks keys up.

    Args:
        now: The clock, µs since 1970 UTC.
        credentials: Is told which credentials hold, and which do not.
    """

    def __init__(self, store: Store, now: Callable[[], int], credentials: Credentials | None) -> None:
        self._store = store
        self._now = now
        self._credentials = credentials

    def __call__(self, credential: str) -> tuple[Caller, int]:
        """
        Who holds *credential*, and the newest commit of the tenant.

        Raises:
            Unauthenticated: No valid key.
        """
        with self._store.reading() as connection:
            found = keys.authenticate(connection, credential, self._now)
        if found is None:
            if self._credentials is not None:
                self._credentials.disproved(credential)
            raise Unauthenticated
        if self._credentials is not None:
            self._credentials.proved(credential, found[0].tenant, found[0].key_id)
        return found

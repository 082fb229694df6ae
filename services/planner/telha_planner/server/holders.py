"""
Who a call is counted for before it is authenticated: what its credential proved to be the last time.

A key that was never seen here, or no longer holds, belongs to the strangers, who together have the share of one tenant:
so nobody gains places by inventing keys. This decides who waits and grants nothing; each call is authenticated anew.

Rule: no credential is kept, only what BLAKE3 makes of it under a key that is drawn at the start and leaves this object
never: whoever reads the process's memory finds nothing with which to call, and cannot try out guesses elsewhere.
"""

import secrets
from collections import OrderedDict

from blake3 import blake3
from telha_runtime.line import Holder

STRANGERS = Holder("", "strangers")
MOST = 10_000
"""Keys remembered; the least recently seen is a stranger again."""


class Holders:
    """Written on the plan thread, read on the event loop."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(blake3.key_size)
        self._known: OrderedDict[bytes, Holder] = OrderedDict()

    def of(self, credential: str) -> Holder:
        """Who is counted for a call with *credential*."""
        return self._known.get(self._mark(credential), STRANGERS)

    def proved(self, credential: str, tenant: int, key_id: str) -> None:
        """*credential* was found to be the key *key_id* of *tenant*."""
        mark = self._mark(credential)
        if mark not in self._known:
            self._known[mark] = Holder(tenant, key_id)
            if len(self._known) > MOST:
                self._known.popitem(last=False)

    def disproved(self, credential: str) -> None:
        """*credential* does not hold, or no longer."""
        self._known.pop(self._mark(credential), None)

    def _mark(self, credential: str) -> bytes:
        return blake3(credential.encode(errors="surrogatepass"), key=self._secret).digest()

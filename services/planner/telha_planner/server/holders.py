"""
Who a call is counted for before it is authenticated: what its credential proved to be the last time.

A key that was never seen here, or no longer holds, belongs to the strangers, who together have the share of one tenant:
so nobody gains places by inventing keys. This decides who waits and grants nothing; each call is authenticated anew.
"""

from collections import OrderedDict

from telha_runtime.line import Holder

STRANGERS = Holder("", "strangers")
MOST = 10_000
"""Keys remembered; the least recently seen is a stranger again."""


class Holders:
    """Written on the plan thread, read on the event loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Holder] = OrderedDict()

    def of(self, credential: str) -> Holder:
        """Who is counted for a call with *credential*."""
        return self._known.get(credential, STRANGERS)

    def proved(self, credential: str, tenant: int, key_id: str) -> None:
        """*credential* was found to be the key *key_id* of *tenant*."""
        if credential not in self._known:
            self._known[credential] = Holder(tenant, key_id)
            if len(self._known) > MOST:
                self._known.popitem(last=False)

    def disproved(self, credential: str) -> None:
        """*credential* does not hold, or no longer."""
        self._known.pop(credential, None)

"""
Canonical texts by source version, as the plan's last step reads them: only what was packed is ever sliced.

Rule 1: a version's text never changes, so what is held needs but one check: an erasure in the tenant drops all of it.
Rule 2: held bytes are bounded; the least recently used leave first. Rule 3: for one thread at a time.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa

from telha_planner.core.request import OPEN_END

from .store import IN_CHUNK, Store, chunks
from .tables import source_version

_Key = tuple[int, int, int]

# The two lists may meet in a version that nobody asked for; that costs less than a statement for each.
_SOME = sa.select(source_version.c.source_no, source_version.c.version_tx, source_version.c.text).where(
    source_version.c.tenant == sa.bindparam("tenant"),
    source_version.c.source_no.in_(sa.bindparam("sources", expanding=True)),
    source_version.c.version_tx.in_(sa.bindparam("versions", expanding=True)),
)


class TextErased(LookupError):
    """A text that a plan rests on was erased after recall read the columns; the plan has to be made anew."""


class SourceTexts:
    """
    Slices of canonical texts.

    Args:
        limit_bytes: Most bytes held; one text alone may exceed it.
    """

    def __init__(self, store: Store, limit_bytes: int) -> None:
        self._store = store
        self._limit = limit_bytes
        self._held: OrderedDict[_Key, bytes] = OrderedDict()
        self._erased: dict[int, int] = {}
        self.nbytes = 0

    def slices(
        self,
        tenant: int,
        erased_tx: int,
        sources: Sequence[int],
        versions: Sequence[int],
        starts: Sequence[int],
        ends: Sequence[int],
    ) -> list[str]:
        """
        The texts of spans, given column by column.

        Args:
            erased_tx: The tenant's newest erasure that the caller knows of; a newer one than before drops what is held.

        Raises:
            TextErased: A version is not in the store any more.
        """
        if self._erased.get(tenant, 0) != erased_tx:
            self._erased[tenant] = erased_tx
            self.drop(tenant)
        keys = [(tenant, source_no, version_tx) for source_no, version_tx in zip(sources, versions, strict=True)]
        texts = self._texts(tenant, dict.fromkeys(keys))
        return [texts[key][start:end].decode() for key, start, end in zip(keys, starts, ends, strict=True)]

    def drop(self, tenant: int) -> None:
        """Forget the texts of *tenant*."""
        for key in [key for key in self._held if key[0] == tenant]:
            self.nbytes -= len(self._held.pop(key))

    @property
    def tenants(self) -> frozenset[int]:
        """Tenants of which texts are held."""
        return frozenset(key[0] for key in self._held)

    def drop_erased(self, erasures: Mapping[int, int]) -> None:
        """Forget the texts of tenants that are not in *erasures*, or whose newest one there is newer than they are."""
        for tenant in self.tenants:
            if erasures.get(tenant, OPEN_END) > self._erased.get(tenant, 0):
                self.drop(tenant)

    def _texts(self, tenant: int, keys: Iterable[_Key]) -> dict[_Key, bytes]:
        texts: dict[_Key, bytes] = {}
        missing: list[_Key] = []
        for key in keys:
            held = self._held.get(key)
            if held is None:
                missing.append(key)
            else:
                self._held.move_to_end(key)
                texts[key] = held
        if missing:
            texts.update(self._read(tenant, missing))
        return texts

    def _read(self, tenant: int, keys: Sequence[_Key]) -> dict[_Key, bytes]:
        found: dict[_Key, bytes] = {}
        with self._store.reading(tenant) as connection:
            for some in chunks(keys, IN_CHUNK // 2):
                _, sources, versions = (sorted(set(part)) for part in zip(*some, strict=True))
                where = {"tenant": tenant, "sources": sources, "versions": versions}
                rows = connection.execute(_SOME, where)
                found.update(((tenant, source_no, version_tx), text) for source_no, version_tx, text in rows)
        try:
            found = {key: found[key] for key in keys}
        except KeyError as missing:
            raise TextErased(*missing.args) from None
        for key, text in found.items():
            self._held[key] = text
            self.nbytes += len(text)
        while self.nbytes > self._limit and len(self._held) > 1:
            self.nbytes -= len(self._held.popitem(last=False)[1])
        return found

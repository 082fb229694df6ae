"""
What is not to come back, asked before anything is stored.

Rule: a tenant's deletion and retention by age end all that was recorded until an instant; a trace that was erased, or
went because there were too many, is known by its id, since others of its age may arrive for the first time.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Protocol
from uuid import UUID

import sqlalchemy as sa

from .tables import UNKNOWN_TENANT, trace_deletion, trace_dropped, trace_retention

_ASKED_AT_ONCE: Final = 500


class Made(Protocol):
    """A record, or a dead letter: whose it is, which trace it is if that can be told, and when it was made."""

    @property
    def tenant(self) -> str: ...  # noqa: D102  # the class says it

    @property
    def trace_id(self) -> str | None: ...  # noqa: D102

    @property
    def recorded_us(self) -> int: ...  # noqa: D102


class Gone(NamedTuple):
    """
    What is not to come back.

    Attributes:
        deleted, aged: Per tenant, until when its records are gone: deleted with it, and removed for their age.
        ids: Tenants and ids of traces that went one by one.
    """

    deleted: Mapping[str, int]
    aged: Mapping[str, int]
    ids: Collection[tuple[str, bytes]]

    def has(self, made: Made) -> bool:
        """Whether *made* is among it."""
        if any(made.tenant in until and made.recorded_us <= until[made.tenant] for until in (self.deleted, self.aged)):
            return True
        return made.trace_id is not None and (made.tenant, UUID(made.trace_id).bytes) in self.ids


def gone_of(connection: sa.Connection, made: Sequence[Made]) -> Gone:
    """What is not to come back of the tenants of *made*."""
    tenants = {each.tenant for each in made} - {UNKNOWN_TENANT}
    if not tenants:
        return Gone({}, {}, frozenset())
    deletion, retention = trace_deletion.c, trace_retention.c
    deleted = (
        sa.select(deletion.tenant, sa.func.max(deletion.deleted_us))
        .where(deletion.tenant.in_(sorted(tenants)))
        .group_by(deletion.tenant)
    )
    aged = sa.select(retention.tenant, retention.removed_until_us).where(retention.tenant.in_(sorted(tenants)))
    return Gone(
        {tenant: int(us) for tenant, us in connection.execute(deleted)},
        {tenant: int(us) for tenant, us in connection.execute(aged)},
        _one_by_one(connection, [UUID(each.trace_id).bytes for each in made if each.trace_id is not None]),
    )


def _one_by_one(connection: sa.Connection, ids: Sequence[bytes]) -> Collection[tuple[str, bytes]]:
    found: set[tuple[str, bytes]] = set()
    for start in range(0, len(ids), _ASKED_AT_ONCE):
        asked = trace_dropped.c.trace_id.in_(ids[start : start + _ASKED_AT_ONCE])
        rows = connection.execute(sa.select(trace_dropped.c.tenant, trace_dropped.c.trace_id).where(asked))
        found.update((tenant, bytes(number)) for tenant, number in rows)
    return found

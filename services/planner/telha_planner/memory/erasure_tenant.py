"""
Deletion of a tenant: every row of every table that is the tenant's, in one transaction.

What stays is one row of `deleted_tenant`: the number, which is never given out again, the name, the instant, and how
many rows went. Traces are not in this store; the receipt says whether they are gone yet, and `server/deletions.py`
sees to it. The tables come from the schema itself, so none can be forgotten.
"""

import json
from typing import Any

import sqlalchemy as sa

from telha_planner.core.errors import NotFound

from .receipts import Deletion, Removed
from .tables import (
    api_key,
    clarification,
    clock,
    deleted_tenant,
    edge,
    metadata,
    node,
    source,
    source_version,
    span,
    tenant,
    vector,
)

KEPT = (deleted_tenant,)
"""Tables that outlive the tenants whose numbers they hold."""

_COUNTED = {
    "sources": source,
    "versions": source_version,
    "spans": span,
    "nodes": node,
    "edges": edge,
    "clarifications": clarification,
    "vectors": vector,
}
_RECEIPTS = sa.select(
    deleted_tenant.c.deletion_id,
    deleted_tenant.c.tenant,
    deleted_tenant.c.name,
    deleted_tenant.c.deleted_us,
    deleted_tenant.c.removed,
    deleted_tenant.c.traces,
)


def delete(connection: sa.Connection, number: int, deletion_id: bytes, deleted_us: int) -> Deletion:
    """
    Remove the tenant *number*.

    Args:
        connection: Of `Store.writing(number)`.
        deletion_id: 16 bytes that name the receipt.
        deleted_us: The wall clock, µs.

    Raises:
        NotFound: There is no such tenant.
    """
    # The clock first, as every commit of the tenant takes it: one that has begun is waited for, later ones find none.
    held = sa.select(clock.c.tenant).where(clock.c.tenant == number).with_for_update()
    name = sa.select(tenant.c.name).where(tenant.c.tenant == number).with_for_update()
    if connection.execute(held).one_or_none() is None:
        raise NotFound(resource="tenant")
    named = str(connection.execute(name).scalar_one())
    removed = {
        table.name: connection.execute(sa.delete(table).where(table.c.tenant == number)).rowcount
        for table in metadata.sorted_tables
        if table not in KEPT
    }
    connection.execute(
        sa.insert(deleted_tenant).values(
            tenant=number,
            deletion_id=deletion_id,
            name=named,
            deleted_us=deleted_us,
            removed=json.dumps(removed),
            traces=None,
        )
    )
    return _receipt(deletion_id, number, named, deleted_us, removed, None)


def find(connection: sa.Connection, deletion_id: bytes) -> Deletion | None:
    """The receipt with that id."""
    row = connection.execute(_RECEIPTS.where(deleted_tenant.c.deletion_id == deletion_id)).one_or_none()
    return None if row is None else _read(row)


def receipts_after(connection: sa.Connection, number: int, limit: int) -> list[Deletion]:
    """At most *limit* receipts of tenants with numbers above *number*, by number."""
    statement = _RECEIPTS.where(deleted_tenant.c.tenant > number).order_by(deleted_tenant.c.tenant).limit(limit)
    return [_read(row) for row in connection.execute(statement)]


def unfinished(connection: sa.Connection, since_us: int) -> list[Deletion]:
    """The receipts whose traces are still there, and those made at or after *since_us*, by number."""
    wanted = sa.or_(deleted_tenant.c.traces.is_(None), deleted_tenant.c.deleted_us >= since_us)
    return [_read(row) for row in connection.execute(_RECEIPTS.where(wanted).order_by(deleted_tenant.c.tenant))]


def traces_gone(connection: sa.Connection, deletion_id: bytes, traces: int) -> None:
    """Note that the trace writer has removed *traces* traces; the first answer counts."""
    waiting = deleted_tenant.c.traces.is_(None)
    found = sa.update(deleted_tenant).where(deleted_tenant.c.deletion_id == deletion_id, waiting)
    connection.execute(found.values(traces=traces))


def _read(row: Any) -> Deletion:  # noqa: ANN401 (a row of _RECEIPTS)
    return _receipt(row.deletion_id, row.tenant, row.name, row.deleted_us, json.loads(row.removed), row.traces)


def _receipt(
    deletion_id: bytes, number: int, name: str, deleted_us: int, removed: dict[str, int], traces: int | None
) -> Deletion:
    return Deletion(
        deletion_id=deletion_id,
        number=number,
        name=name,
        deleted_us=deleted_us,
        removed=Removed(**{what: removed.get(table.name, 0) for what, table in _COUNTED.items()}),
        keys=removed.get(api_key.name, 0),
        rows=sum(removed.values()),
        traces=traces,
    )

"""
Retention in the store: the oldest traces go, and stay away.

Rule 1: by age, what is oldest by the planner's clock over all tenants, `(recorded_us, tenant, trace_id)`; by size, what
arrived first, so that a record of a clock that is late is not the first to go; the same rows whoever does it. Rule 2:
what is delivered once more is dropped: removal by age remembers, per tenant, until when; removal by size each id, since
what is as old by its own clock may arrive for the first time. Rule 3: small steps.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from .store import Store
from .tables import trace, trace_dead_letter, trace_dropped, trace_retention, trace_space

_KEPT_LONGER_US = 7 * 86_400_000_000
"""How much longer than traces the ids of late ones are kept: until no planner sends them any more."""

_SENT_AGAIN_US = 30 * 86_400_000_000
"""How long the id of a trace that went by size is kept: so long a planner that is away is waited for (`spools`)."""


_NEVER_US = -(1 << 63)


class Removed(NamedTuple):
    """What one step removed."""

    traces: int
    dead_letters: int
    bytes: int


def volume(store: Store) -> int:
    """
    Bytes of all records together.

    Raises:
        StoreFailed: It cannot be told now.
    """
    with store.transaction() as connection:
        return int(connection.execute(sa.select(sa.func.coalesce(sa.func.sum(trace.c.bytes), 0))).scalar_one())


def remove_before(store: Store, before_us: int, limit: int) -> Removed:
    """
    Remove at most *limit* traces and dead letters that were recorded before *before_us*, oldest first.

    Raises:
        StoreFailed: None was removed.
    """
    old = _first(trace.c.recorded_us).where(trace.c.recorded_us < before_us).limit(limit)
    letter = trace_dead_letter.c
    letters = sa.select(letter.tenant, letter.entry_id).where(letter.recorded_us < before_us).limit(limit)
    with store.deleting() as connection:
        rows = connection.execute(old).fetchall()
        _remove(store, connection, rows, by_age=True)
        doomed = connection.execute(letters).fetchall()
        for tenant, entry_id in doomed:
            this = (letter.tenant == tenant, letter.entry_id == entry_id)
            connection.execute(sa.delete(trace_dead_letter).where(*this))
        _forget_ids(connection, before_us - _KEPT_LONGER_US)
    return Removed(len(rows), len(doomed), sum(row.bytes for row in rows))


def remove_bytes(store: Store, excess: int, limit: int, now_us: int) -> Removed:
    """
    Remove the fewest of the traces that arrived first that hold *excess* bytes together, at most *limit*.

    Raises:
        StoreFailed: None was removed.
    """
    arrived = _first(trace.c.arrived_us, trace.c.recorded_us).limit(limit)
    with store.deleting() as connection:
        rows: list[Any] = []
        for row in connection.execute(arrived).fetchall():
            if sum(taken.bytes for taken in rows) >= excess:
                break
            rows.append(row)
        _remove(store, connection, rows, by_age=False)
        _forget_ids(connection, now_us - _SENT_AGAIN_US)
    return Removed(len(rows), 0, sum(row.bytes for row in rows))


def _first(*order: sa.Column[int]) -> sa.Select[Any]:
    columns = trace.c
    within = (*order, columns.tenant, columns.trace_id)
    return sa.select(columns.recorded_us, columns.tenant, columns.trace_id, columns.bytes).order_by(*within)


def _forget_ids(connection: sa.Connection, before_us: int) -> None:
    # Ids of planners begin with the time at which they were made.
    stale = max(0, before_us // 1000).to_bytes(6) + bytes(10)
    connection.execute(sa.delete(trace_dropped).where(trace_dropped.c.trace_id < stale))


def _remove(store: Store, connection: sa.Connection, rows: Sequence[Any], *, by_age: bool) -> None:
    of_tenant: dict[str, list[Any]] = {}
    for row in rows:
        of_tenant.setdefault(row.tenant, []).append(row)
    for tenant, doomed in of_tenant.items():
        ids = [row.trace_id for row in doomed]
        for table in (trace_space, trace):
            connection.execute(sa.delete(table).where(table.c.tenant == tenant, table.c.trace_id.in_(ids)))
        until = max(row.recorded_us for row in doomed) if by_age else _NEVER_US
        if not by_age:
            store.add(connection, trace_dropped, [{"tenant": tenant, "trace_id": number} for number in ids])
        store.add(connection, trace_retention, [{"tenant": tenant, "removed_until_us": until, "traces": 0}])
        kept = trace_retention.c
        connection.execute(
            sa.update(trace_retention)
            .where(kept.tenant == tenant)
            .values(
                traces=kept.traces + len(doomed),
                removed_until_us=sa.case((kept.removed_until_us < until, until), else_=kept.removed_until_us),
            )
        )

"""
The tenant's clock: the transaction time of a commit, and the surrogate numbers it hands out.

Rule 1: `tx = max(now, last_tx + 1)`. Commits of a tenant are totally ordered, no two share an instant, and a wall clock
that steps back is harmless.
Rule 2: the clock's row is locked from `begin` to the end of the transaction, so that a later commit cannot become
visible before an earlier one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import sqlalchemy as sa
import structlog

from telha_planner.core.errors import NotFound

from .store import chunks
from .tables import clock

AHEAD_WARNING_US = 60_000_000
"""A clock this far ahead of the wall clock was once set wrongly: defaults of valid time follow it for that long."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Commit:
    """
    One write transaction of one tenant.

    Attributes:
        tx: The commit's transaction time, µs.
        last_tx: The commit before, 0 if none.
    """

    connection: sa.Connection
    tenant: int
    tx: int
    last_tx: int
    _next_no: int

    def number(self) -> int:
        """A new surrogate number, above every number of the tenant so far."""
        number = self._next_no
        self._next_no += 1
        return number

    def numbers(self, count: int) -> range:
        """*count* new surrogate numbers, ascending."""
        first = self._next_no
        self._next_no += count
        return range(first, first + count)

    def stands(self, table: sa.Table) -> sa.ColumnElement[bool]:
        """
        The condition that a row's transaction time is open.

        Written so that no index on `tx_to` can serve it: those indexes find what was closed lately, while most rows
        are open, and an optimiser without statistics would take them for the better way in.
        """
        return table.c.tx_to + 0 > self.tx

    def seal(self, *, erased: bool = False) -> None:
        """Advance the clock; the last statement of a transaction that wrote something."""
        values: dict[str, int] = {"last_tx": self.tx, "next_no": self._next_no}
        if erased:
            values["erased_tx"] = self.tx
        self.connection.execute(sa.update(clock).where(clock.c.tenant == self.tenant).values(values))


def begin(connection: sa.Connection, tenant: int, now: Callable[[], int]) -> Commit:
    """
    Lock the tenant's clock and take the commit's instant.

    Args:
        connection: Of `Store.writing()`.
        tenant: The tenant's number.
        now: The wall clock, µs since 1970 UTC.

    Raises:
        NotFound: There is no such tenant.
    """
    locked = sa.select(clock.c.last_tx, clock.c.next_no).where(clock.c.tenant == tenant).with_for_update()
    row = connection.execute(locked).one_or_none()
    if row is None:
        raise NotFound(resource="tenant")
    wall = now()
    tx = max(wall, row.last_tx + 1)
    if tx - wall > AHEAD_WARNING_US:
        _log.warning("clock_ahead", tenant=tenant, ahead_seconds=(tx - wall) // 1_000_000)
    return Commit(connection, tenant, tx, row.last_tx, row.next_no)


def last_tx(connection: sa.Connection, tenant: int) -> int:
    """The tenant's newest commit, 0 if none or if there is no such tenant."""
    found = connection.execute(sa.select(clock.c.last_tx).where(clock.c.tenant == tenant)).scalar()
    return int(found or 0)


def erasures(connection: sa.Connection, tenants: Iterable[int]) -> dict[int, int]:
    """The commit of the newest erasure of each of *tenants* that exists, 0 if none."""
    found: dict[int, int] = {}
    for chunk in chunks(tenants):
        statement = sa.select(clock.c.tenant, clock.c.erased_tx).where(clock.c.tenant.in_(chunk))
        found.update((row.tenant, row.erased_tx) for row in connection.execute(statement))
    return found


def erased_tx(connection: sa.Connection, tenant: int) -> int:
    """The commit of the tenant's newest erasure, 0 if none; texts cached before it must be dropped."""
    found = connection.execute(sa.select(clock.c.erased_tx).where(clock.c.tenant == tenant)).scalar()
    return int(found or 0)

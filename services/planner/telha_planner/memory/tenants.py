"""
Tenants: their names and numbers.

Rule 1: a number is never given out again, so whatever is cached by number can never be another tenant's.
Rule 2: a name may come back after a deletion, but only when the traces recorded under it are gone, and a minute has
passed in which calls that had begun before have ended: traces are kept by name.
"""

from dataclasses import dataclass

import sqlalchemy as sa

from telha_planner.core.errors import RequestInvalid, Unavailable
from telha_planner.core.value import check_name

from .tables import clock, deleted_tenant, tenant

NAME_RESTS_US = 60_000_000
"""How long the name of a deleted tenant is out of use, and until when its records count as the old tenant's."""


@dataclass(frozen=True, slots=True)
class TenantInfo:
    """A tenant; `last_tx` is the transaction time of its newest commit, 0 if none."""

    number: int
    name: str
    last_tx: int


def locked(connection: sa.Connection, name: str) -> int | None:
    """The number of the tenant *name*, kept from deletion until the write transaction ends; None if there is none."""
    number = connection.execute(sa.select(tenant.c.tenant).where(tenant.c.name == name).with_for_update()).scalar()
    return None if number is None else int(number)


def number_of(connection: sa.Connection, name: str) -> int | None:
    """The number of the tenant *name*, None if there is none."""
    number = connection.execute(sa.select(tenant.c.tenant).where(tenant.c.name == name)).scalar()
    return None if number is None else int(number)


def insert(connection: sa.Connection, name: str, now_us: int, *, field: str = "name") -> int:
    """
    Make a tenant of a name that no tenant has; returns its number.

    Args:
        connection: Of `Store.writing()`.
        field: What the caller calls the name.

    Raises:
        RequestInvalid: The name breaks a rule, or a deleted tenant had it and not all of that is over.
        Unavailable: Another process made a tenant at the same moment.
    """
    check_name(field, name)
    old = sa.select(deleted_tenant.c.deleted_us, deleted_tenant.c.traces).where(deleted_tenant.c.name == name)
    for deleted_us, traces in connection.execute(old):
        if traces is None or deleted_us + NAME_RESTS_US > now_us:
            rule = "is the name of a deleted tenant, free again when its traces are gone and a minute has passed"
            raise RequestInvalid(field=field, rule=rule)
    numbers = sa.union_all(sa.select(tenant.c.tenant), sa.select(deleted_tenant.c.tenant)).subquery()
    greatest = connection.execute(sa.select(sa.func.max(numbers.c.tenant))).scalar()
    number = int(greatest or 0) + 1
    try:
        connection.execute(sa.insert(tenant).values(tenant=number, name=name))
        connection.execute(sa.insert(clock).values(tenant=number, last_tx=0, next_no=1, erased_tx=0))
    except sa.exc.IntegrityError:
        raise Unavailable(part="the memory store") from None
    return number


def find(connection: sa.Connection, number: int) -> TenantInfo | None:
    """The tenant with that number."""
    row = connection.execute(_LISTED.where(tenant.c.tenant == number)).one_or_none()
    return None if row is None else TenantInfo(*row)


def tenants_after(connection: sa.Connection, number: int, limit: int) -> list[TenantInfo]:
    """At most *limit* tenants with numbers above *number*, in the order in which they were made."""
    statement = _LISTED.where(tenant.c.tenant > number).order_by(tenant.c.tenant).limit(limit)
    return [TenantInfo(*row) for row in connection.execute(statement)]


_LISTED = sa.select(tenant.c.tenant, tenant.c.name, clock.c.last_tx).join(clock, clock.c.tenant == tenant.c.tenant)

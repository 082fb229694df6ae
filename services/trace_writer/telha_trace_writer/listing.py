"""
Which traces a page shows, as one statement whose cost follows what the caller may see, not what the tenant has.

    no space is named and every space allowed ──► trace, by time or by kind
    else ──► trace_space: the named or allowed spaces, newest first ──► the traces of one page

Order, on every engine: `recorded_us` descending, then the bytes of the id descending.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa

from .tables import EVERY_SPACE, trace, trace_space

SHOWN: Final = (
    trace.c.tenant,
    trace.c.trace_id,
    trace.c.recorded_us,
    trace.c.kind,
    trace.c.key_id,
    trace.c.spaces,
    trace.c.plan_hash,
    trace.c.budget,
    trace.c.used,
    trace.c["items"],
    trace.c.stranded,
)
"""The columns of a trace but for its record, in the order of `Row`."""


@dataclass(frozen=True, slots=True)
class Filters:
    """
    Which traces of a tenant to list.

    Attributes:
        allowed: Spaces the caller may see; None is all. A trace is seen when all that it read is allowed.
        key_id: With *allowed*: traces that read no memory are seen if this key made them.
        from_us, to_us: Recorded at or after, recorded before.
    """

    allowed: tuple[str, ...] | None = None
    key_id: str | None = None
    kind: str | None = None
    space: str | None = None
    from_us: int | None = None
    to_us: int | None = None


def page(tenant: str, filters: Filters, before: tuple[int, str] | None, limit: int) -> sa.Select[Any]:
    """
    The statement that reads `SHOWN` of at most *limit* traces.

    Args:
        before: `(recorded_us, trace_id)` of the last trace of the page before.
    """
    if filters.allowed is None and filters.space is None:
        conditions = [trace.c.tenant == tenant, *_common(trace, filters, before)]
        return _newest(sa.select(*SHOWN).where(*conditions), trace).limit(limit)
    parts = [_by_space(tenant, filters, before, limit)]
    if filters.allowed is not None and filters.space is None and filters.key_id is not None:
        parts.append(_own(tenant, filters, before, limit))
    # Each part has the newest of its kind, so together they have the newest of all.
    found = sa.union(*(sa.select(part.subquery()) for part in parts)).subquery()
    this = sa.and_(trace.c.tenant == tenant, trace.c.trace_id == found.c.trace_id)
    return _newest(sa.select(*SHOWN).join(found, this), trace).limit(limit)


def _by_space(tenant: str, filters: Filters, before: tuple[int, str] | None, limit: int) -> sa.Select[Any]:
    read = trace_space.c
    if filters.space is not None:
        within = read.space.in_((filters.space,) if filters.allowed is not None else (filters.space, EVERY_SPACE))
    else:
        within = read.space.in_(sorted(filters.allowed or ()))
    conditions = [read.tenant == tenant, within, *_common(trace_space, filters, before)]
    if filters.allowed is not None:
        other = trace_space.alias()
        conditions.append(
            ~sa.exists().where(
                other.c.tenant == tenant,
                other.c.trace_id == read.trace_id,
                other.c.space.not_in(sorted(filters.allowed)),
            )
        )
    # A trace that read several of the spaces stands here for each.
    return _newest(sa.select(read.recorded_us, read.trace_id).distinct().where(*conditions), trace_space).limit(limit)


def _own(tenant: str, filters: Filters, before: tuple[int, str] | None, limit: int) -> sa.Select[Any]:
    read_nothing = ~sa.exists().where(trace_space.c.tenant == tenant, trace_space.c.trace_id == trace.c.trace_id)
    mine = [trace.c.tenant == tenant, trace.c.key_id == filters.key_id, read_nothing]
    statement = sa.select(trace.c.recorded_us, trace.c.trace_id).where(*mine, *_common(trace, filters, before))
    return _newest(statement, trace).limit(limit)


def _newest(statement: sa.Select[Any], table: sa.Table) -> sa.Select[Any]:
    return statement.order_by(table.c.recorded_us.desc(), table.c.trace_id.desc())


def _common(table: sa.Table, filters: Filters, before: tuple[int, str] | None) -> Iterator[sa.ColumnElement[bool]]:
    if filters.kind is not None:
        yield table.c.kind == filters.kind
    if filters.from_us is not None:
        yield table.c.recorded_us >= filters.from_us
    if filters.to_us is not None:
        yield table.c.recorded_us < filters.to_us
    if before is not None:
        yield sa.tuple_(table.c.recorded_us, table.c.trace_id) < sa.tuple_(before[0], UUID(before[1]).bytes)

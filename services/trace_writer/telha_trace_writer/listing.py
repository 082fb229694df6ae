"""
Which traces a page shows, as one statement whose cost follows what the caller may see, not what the tenant has.

    no space is named and every space allowed ──► trace, by time or by kind
    else ──► trace_space: the named or allowed spaces, newest first ──► the traces of one page

Order, on every engine: `recorded_us` descending, then the bytes of the id descending.
By what a plan made of its budget there is no order, so traces are looked at one after the other, in an index that holds
all that is looked at; a page looks at `MOST_EXAMINED` of them and says where the next one goes on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa

from .tables import EVERY_SPACE, READ_NOTHING, trace, trace_space

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

MOST_EXAMINED: Final = 100_000
"""Traces that a page looks at where it filters by the use of the budget."""

_ASKED_AT_ONCE: Final = 500

Position = tuple[int, str]
"""`(recorded_us, trace_id)` of a trace."""

_Place = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class Filters:
    """
    Which traces of a tenant to list.

    Attributes:
        allowed: Spaces the caller may see; None is all. A trace is seen when all that it read is allowed.
        key_id: With *allowed*: traces that read no memory are seen if this key made them.
        from_us, to_us: Recorded at or after, recorded before.
        min_used_share, max_used_share: Of the budget, in [0, 1], both included.
        stranded: Whether the source cap kept tokens of the budget from being used.
    """

    allowed: tuple[str, ...] | None = None
    key_id: str | None = None
    kind: str | None = None
    space: str | None = None
    from_us: int | None = None
    to_us: int | None = None
    min_used_share: float | None = None
    max_used_share: float | None = None
    stranded: bool | None = None

    @property
    def by_use(self) -> bool:
        """Whether it matters what a plan made of its budget."""
        return (self.min_used_share, self.max_used_share, self.stranded) != (None, None, None)


class _Part(NamedTuple):
    """A statement that reads places from one table, newest first, without a limit."""

    statement: sa.Select[Any]
    table: sa.Table


class Listed(NamedTuple):
    """
    What was found.

    Attributes:
        found: Rows of `SHOWN`.
        examined: The last trace that was looked at, where that ended the page; None if nothing is left to look at, or
            the page is full.
    """

    found: list[Any]
    examined: Position | None


def read(connection: sa.Connection, tenant: str, filters: Filters, before: Position | None, limit: int) -> Listed:
    """
    At most *limit* traces, newest first.

    Args:
        before: The last trace of the page before, or the last one that it looked at.
    """
    if not filters.by_use:
        return Listed([*connection.execute(page(tenant, filters, before, limit))], None)
    # A filter that much passes needs but a short look.
    for looked_at in (MOST_EXAMINED // 100 or 1, MOST_EXAMINED // 10 or 1, MOST_EXAMINED):
        places, horizon = _among(connection, _parts(tenant, filters, before), filters, looked_at, limit)
        if horizon is None or len(places) == limit:
            break
    shown = _rows(connection, tenant, [trace_id for _, trace_id in places])
    examined = None if horizon is None or len(places) == limit else (horizon[0], str(UUID(bytes=horizon[1])))
    return Listed([shown[trace_id] for _, trace_id in places], examined)


def _among(
    connection: sa.Connection, parts: list[_Part], filters: Filters, looked_at: int, limit: int
) -> tuple[list[_Place], _Place | None]:
    """The newest *limit* among the first *looked_at* of each part, and how far that is, if one has more."""
    found: set[_Place] = set()
    horizon: _Place | None = None
    for part in parts:
        end = connection.execute(part.statement.offset(looked_at - 1).limit(1)).first()
        within = [*_used(part.table, filters)]
        if end is not None:
            horizon = max(horizon or (end.recorded_us, end.trace_id), (end.recorded_us, end.trace_id))
            within.append(sa.tuple_(part.table.c.recorded_us, part.table.c.trace_id) >= sa.tuple_(*end[:2]))
        rows = connection.execute(part.statement.where(*within).limit(limit))
        found.update((row.recorded_us, row.trace_id) for row in rows)
    # Beyond the end of one part, another may hold traces that are older than some that the one has not looked at.
    places = sorted((place for place in found if horizon is None or place >= horizon), reverse=True)
    return places[:limit], horizon


def page(tenant: str, filters: Filters, before: Position | None, limit: int) -> sa.Select[Any]:
    """
    The statement that reads `SHOWN` of at most *limit* traces; what was made of the budget does not count.

    Args:
        before: The last trace of the page before.
    """
    if filters.allowed is None and filters.space is None:
        conditions = [trace.c.tenant == tenant, *_common(trace, filters, before)]
        return _newest(sa.select(*SHOWN).where(*conditions), trace).limit(limit)
    # Each part has the newest of its kind, so together they have the newest of all.
    newest = (part.statement.limit(limit).subquery() for part in _parts(tenant, filters, before))
    found = sa.union(*(sa.select(part.c.recorded_us, part.c.trace_id) for part in newest)).subquery()
    this = sa.and_(trace.c.tenant == tenant, trace.c.trace_id == found.c.trace_id)
    return _newest(sa.select(*SHOWN).join(found, this), trace).limit(limit)


def _parts(tenant: str, filters: Filters, before: Position | None) -> list[_Part]:
    """Which together have the places of the traces that are seen."""
    if filters.allowed is None and filters.space is None:
        conditions = [trace.c.tenant == tenant, *_common(trace, filters, before)]
        return [_Part(_newest(_places(trace, filters).where(*conditions), trace), trace)]
    if filters.space is None:
        spaces = sorted(filters.allowed or ())
    else:
        spaces = [filters.space] if filters.allowed is not None else [filters.space, EVERY_SPACE]
    # Of several spaces, no index has the order of time; of one it has.
    parts = [_by_space(tenant, space, filters, before) for space in spaces]
    if filters.allowed is not None and filters.space is None and filters.key_id is not None:
        parts.append(_own(tenant, filters, before))
    return parts


def _places(table: sa.Table, filters: Filters) -> sa.Select[Any]:
    use = (table.c.used_share, table.c.stranded) if filters.by_use else ()
    return sa.select(table.c.recorded_us, table.c.trace_id, *use)


def _used(table: sa.Table, filters: Filters) -> Iterator[sa.ColumnElement[bool]]:
    if filters.min_used_share is not None:
        yield table.c.used_share >= filters.min_used_share
    if filters.max_used_share is not None:
        yield table.c.used_share <= filters.max_used_share
    if filters.stranded is not None:
        yield table.c.stranded > 0 if filters.stranded else table.c.stranded == 0


def _rows(connection: sa.Connection, tenant: str, trace_ids: list[bytes]) -> dict[bytes, Any]:
    rows: dict[bytes, Any] = {}
    for start in range(0, len(trace_ids), _ASKED_AT_ONCE):
        these = trace_ids[start : start + _ASKED_AT_ONCE]
        asked = sa.select(*SHOWN).where(trace.c.tenant == tenant, trace.c.trace_id.in_(these))
        rows.update((row.trace_id, row) for row in connection.execute(asked))
    return rows


def _by_space(tenant: str, space: str, filters: Filters, before: Position | None) -> _Part:
    read = trace_space.c
    conditions = [read.tenant == tenant, read.space == space, *_common(trace_space, filters, before)]
    if filters.allowed is not None:
        other = trace_space.alias()
        conditions.append(
            ~sa.exists().where(
                other.c.tenant == tenant,
                other.c.trace_id == read.trace_id,
                other.c.space.not_in(sorted(filters.allowed)),
            )
        )
    return _Part(_newest(_places(trace_space, filters).where(*conditions), trace_space), trace_space)


def _own(tenant: str, filters: Filters, before: Position | None) -> _Part:
    mine = [trace.c.tenant == tenant, trace.c.key_id == filters.key_id, READ_NOTHING]
    return _Part(_newest(_places(trace, filters).where(*mine, *_common(trace, filters, before)), trace), trace)


def _newest(statement: sa.Select[Any], table: sa.Table) -> sa.Select[Any]:
    return statement.order_by(table.c.recorded_us.desc(), table.c.trace_id.desc())


def _common(table: sa.Table, filters: Filters, before: Position | None) -> Iterator[sa.ColumnElement[bool]]:
    if filters.kind is not None:
        yield table.c.kind == filters.kind
    if filters.from_us is not None:
        yield table.c.recorded_us >= filters.from_us
    if filters.to_us is not None:
        yield table.c.recorded_us < filters.to_us
    if before is not None:
        yield sa.tuple_(table.c.recorded_us, table.c.trace_id) < sa.tuple_(before[0], UUID(before[1]).bytes)

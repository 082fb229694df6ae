"""
A whole store into an empty one, of either engine: numbers, instants and bytes as they are, so that plans stay the same.

Rule 1: one snapshot is read and one transaction is written; a copy that fails leaves the target empty.
Rule 2: tenant by tenant and table by table, in the order of the key, so that no more than a page is held.
"""

from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from . import tables
from .bulk import bulk_insert
from .store import Store, StoreUnusable

PAGE_ROWS = 2_000
PAGE_TEXTS = 64
"""Rows at once of a table whose rows are whole texts."""

Progress = Callable[[str, str, int], None]
"""Told after each table: the tenant's name, empty for the directory; the table; its rows."""


def copy(source: Store, target: Store, progress: Progress) -> dict[str, int]:
    """
    Copy everything.

    Returns:
        Rows copied by table.

    Raises:
        StoreUnusable: *target* holds something.
        Unavailable: One of them cannot be read or written at this moment.
    """
    rows = dict.fromkeys((table.name for table in tables.metadata.sorted_tables), 0)
    with source.reading() as reading, target.writing() as writing:
        _refuse_filled(writing)
        for table in tables.DIRECTORY:
            directory = [tuple(row) for row in reading.execute(sa.select(table))]
            bulk_insert(writing, table, directory)
            rows[table.name] = len(directory)
            progress("", table.name, len(directory))
        tenants = reading.execute(sa.select(tables.tenant).order_by(tables.tenant.c.tenant)).all()
        for number, name in tenants:
            source.act_for(reading, number)
            target.act_for(writing, number)
            for table in tables.CONTENT:
                copied = 0
                for page in _pages(reading, table, number):
                    bulk_insert(writing, table, page)
                    copied += len(page)
                rows[table.name] += copied
                progress(name, table.name, copied)
    return rows


def _refuse_filled(connection: sa.Connection) -> None:
    # Content belongs to a tenant, so a store without one has none.
    for table in tables.DIRECTORY:
        if connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first() is not None:
            raise StoreUnusable(f"the target of the copy is not empty: there are rows in {table.name}")


def _pages(connection: sa.Connection, table: sa.Table, tenant: int) -> Iterator[list[tuple[Any, ...]]]:
    key = [column for column in table.primary_key.columns if column.name != "tenant"]
    places = [list(table.columns).index(column) for column in key]
    size = PAGE_TEXTS if table is tables.source_version else PAGE_ROWS
    statement = sa.select(table).where(table.c.tenant == tenant).order_by(*key).limit(size)
    after = statement
    while page := [tuple(row) for row in connection.execute(after)]:
        yield page
        last = [page[-1][place] for place in places]
        after = statement.where(sa.tuple_(*key) > sa.tuple_(*map(_bound, key, last)))


def _bound(column: sa.Column[Any], value: object) -> sa.BindParameter[Any]:
    return sa.bindparam(None, value, column.type)

"""
The open store: read snapshots and write transactions, the same over SQLite and PostgreSQL.

Rule 1: `reading()` is one consistent snapshot and never waits for a writer; `writing()` is the only way to write, and
commits or rolls back whole.
Rule 2: a transaction names the tenant whose rows it is about. PostgreSQL shows it those rows and no others; without a
tenant it shows the directory alone (`tables.DIRECTORY`).
Rule 3: `StoreUnusable` is for the operator at start, one sentence; `Unavailable` is for a caller, later.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import sqlalchemy as sa

from . import sqlite
from .database import Database, StoreUnusable

__all__ = ["IN_CHUNK", "Store", "StoreUnusable", "bulk_close", "bulk_insert", "chunks"]

IN_CHUNK = 900
"""Most values in one IN list; some SQLite builds accept 999 parameters in all."""

_T = TypeVar("_T")


class Store:
    """
    The system of record.

    Obtained from `Store.open`; safe to share between the threads of one process.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str, *, busy_timeout_ms: int) -> "Store":
        """
        Open the store at *url*, and create or migrate it where needed.

        Args:
            url: `sqlite:///relative.db` or `sqlite:////absolute.db`; missing folders are created.
            busy_timeout_ms: How long to wait for another process's lock.

        Raises:
            StoreUnusable: The address, folder, file or schema cannot be used.
        """
        return cls(sqlite.open_file(_parsed(url), busy_timeout_ms))

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    def reading(self, tenant: int | None = None) -> AbstractContextManager[sa.Connection]:
        """
        One snapshot: every statement inside sees the same state.

        Args:
            tenant: Whose rows may be seen, beside the directory.

        Raises:
            Unavailable: The database is locked, full, away or broken.
        """
        return self._database.reading(tenant)

    def writing(self, tenant: int | None = None) -> AbstractContextManager[sa.Connection]:
        """
        One write transaction; commits at the end, rolls back if the block raises.

        Args:
            tenant: Whose rows may be seen and changed, beside the directory.

        Raises:
            Unavailable: Another writer held a lock beyond the busy timeout, or the database is full, away or broken.
        """
        return self._database.writing(tenant)

    def act_for(self, connection: sa.Connection, tenant: int | None) -> None:
        """Turn an open transaction of this store to the rows of *tenant*, from here on."""
        self._database.act_for(connection, tenant)

    def scrub(self) -> bool:
        """
        Remove deleted content from the files beside the database too.

        Returns:
            False if a reader kept it in use beyond the busy timeout; it then goes later.
        """
        return self._database.scrub()


def bulk_insert(connection: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """
    Insert *rows*, each with one value per column of *table*, in the order of its columns.

    Goes past the statement compiler, which costs more than the insert itself when rows come by the thousand.
    """
    if not rows:
        return
    columns = ", ".join(_quoted(connection, column.name) for column in table.columns)
    marks = ", ".join([_mark(connection)] * len(table.columns))
    statement = f"INSERT INTO {_quoted(connection, table.name)} ({columns}) VALUES ({marks})"  # noqa: S608 - our names
    connection.exec_driver_sql(statement, list(rows))


def bulk_close(connection: sa.Connection, table: sa.Table, tenant: int, numbers: Sequence[int], tx: int) -> None:
    """End the rows *numbers* of *table*, whose key is (tenant, number), at the instant *tx*."""
    if not numbers:
        return
    tenant_column, key = (_quoted(connection, column.name) for column in table.primary_key)
    mark = _mark(connection)
    name = _quoted(connection, table.name)
    statement = f"UPDATE {name} SET tx_to = {mark} WHERE {tenant_column} = {mark} AND {key} = {mark}"  # noqa: S608 - our names
    connection.exec_driver_sql(statement, [(tx, tenant, number) for number in numbers])


def _quoted(connection: sa.Connection, name: str) -> str:
    return connection.dialect.identifier_preparer.quote(name)


def _mark(connection: sa.Connection) -> str:
    return "?" if connection.dialect.paramstyle == "qmark" else "%s"


def chunks(values: Iterable[_T], size: int = IN_CHUNK) -> Iterator[list[_T]]:
    """*values* in lists of at most *size*, for IN lists."""
    chunk: list[_T] = []
    for value in values:
        chunk.append(value)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _parsed(url: str) -> sa.URL:
    # What cannot be read may hold a password at any place, so it is not shown.
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        raise StoreUnusable("store.url is not an address; write sqlite:///path/to/memory.db") from None
    if parsed.get_backend_name() != "sqlite":
        raise StoreUnusable("store.url must name a SQLite file, such as sqlite:///path/to/memory.db")
    return parsed

"""
The open store: read snapshots and write transactions, the same over SQLite and PostgreSQL.

Rule 1: `reading()` is one consistent snapshot and never waits for a writer; `writing()` is the only way to write, and
commits or rolls back whole.
Rule 2: a transaction names the tenant whose rows it is about. PostgreSQL shows it those rows and no others; without a
tenant it shows the directory alone (`tables.DIRECTORY`).
Rule 3: `StoreUnusable` is for the operator at start, one sentence; `Unavailable` is for a caller, later.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Literal, TypeVar

import sqlalchemy as sa

from telha_planner.core.errors import Unavailable

from . import sqlite
from .database import Database, Schema, StoreUnusable

__all__ = ["IN_CHUNK", "Migrate", "Store", "StoreUnusable", "chunks"]

Migrate = Literal["manual", "auto"]
"""
What to do with a PostgreSQL database of an older schema: refuse it until somebody has migrated it, or migrate it. An
empty one gets the schema either way, and a SQLite file, which one installation has to itself, always is migrated.
"""

IN_CHUNK = 900
"""Most values in one IN list; some SQLite builds accept 999 parameters in all."""

_DRIVERS = ("sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg")
_T = TypeVar("_T")


class Store:
    """
    The system of record.

    Obtained from `Store.open`; safe to share between the threads of one process.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str, *, busy_timeout_ms: int, migrate: Migrate = "manual") -> "Store":
        """
        Open the store at *url*, and create or migrate it where needed.

        Args:
            url: `sqlite:///relative.db` or `sqlite:////absolute.db`, whose missing folders are created, or
                `postgresql://role@host/database`.
            busy_timeout_ms: How long to wait for another process's lock.
            migrate: As `Migrate` says.

        Raises:
            StoreUnusable: The address, folder, file, server, role or schema cannot be used.
        """
        parsed = _parsed(url)
        if parsed.get_backend_name() == "sqlite":
            return cls(sqlite.open_file(parsed, busy_timeout_ms))
        return cls(_postgres().open_database(parsed, busy_timeout_ms, migrate))

    @classmethod
    def schema(cls, url: str, *, busy_timeout_ms: int) -> Schema:
        """
        What the store at *url* stands at; nothing is made or changed.

        Raises:
            StoreUnusable: As `open`, but for an older schema.
        """
        parsed = _parsed(url)
        if parsed.get_backend_name() == "sqlite":
            return sqlite.schema_of(parsed, busy_timeout_ms)
        found: Schema = _postgres().schema_of(parsed, busy_timeout_ms)
        return found

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

        What was deleted is deleted whether this succeeds or not.

        Returns:
            False if a reader kept it in use, or the database went away meanwhile; it then goes later.
        """
        try:
            return self._database.scrub()
        except Unavailable:
            return False


def _postgres() -> ModuleType:
    try:
        from . import postgres  # noqa: PLC0415 - its driver is an extra
    except ImportError as error:
        raise StoreUnusable(
            "store.url names PostgreSQL, whose driver is not installed; install telha[postgres]"
        ) from error
    return postgres


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
    # Nothing of the address is shown: it may hold a password, at any place if it cannot be read.
    forms = "write sqlite:///path/to/memory.db or postgresql://role@host/database"
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        raise StoreUnusable(f"store.url is not an address; {forms}") from None
    if parsed.drivername not in _DRIVERS:
        raise StoreUnusable(f"store.url must name SQLite or PostgreSQL; {forms}")
    return parsed

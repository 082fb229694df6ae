"""
The trace store in one SQLite file, for one machine: all that is special to SQLite stands here.

Rule 1: what was committed is durable (WAL, synchronous FULL); readers and the writer do not wait for one another.
Rule 2: what is deleted is overwritten, in the file and, by `scrub`, in the log beside it.
"""

import logging
import sqlite3
import time
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from . import migrations
from .faults import StoreUnusable

__all__ = ["SQLite"]

_log = logging.getLogger(__name__)

_NEWEST_USER_VERSION = 2
"""What a file carries besides its revision, so that programs of before revisions refuse it."""


class SQLite:
    """
    A trace store in the file *path*; made, with its folders, if absent.

    Raises:
        StoreUnusable: A folder cannot be made.
    """

    made_alone = True

    def __init__(self, path: Path, busy_timeout_ms: int) -> None:
        self.place = str(path)
        self._path, self._busy_timeout_s = path, busy_timeout_ms / 1000
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StoreUnusable(f"the trace store {path} cannot be used: {fault.strerror}") from fault
        self.engine = sa.create_engine(
            sa.URL.create("sqlite+pysqlite", database=str(path)),
            # None: the driver opens no transaction of its own; `_begin` says which kind it is.
            connect_args={"isolation_level": None, "timeout": self._busy_timeout_s, "check_same_thread": False},
            # Errors are logged, and parameters hold records.
            hide_parameters=True,
            pool_size=8,
            max_overflow=-1,
        )
        sa.event.listen(self.engine, "connect", _prepare)
        sa.event.listen(self.engine, "begin", _begin)

    def refuse_foreign(self, connection: sa.Connection, *, newest: bool) -> None:  # noqa: ARG002  # a file has no roles
        """
        Refuse a file that another program wrote.

        Raises:
            StoreUnusable: It is one.
        """
        version = connection.exec_driver_sql("PRAGMA user_version").scalar()
        if version not in range(_NEWEST_USER_VERSION + 1):
            raise StoreUnusable(
                f"the trace store {self.place} has version {version}; this program knows {_NEWEST_USER_VERSION}"
            )
        if migrations.current(connection) is None and sa.inspect(connection).get_table_names():
            raise StoreUnusable(f"{self.place} is a database of something else, not a trace store")

    def prepare(self) -> None:
        """Switch the write-ahead log on."""
        # The switch needs the file for itself and does not honour the busy timeout, so it is retried here.
        deadline = time.monotonic() + self._busy_timeout_s
        connection = self.engine.raw_connection()
        try:
            while True:
                cursor = connection.cursor()
                try:
                    cursor.execute("PRAGMA journal_mode = WAL")
                    return
                except sqlite3.OperationalError as fault:
                    if fault.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                        raise
                finally:
                    cursor.close()
                time.sleep(0.01)
        finally:
            connection.close()

    def scope(self, connection: sa.Connection, tenant: str | None) -> None:
        """SQLite has no row-level security; every statement names its tenant."""

    def lock_for_migration(self, connection: sa.Connection) -> None:
        """The transaction holds the only write lock."""

    def lock_for_insert(self, connection: sa.Connection) -> None:
        """The transaction holds the only write lock."""

    def lock_for_deletion(self, connection: sa.Connection) -> None:
        """The transaction holds the only write lock."""

    def adding(self, table: sa.Table) -> sa.Insert:
        """An insert that leaves rows alone which are there already."""
        return insert(table).on_conflict_do_nothing()

    def scrub(self) -> None:
        """Remove deleted content from the log too; what a reader holds beyond the busy timeout goes later."""
        with self.engine.connect() as connection:
            cursor = connection.connection.cursor()
            try:
                busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                cursor.close()
        if busy:
            _log.warning("deleted traces linger in the log of %s: a reader holds an older snapshot", self.place)


def _prepare(connection: sqlite3.Connection, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("synchronous = FULL", "secure_delete = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    # A deferred transaction that turns into a writer can fail with SQLITE_BUSY_SNAPSHOT, which no waiting cures.
    writes = connection.get_execution_options().get("telha_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

"""
The trace store in one SQLite file, for one machine: all that is special to SQLite stands here.

Rule 1: what was committed is durable (WAL, synchronous FULL); readers and the writer do not wait for one another.
Rule 2: what is deleted is overwritten, in the file and, by `scrub`, in the log beside it.
"""

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from . import migrations
from .faults import StoreUnusable

__all__ = ["SQLite"]

_log = logging.getLogger(__name__)

_NO_AUTO_VACUUM = 0
_PAGES_AT_ONCE = 1000
"""Free pages cut off in one step, 4 MB: other writers wait for so long."""

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
        """Switch the write-ahead log on; a new file also learns to give space back."""
        # The switch needs the file for itself and does not honour the busy timeout, so it is retried here.
        deadline = time.monotonic() + self._busy_timeout_s
        connection = self.engine.raw_connection()
        try:
            while True:
                cursor = connection.cursor()
                try:
                    if not cursor.execute("PRAGMA page_count").fetchone()[0]:
                        cursor.execute("PRAGMA auto_vacuum = INCREMENTAL")
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

    def make_shrinkable(self) -> None:
        """Write a file of before anew, once, so that its free pages can be cut off: needs as much room again."""
        with self._cursor() as cursor:
            if cursor.execute("PRAGMA auto_vacuum").fetchone()[0] == _NO_AUTO_VACUUM:
                _log.warning("writing %s anew, so that retention can make it smaller", self.place)
                cursor.execute("PRAGMA auto_vacuum = INCREMENTAL")
                cursor.execute("VACUUM")

    def scrub(self) -> None:
        """
        Cut free pages off, and remove deleted content from the log too.

        What a reader holds beyond the busy timeout goes later. Others write between two steps.
        """
        with self._cursor() as cursor:
            free = _free(cursor)
            while free:
                # As a script: the driver ends a statement without columns after its first step, which frees one page.
                cursor.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")
                free, before = _free(cursor), free
                if free >= before:
                    break  # a file that was not made shrinkable, or another writer frees as much meanwhile
            busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            _log.warning("deleted traces linger in the log of %s: a reader holds an older snapshot", self.place)

    @contextmanager
    def _cursor(self) -> Iterator[sqlite3.Cursor]:
        """A cursor outside of any transaction."""
        with closing(self.engine.raw_connection()) as connection, closing(connection.cursor()) as cursor:
            yield cast("sqlite3.Cursor", cursor)


def _free(cursor: sqlite3.Cursor) -> int:
    return int(cursor.execute("PRAGMA freelist_count").fetchone()[0])


def _prepare(connection: sqlite3.Connection, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("synchronous = FULL", "secure_delete = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    # A deferred transaction that turns into a writer can fail with SQLITE_BUSY_SNAPSHOT, which no waiting cures.
    writes = connection.get_execution_options().get("telha_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

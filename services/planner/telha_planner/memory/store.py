"""
The open store: one engine, read snapshots and write transactions; all that is special to SQLite stands here.

Rule 1: `reading()` is one consistent snapshot and never waits for a writer; `writing()` is the only way to write, takes
the write lock at its start and commits or rolls back whole.
Rule 2: two processes may open, read and write at once. Whoever finds the lock taken waits up to the busy timeout, and
then sees `Unavailable`; no error of the driver leaves this module.
Rule 3: `StoreUnusable` is for the operator at start, one sentence; `Unavailable` is for a caller, later.
"""

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
import structlog

from telha_planner.core.errors import Unavailable

from . import migrations

CACHE_KIB = 32 * 1024
"""SQLite pages that one connection keeps; node ids arrive in random order, so the index must fit to insert fast."""

IN_CHUNK = 900
"""Most values in one IN list; some SQLite builds accept 999 parameters in all."""

_PART = "the memory store"
_T = TypeVar("_T")
_log = structlog.get_logger(__name__)


class StoreUnusable(Exception):
    """The store cannot be opened; the message is one sentence for the operator."""


class Store:
    """
    The system of record.

    Obtained from `Store.open`; safe to share between the threads of one process.
    """

    def __init__(self, engine: sa.Engine, busy_timeout_ms: int) -> None:
        self._engine = engine
        self._busy_timeout_ms = busy_timeout_ms

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
        path = _database_file(url)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnusable(
                f"the folder {path.parent} of the memory store cannot be created: {error.strerror}"
            ) from error
        store = cls(_sqlite_engine(path, busy_timeout_ms), busy_timeout_ms)
        try:
            # Checked before anything is changed: a file that is not ours stays as it is.
            with store._engine.connect() as connection:
                _refuse_foreign(connection, path)
            store._use_write_ahead_log()
            store._migrate(path)
        except (sa.exc.DBAPIError, sqlite3.Error) as error:
            store.close()
            cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
            raise StoreUnusable(f"the memory store {path} cannot be opened: {cause}") from error
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close every connection; the last process to close leaves a single file."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """
        One snapshot: every statement inside sees the same state.

        Raises:
            Unavailable: The database is locked, full or broken.
        """
        with _translated(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """
        One write transaction; commits at the end, rolls back if the block raises.

        Raises:
            Unavailable: Another writer held the lock beyond the busy timeout, or the disk refused.
        """
        with _translated(), self._engine.connect() as connection:
            connection.execution_options(telha_writes=True)
            with connection.begin():
                yield connection

    def scrub(self) -> bool:
        """
        Remove deleted content from the files beside the database too.

        Returns:
            False if a reader kept the log in use beyond the busy timeout; it then goes at the next checkpoint.
        """
        with _translated(), self._engine.connect() as connection:
            cursor = connection.connection.cursor()
            try:
                busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                cursor.close()
        if busy:
            _log.warning("erased_text_lingers_in_log", reason="a reader holds an older snapshot")
        return not busy

    def _use_write_ahead_log(self) -> None:
        # The switch needs the file for itself and does not honour the busy timeout, so it is retried here.
        deadline = time.monotonic() + self._busy_timeout_ms / 1000
        connection = self._engine.raw_connection()
        try:
            while True:
                cursor = connection.cursor()
                try:
                    cursor.execute("PRAGMA journal_mode=WAL")
                    return
                except sqlite3.OperationalError as error:
                    if not _is_busy(error) or time.monotonic() > deadline:
                        raise
                finally:
                    cursor.close()
                time.sleep(0.01)
        finally:
            connection.close()

    def _migrate(self, path: Path) -> None:
        with self.reading() as connection:
            if migrations.current(connection) == migrations.HEAD:
                return
        # Inside the write lock: of two processes that start at once, the second finds the work done.
        with self.writing() as connection:
            if _refuse_foreign(connection, path) == migrations.HEAD:
                return
            migrations.upgrade(connection)


def _refuse_foreign(connection: sa.Connection, path: Path) -> str | None:
    """The revision of the file, None for an empty one; raises `StoreUnusable` for one that this version cannot use."""
    found = migrations.current(connection)
    if found is None and sa.inspect(connection).get_table_names():
        raise StoreUnusable(f"{path} is a database of something else, not a memory store")
    if found is not None and not migrations.known(found):
        raise StoreUnusable(
            f"the memory store {path} was written by a newer version (schema {found}, "
            f"this version knows {migrations.HEAD}); update this installation"
        )
    return found


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


def _database_file(url: str) -> Path:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise StoreUnusable(f"store.url {url!r} is not an address; write sqlite:///path/to/memory.db") from error
    if parsed.get_backend_name() != "sqlite" or not parsed.database or parsed.database == ":memory:":
        raise StoreUnusable(f"store.url {url!r} must name a SQLite file, such as sqlite:///path/to/memory.db")
    return Path(parsed.database)


def _sqlite_engine(path: Path, busy_timeout_ms: int) -> sa.Engine:
    engine = sa.create_engine(
        sa.URL.create("sqlite+pysqlite", database=str(path)),
        # None: the driver opens no transaction of its own; `begin` below says which kind it is.
        connect_args={"isolation_level": None, "timeout": busy_timeout_ms / 1000, "check_same_thread": False},
        # Errors are logged, and parameters hold texts.
        hide_parameters=True,
        pool_size=8,
        max_overflow=-1,
    )
    sa.event.listen(engine, "connect", _prepare_connection)
    sa.event.listen(engine, "begin", _begin)
    return engine


def _prepare_connection(connection: sqlite3.Connection, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in (
        "synchronous=FULL",
        f"cache_size=-{CACHE_KIB}",
        "temp_store=MEMORY",
        "secure_delete=ON",  # erasure: freed pages and cells are overwritten, by every connection
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    # A deferred transaction that turns into a writer can fail with SQLITE_BUSY_SNAPSHOT, which no waiting cures.
    writes = connection.get_execution_options().get("telha_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _is_busy(error: BaseException | None) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (sa.exc.IntegrityError, sa.exc.ProgrammingError, sa.exc.DataError, sa.exc.InterfaceError):
        raise  # a fault of ours: a caller cannot cure it by waiting
    except sa.exc.DBAPIError as error:
        if not _is_busy(error.orig):
            _log.error("store_failed", error=str(error.orig))
        raise Unavailable(part=_PART) from error

"""
SQLite under the store: one file with its write-ahead log; all that is special to it stands here.

Rule 1: two processes may open, read and write at once. Whoever finds the write lock taken waits up to the busy timeout,
and then sees `Unavailable`. Rule 2: a file that is not ours stays as it is.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
import structlog

from telha_planner.core.errors import Unavailable

from . import migrations
from .database import PART, Database, Schema, StoreUnusable

CACHE_KIB = 32 * 1024
"""SQLite pages that one connection keeps; node ids arrive in random order, so the index must fit to insert fast."""

_log = structlog.get_logger(__name__)


class SqliteDatabase(Database):
    """One file; made by `open_file`."""

    def __init__(self, engine: sa.Engine, busy_timeout_ms: int) -> None:
        self._engine = engine
        self._busy_timeout_ms = busy_timeout_ms

    @contextmanager
    def reading(self, tenant: int | None) -> Iterator[sa.Connection]:  # noqa: ARG002 - a file has no row security
        """As `Store.reading`."""
        with _translated(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, tenant: int | None) -> Iterator[sa.Connection]:  # noqa: ARG002 - a file has no row security
        """As `Store.writing`; takes the file's write lock at its start."""
        with _translated(), self._engine.connect() as connection:
            connection.execution_options(telha_writes=True)
            with connection.begin():
                yield connection

    def act_for(self, connection: sa.Connection, tenant: int | None) -> None:
        """Nothing: every row of the file is in reach."""

    def scrub(self) -> bool:
        """As `Store.scrub`: empties the write-ahead log."""
        with _translated(), self._engine.connect() as connection:
            cursor = connection.connection.cursor()
            try:
                busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                cursor.close()
        if busy:
            _log.warning("erased_text_lingers_in_log", reason="a reader holds an older snapshot")
        return not busy

    def close(self) -> None:
        """Close every connection; the last process to close leaves a single file."""
        self._engine.dispose()

    def prepare(self, path: Path) -> None:
        """Refuse a file of something else, then bring it to the log and the schema that this version uses."""
        with self._engine.connect() as connection:
            migrations.refuse_unknown(connection, str(path))
        self._use_write_ahead_log()
        with self.reading(None) as connection:
            if migrations.current(connection) == migrations.HEAD:
                return
        # Inside the write lock: of two processes that start at once, the second finds the work done.
        with self.writing(None) as connection:
            if migrations.refuse_unknown(connection, str(path)) != migrations.HEAD:
                migrations.upgrade(connection)

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


def open_file(url: sa.URL, busy_timeout_ms: int) -> SqliteDatabase:
    """
    Open the file that *url* names, and create or migrate it where needed; missing folders are created.

    Raises:
        StoreUnusable: The address, folder, file or schema cannot be used.
    """
    path = _path(url)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(f"the folder {path.parent} of {PART} cannot be created: {error.strerror}") from error
    database = SqliteDatabase(_engine(path, busy_timeout_ms), busy_timeout_ms)
    try:
        with _opening(path):
            database.prepare(path)
    except BaseException:
        database.close()
        raise
    return database


def schema_of(url: sa.URL, busy_timeout_ms: int) -> Schema:
    """
    What the file that *url* names stands at; a missing one is not made.

    Raises:
        StoreUnusable: It is no store, or a newer version's.
    """
    path = _path(url)
    if not path.exists():
        return Schema(None, migrations.HEAD)
    engine = _engine(path, busy_timeout_ms)
    try:
        with _opening(path), engine.connect() as connection:
            return Schema(migrations.refuse_unknown(connection, str(path)), migrations.HEAD)
    finally:
        engine.dispose()


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
        raise StoreUnusable(f"{PART} {path} cannot be opened: {cause}") from error


def _path(url: sa.URL) -> Path:
    if not url.database or url.database == ":memory:":
        raise StoreUnusable("store.url must name a SQLite file, such as sqlite:///path/to/memory.db")
    return Path(url.database)


def _engine(path: Path, busy_timeout_ms: int) -> sa.Engine:
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
        raise Unavailable(part=PART) from error

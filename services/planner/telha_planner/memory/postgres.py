"""
PostgreSQL under the store: all that is special to it stands here.

Rule 1: a reading is one REPEATABLE READ, READ ONLY snapshot. A writing is READ COMMITTED: `clock.begin` locks the
tenant's row first, so what it reads afterwards is the newest, and commits of a tenant are totally ordered.
Rule 2: the tenant's number is a setting of the transaction, and row-level security shows that tenant's rows alone. A
role that may pass by it is refused at start.
Rule 3: a server that is away, full, restarting or in recovery gives `Unavailable`. Connections that went stale in the
pool are replaced at the start of a transaction, the one place where that is safe.
"""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa
import structlog
from psycopg.pq import Format

from telha_planner.core.errors import Unavailable

from . import migrations, tables
from .database import PART, Database, Schema, StoreUnusable
from .postgres_values import register

MIGRATES_ALONE = "auto"
"""Value of `store.migrate` with which an older schema is brought up to date at opening."""

STATEMENT_WAITS = 30
"""Busy timeouts that a statement may run for: loading a large tenant is one statement per table."""

IDLE_WAITS = 6
"""Busy timeouts that a transaction may stand still for: a frozen process must not hold a tenant's clock for ever."""

_DRIVER = "postgresql+psycopg"
_READS = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITES = "BEGIN ISOLATION LEVEL READ COMMITTED"
_DIRECTORY_LOCK = int.from_bytes(b"telhadir", "big")
_POOL = 8
_CALLERS_CANNOT_CURE = (
    sa.exc.IntegrityError,
    sa.exc.ProgrammingError,
    sa.exc.DataError,
    sa.exc.InterfaceError,
    sa.exc.NotSupportedError,
)

_log = structlog.get_logger(__name__)


class _Cursor(psycopg.Cursor[Any]):
    """Results in binary form, and errors without the lines that quote values."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - the signature is psycopg's
        super().__init__(*arguments, **options)
        self.format = Format.BINARY

    def execute(self, *arguments: Any, **options: Any) -> "_Cursor":  # noqa: ANN401 - the signature is psycopg's
        """As psycopg has it."""
        try:
            return super().execute(*arguments, **options)
        except psycopg.Error as error:
            if error.diag.message_primary:
                error.args = (error.diag.message_primary,)
            raise


class PostgresDatabase(Database):
    """One database of a server; made by `open_database`."""

    def __init__(self, engine: sa.Engine, busy_timeout_ms: int) -> None:
        self._engine = engine
        waits = {
            "lock_timeout": busy_timeout_ms,
            "statement_timeout": busy_timeout_ms * STATEMENT_WAITS,
            "idle_in_transaction_session_timeout": busy_timeout_ms * IDLE_WAITS,
        }
        # Within each transaction, since a pooler between us and the server may give the next one another connection.
        self._waits = "".join(f"; SET LOCAL {name} = {value}" for name, value in waits.items())

    def reading(self, tenant: int | None) -> AbstractContextManager[sa.Connection]:
        """As `Store.reading`."""
        return self._transaction(f"{_READS}{self._waits}; {_setting(tenant)}")

    def writing(self, tenant: int | None) -> AbstractContextManager[sa.Connection]:
        """As `Store.writing`; those without a tenant come one after the other."""
        lock = f"; {_lock_directory()}" if tenant is None else ""
        return self._transaction(f"{_WRITES}{self._waits}; {_setting(tenant)}{lock}")

    def act_for(self, connection: sa.Connection, tenant: int | None) -> None:
        """As `Store.act_for`."""
        connection.exec_driver_sql(_setting(tenant))

    def scrub(self) -> bool:
        """
        As `Store.scrub`: frees what deleted rows held.

        The bytes stay in the free space of the files until they are overwritten, and in the server's log and backups:
        docs/operating.md says what an operator can do about that.
        """
        others = sa.text(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND datname = current_database() "
            "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        names = ", ".join(table.name for table in tables.CONTENT)
        with _translated(), self._engine.connect() as connection:
            busy = bool(connection.execute(others).scalar())
            _driver(connection).execute(f"VACUUM (SKIP_LOCKED TRUE) {names}", prepare=False)
        if busy:
            _log.warning("erased_rows_linger", reason="a reader holds an older snapshot")
        return not busy

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def prepare(self, place: str, migrate: str) -> None:
        """Refuse a role, a database or a schema that cannot be used; fill an empty database."""
        found = self.schema(place).found
        if found == migrations.HEAD:
            return
        if found is not None and migrate != MIGRATES_ALONE:
            raise StoreUnusable(
                f"{PART} {place} stands at schema {found} and this version needs {migrations.HEAD}; "
                'run telha migrate, or set store.migrate = "auto"'
            )
        self.migrate(place)

    def schema(self, place: str) -> Schema:
        """What the database stands at; refuses a role, a database or a schema that cannot be used."""
        with self.reading(None) as connection:
            _refuse_role(connection, place)
            found = migrations.refuse_unknown(connection, place)
            if found == migrations.HEAD:
                _refuse_open_tables(connection, place)
        return Schema(found, migrations.HEAD)

    def migrate(self, place: str) -> None:
        """Bring the schema to this version's; of several that start at once, one does it and the others wait."""
        # Without the usual limits: a migration takes as long as it takes.
        with self._transaction(f"{_WRITES}; {_setting(None)}; {_lock_directory()}") as connection:
            # Looking at a schema needs types that have no binary form.
            _driver(connection).cursor_factory = psycopg.Cursor
            if migrations.refuse_unknown(connection, place) != migrations.HEAD:
                _need_vectors(connection, place)
                migrations.upgrade(connection)
        # Connections learn the types of the database when they are made.
        self._engine.dispose()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
        with _translated(), self._begun(begin) as connection, connection.begin():
            yield connection

    def _begun(self, begin: str) -> sa.Connection:
        """A connection on which the statements *begin* were carried out, in one message."""
        while True:
            connection = self._engine.connect()
            driver = _driver(connection)
            fresh = not connection.info.get("used")
            try:
                # The driver's own cursor: several statements in one message go in its text protocol alone.
                psycopg.Cursor(driver).execute(begin, prepare=False)
            except BaseException as error:
                stale = driver.closed and not fresh
                if driver.closed:
                    connection.invalidate(error)
                connection.close()
                if not stale:
                    raise
                # The server has closed one, so it may have closed them all; nothing has been done on it yet.
                self._engine.dispose()
            else:
                connection.info["used"] = True
                return connection


def open_database(url: sa.URL, busy_timeout_ms: int, migrate: str) -> PostgresDatabase:
    """
    Open the database that *url* names; an empty one gets the schema.

    Args:
        url: As libpq reads it: what it does not say may stand in PGPASSWORD, a service or a password file.
        busy_timeout_ms: How long to wait for a lock, and for a connection.
        migrate: `auto` or `manual`, what to do with an older schema.

    Raises:
        StoreUnusable: The server, role, database or schema cannot be used.
    """
    place = _place(url)
    database = PostgresDatabase(_engine(url, busy_timeout_ms), busy_timeout_ms)
    try:
        with _opening(place):
            database.prepare(place, migrate)
    except BaseException:
        database.close()
        raise
    return database


def schema_of(url: sa.URL, busy_timeout_ms: int) -> Schema:
    """
    What the database that *url* names stands at; nothing is changed.

    Raises:
        StoreUnusable: As `open_database`, but for an older schema.
    """
    place = _place(url)
    database = PostgresDatabase(_engine(url, busy_timeout_ms), busy_timeout_ms)
    try:
        with _opening(place):
            return database.schema(place)
    finally:
        database.close()


@contextmanager
def _opening(place: str) -> Iterator[None]:
    try:
        yield
    except (sa.exc.SQLAlchemyError, psycopg.Error, Unavailable) as error:
        raise StoreUnusable(f"{PART} {place} cannot be opened: {_cause(error)}") from error


def _engine(url: sa.URL, busy_timeout_ms: int) -> sa.Engine:
    seconds = math.ceil(busy_timeout_ms / 1000)
    defaults: dict[str, Any] = {
        "connect_timeout": max(2, seconds),  # libpq takes 1 for 2
        "tcp_user_timeout": busy_timeout_ms,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "application_name": "telha-planner",
    }
    engine = sa.create_engine(
        url.set(drivername=_DRIVER),
        connect_args={
            **{name: value for name, value in defaults.items() if name not in url.query},
            "cursor_factory": _Cursor,
        },
        # We send BEGIN ourselves, together with all that a transaction needs to know.
        isolation_level="AUTOCOMMIT",
        # Errors are logged, and parameters hold texts.
        hide_parameters=True,
        pool_size=_POOL,
        max_overflow=_POOL,
        pool_timeout=seconds,
        use_native_hstore=False,
    )
    sa.event.listen(engine, "connect", lambda connection, _: register(connection))
    return engine


def _driver(connection: sa.Connection) -> "psycopg.Connection[Any]":
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]  # it is ours
    return driver


def _setting(tenant: int | None) -> str:
    number = "" if tenant is None else int(tenant)
    return f"SET LOCAL telha.tenant = '{number}'"


def _lock_directory() -> str:
    return f"SELECT pg_advisory_xact_lock({_DIRECTORY_LOCK})"


def _refuse_role(connection: sa.Connection, place: str) -> None:
    role, passes, encoding = connection.exec_driver_sql(
        "SELECT rolname::text, rolsuper OR rolbypassrls, current_setting('server_encoding') "
        "FROM pg_roles WHERE rolname = current_user"
    ).one()
    if passes:
        raise StoreUnusable(
            f"the role {role} of {PART} {place} passes by row-level security, which keeps tenants apart; "
            "connect as a role that is no superuser and has no BYPASSRLS"
        )
    if encoding != "UTF8":
        raise StoreUnusable(f"{PART} {place} has the encoding {encoding}; make the database with ENCODING 'UTF8'")


def _refuse_open_tables(connection: sa.Connection, place: str) -> None:
    guarded = set(
        connection.exec_driver_sql(
            "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
            "AND relrowsecurity AND relforcerowsecurity"
        ).scalars()
    )
    naked = sorted({table.name for table in tables.CONTENT} - guarded)
    if naked:
        raise StoreUnusable(
            f"row-level security is not in force on {', '.join(naked)} of {PART} {place}; "
            "run ALTER TABLE … FORCE ROW LEVEL SECURITY and ENABLE ROW LEVEL SECURITY on them"
        )


def _need_vectors(connection: sa.Connection, place: str) -> None:
    if connection.exec_driver_sql("SELECT 1 FROM pg_extension WHERE extname = 'vector'").first() is not None:
        return
    if connection.exec_driver_sql("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").first() is None:
        raise StoreUnusable(f"the server of {PART} {place} has no pgvector; install that extension on it")
    try:
        connection.exec_driver_sql("CREATE EXTENSION vector")
    except sa.exc.ProgrammingError as error:
        raise StoreUnusable(
            f"the role of {PART} {place} may not install pgvector; "
            "let a superuser run CREATE EXTENSION vector in that database once"
        ) from error


def _place(url: sa.URL) -> str:
    """The address without what may be secret."""
    host = url.host or _first(url.query.get("host")) or _first(url.query.get("service")) or "local socket"
    port = f":{url.port}" if url.port else ""
    return f"{host}{port}/{url.database or ''}"


def _first(value: str | tuple[str, ...] | None) -> str | None:
    return value[0] if isinstance(value, tuple) else value


def _cause(error: BaseException) -> str:
    cause = error.__cause__ if isinstance(error, Unavailable) and error.__cause__ is not None else error
    original = getattr(cause, "orig", None)
    return " ".join(str(cause if original is None else original).split())


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except _CALLERS_CANNOT_CURE:
        raise  # a fault of ours: a caller cannot cure it by waiting
    except (sa.exc.DBAPIError, sa.exc.TimeoutError, psycopg.OperationalError) as error:
        _log.error("store_failed", error=_cause(error))
        raise Unavailable(part=PART) from error

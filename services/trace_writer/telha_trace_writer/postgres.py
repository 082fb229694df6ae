"""
The trace store on PostgreSQL, for several writers and machines: all that is special to PostgreSQL stands here.

Rule 1: a transaction sees the rows of the tenant that it names (row-level security); only the writer's own work, which
serves all tenants at once, says that it needs all. A role that may pass by the policies is refused.
Rule 2: inserts share a lock that a deletion takes alone: what a deletion did not see is inserted after it, and then
knows of it. Rule 3: no password is in a name, an error or a log.
Rule 4: what holds for a transaction is set in it, since a pooler may give the next one another connection.
"""

import math
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from . import tables
from .faults import StoreUnusable

__all__ = ["Postgres"]

_STATEMENT_WAITS: Final = 30
"""Busy timeouts that a statement may run for: a large tenant is deleted in few statements."""

_IDLE_WAITS: Final = 6
"""Busy timeouts that a transaction may stand still for: a frozen process must not keep deletions waiting for ever."""

_INSERTING: Final = int.from_bytes(b"telhatri", "big")
_MIGRATING: Final = int.from_bytes(b"telhatrm", "big")
_POOL: Final = 8


class Postgres:
    """
    A trace store in the database that *url* names.

    Args:
        url: `postgresql://user:password@host:port/database`, as libpq reads it: what it does not say may stand in
            PGPASSWORD, a service or a password file.
        busy_timeout_ms: How long to wait for a lock, and for a connection.

    Raises:
        StoreUnusable: The driver is not installed, or the URL is malformed.
    """

    made_alone = False

    def __init__(self, url: str, busy_timeout_ms: int) -> None:
        try:
            parsed = sa.make_url(url).set(drivername="postgresql+psycopg")
        except (sa.exc.ArgumentError, ValueError):
            # Neither the URL nor the cause: both may hold the password.
            raise StoreUnusable("writer.store is not an address; write postgresql://user@host:port/database") from None
        self.place = _place(parsed)
        self._waits = (
            ("lock_timeout", busy_timeout_ms),
            ("statement_timeout", busy_timeout_ms * _STATEMENT_WAITS),
            ("idle_in_transaction_session_timeout", busy_timeout_ms * _IDLE_WAITS),
        )
        seconds = math.ceil(busy_timeout_ms / 1000)
        defaults: dict[str, Any] = {
            "connect_timeout": max(2, seconds),  # libpq takes 1 for 2
            "tcp_user_timeout": busy_timeout_ms,
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "application_name": "telha-trace-writer",
        }
        try:
            self.engine = sa.create_engine(
                parsed,
                connect_args={name: value for name, value in defaults.items() if name not in parsed.query},
                # A new snapshot for each statement: what stands behind a lock is seen once the lock is had.
                isolation_level="READ COMMITTED",
                # Errors are logged, and parameters hold records.
                hide_parameters=True,
                pool_size=_POOL,
                max_overflow=_POOL,
                pool_timeout=seconds,
                # After the server was away, connections of before are replaced unnoticed.
                pool_pre_ping=True,
                use_native_hstore=False,
            )
        except ImportError:
            raise StoreUnusable(
                f"the trace store {self.place} needs the PostgreSQL driver; install the extra postgres"
            ) from None

    def refuse_foreign(self, connection: sa.Connection, *, newest: bool) -> None:
        """
        Refuse a role that row-level security does not bind, and tables that it does not guard.

        Raises:
            StoreUnusable: It is one, or some are not.
        """
        role, passes, encoding = connection.exec_driver_sql(
            "SELECT rolname::text, rolsuper OR rolbypassrls, current_setting('server_encoding') "
            "FROM pg_catalog.pg_roles WHERE rolname = current_user"
        ).one()
        if passes:
            raise StoreUnusable(
                f"the role {role} of the trace store {self.place} passes by row-level security, which keeps tenants "
                "apart; connect as a role that is no superuser and has no BYPASSRLS"
            )
        if encoding != "UTF8":
            raise StoreUnusable(
                f"the trace store {self.place} has the encoding {encoding}; make the database with ENCODING 'UTF8'"
            )
        guarded = connection.exec_driver_sql(
            "SELECT relname::text FROM pg_catalog.pg_class WHERE relnamespace = current_schema()::regnamespace "
            "AND relrowsecurity AND relforcerowsecurity"
        )
        naked = sorted(set(tables.metadata.tables) - set(guarded.scalars())) if newest else []
        if naked:
            raise StoreUnusable(
                f"row-level security is not in force on {', '.join(naked)} of the trace store {self.place}; "
                "run ALTER TABLE … FORCE ROW LEVEL SECURITY and ENABLE ROW LEVEL SECURITY on them"
            )

    def prepare(self) -> None:
        """Nothing beyond the schema."""

    def scope(self, connection: sa.Connection, tenant: str | None) -> None:
        """Let the transaction see *tenant* alone; None is every tenant."""
        settings = [("telha.trace_tenant", tenant or ""), ("telha.trace_tenants", "all" if tenant is None else "")]
        _set(connection, *settings, *self._waits)

    def lock_for_migration(self, connection: sa.Connection) -> None:
        """Of several who migrate, one does; the others wait, however long it takes, and find the work done."""
        _set(connection, *((name, 0) for name, _ in self._waits))
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))

    def lock_for_insert(self, connection: sa.Connection) -> None:
        """Insert beside other inserts, never beside a deletion."""
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock_shared(%s)", (_INSERTING,))

    def lock_for_deletion(self, connection: sa.Connection) -> None:
        """Delete when no insert is under way."""
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_INSERTING,))

    def adding(self, table: sa.Table) -> sa.Insert:
        """An insert that leaves rows alone which are there already."""
        return insert(table).on_conflict_do_nothing()

    def scrub(self) -> None:
        """
        Free what deleted rows held.

        The bytes stay in the free space of the files until they are overwritten, and in the server's log and backups:
        docs/operating.md says what an operator can do about that.
        """
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"VACUUM (SKIP_LOCKED TRUE) {', '.join(tables.metadata.tables)}")

    def make_shrinkable(self) -> None:
        """Nothing: the server's own vacuum frees space for new rows."""


def _set(connection: sa.Connection, *settings: tuple[str, str | int]) -> None:
    calls = ", ".join(["set_config(%s, %s, true)"] * len(settings))
    values = tuple(str(word) for setting in settings for word in setting)
    connection.exec_driver_sql(f"SELECT {calls}", values)


def _place(url: sa.URL) -> str:
    """The address without what may be secret."""
    host = url.host or _first(url.query.get("host")) or _first(url.query.get("service")) or "local socket"
    port = f":{url.port}" if url.port else ""
    return f"{host}{port}/{url.database or ''}"


def _first(value: str | tuple[str, ...] | None) -> str | None:
    return value[0] if isinstance(value, tuple) else value

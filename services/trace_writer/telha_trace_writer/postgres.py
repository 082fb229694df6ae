"""
The trace store on PostgreSQL, for several writers and machines: all that is special to PostgreSQL stands here.

Rule 1: a transaction sees the rows of the tenant that it names (row-level security); only the writer's own work, which
serves all tenants at once, says that it needs all. So the role must be one that the policies bind.
Rule 2: inserts share a lock that a deletion takes alone: what a deletion did not see is inserted after it, and then
knows of it. Rule 3: no password is in a name, an error or a log.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from .faults import StoreUnusable

__all__ = ["Postgres"]

_CONNECT_S = 5
_SILENT_MS = 10_000
"""A server that acknowledges nothing for this long is away."""

_INSERTING = 0x54_4C_48_41_00_01
_MIGRATING = 0x54_4C_48_41_00_02
"""Names of advisory locks in this database ("TLHA" and a number), which other programs do not use."""


class Postgres:
    """
    A trace store in the database that *url* names, `postgresql://user:password@host:port/database`.

    Args:
        busy_timeout_ms: How long a statement waits for a lock.

    Raises:
        StoreUnusable: The driver is not installed, or the URL is malformed.
    """

    def __init__(self, url: str, busy_timeout_ms: int) -> None:
        try:
            parsed = sa.make_url(url).set(drivername="postgresql+psycopg")
        except (sa.exc.ArgumentError, ValueError):
            # Neither the URL nor the cause: both may hold the password.
            raise StoreUnusable("the trace store's address is no postgresql://user@host:port/database") from None
        self.place = parsed.set(drivername="postgresql", password=None, query={}).render_as_string()
        try:
            self.engine = sa.create_engine(
                parsed,
                connect_args={
                    "connect_timeout": _CONNECT_S,
                    "tcp_user_timeout": _SILENT_MS,
                    "options": f"-c lock_timeout={busy_timeout_ms} -c timezone=UTC",
                    "application_name": "telha-trace-writer",
                },
                # A new snapshot for each statement, so that what stands behind a lock is seen once the lock is had.
                isolation_level="READ COMMITTED",
                # Errors are logged, and parameters hold records.
                hide_parameters=True,
                pool_size=8,
                max_overflow=8,
                pool_timeout=_CONNECT_S,
                # After the server was away, connections of before are replaced unnoticed.
                pool_pre_ping=True,
            )
        except ImportError:
            raise StoreUnusable(
                f"the trace store {self.place} needs the PostgreSQL driver; install telha[postgres]"
            ) from None

    def refuse_foreign(self, connection: sa.Connection, revision: str | None) -> None:  # noqa: ARG002  # SQLite asks
        """
        Refuse a role that row-level security does not bind.

        Raises:
            StoreUnusable: The role is a superuser or has BYPASSRLS.
        """
        free = connection.exec_driver_sql(
            "SELECT rolsuper OR rolbypassrls FROM pg_catalog.pg_roles WHERE rolname = current_user"
        ).scalar()
        if free:
            raise StoreUnusable(
                f"the trace store {self.place} is opened as a superuser or a role with BYPASSRLS, "
                "which row-level security does not bind; use a plain role that owns the database"
            )

    def prepare(self) -> None:
        """Nothing beyond the schema."""

    def scope(self, connection: sa.Connection, tenant: str | None) -> None:
        """Let the transaction see *tenant* alone; None is every tenant."""
        if tenant is None:
            connection.exec_driver_sql("SELECT set_config('telha.trace_tenants', 'all', true)")
        else:
            connection.exec_driver_sql("SELECT set_config('telha.trace_tenant', %s, true)", (tenant,))

    def lock_for_migration(self, connection: sa.Connection) -> None:
        """Of several who migrate, one does; the others wait, however long it takes, and find the work done."""
        waits = connection.exec_driver_sql("SELECT current_setting('lock_timeout')").scalar()
        connection.exec_driver_sql("SELECT set_config('lock_timeout', '0', true)")
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
        # The tables themselves are not waited for: whoever queues for one keeps every reader behind it waiting.
        connection.exec_driver_sql("SELECT set_config('lock_timeout', %s, true)", (waits,))

    def lock_for_insert(self, connection: sa.Connection) -> None:
        """Insert beside other inserts, never beside a deletion."""
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock_shared(%s)", (_INSERTING,))

    def lock_for_deletion(self, connection: sa.Connection) -> None:
        """Delete when no insert is under way."""
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_INSERTING,))

    def adding(self, table: sa.Table) -> sa.Insert:
        """An insert that leaves rows alone which are there already."""
        return insert(table).on_conflict_do_nothing()

    def scrub(self) -> bool:
        """Pages and logs of PostgreSQL are its own: VACUUM frees the space in its time, see docs/operating.md."""
        return True

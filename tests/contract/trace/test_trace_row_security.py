"""Row-level security of the trace store on PostgreSQL, tried past the store's own statements."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from fixtures.postgres import PostgresServer
from psycopg import sql
from telha_trace_writer import ageing, tables
from telha_trace_writer.opening import migrate, open_store
from telha_trace_writer.spools import Report, Spools
from telha_trace_writer.store import Buried, Store, StoreUnusable
from trace_stores import T, a_row, ids


@pytest.fixture
def filled(empty_postgres: str) -> Iterator[Store]:
    """Rows of two tenants in every table."""
    store = open_store(empty_postgres, 10_000)
    store.insert([a_row(number, tenant) for tenant in ("acme", "rival") for number in range(3)])
    for tenant in ("acme", "rival"):
        store.bury([Buried(f"1-{len(tenant)}", tenant, str(uuid4()), T + 9, T, "r", b"")])
        store.delete_tenant(tenant, T)
        store.insert([a_row(0, tenant)])
    ageing.remove_bytes(store, 1, 1, T)
    ageing.remove_before(store, T + 2, 1)
    store.insert([a_row(3, tenant) for tenant in ("acme", "rival")])
    Spools(store, lambda: T).report([Report(str(uuid4()), T)])
    store.bury([Buried("2-0", "", None, T, T, "r", b"")])
    yield store
    store.close()


def seen(place: str, *settings: str) -> dict[str, set[str]]:
    """The tenants that statements without a condition find in each table, under *settings*."""
    with psycopg.connect(place) as connection:
        for setting in settings:
            connection.execute(f"SET LOCAL {setting}")
        return {
            table: {
                row[0] for row in connection.execute(sql.SQL("SELECT tenant FROM {}").format(sql.Identifier(table)))
            }
            for table in tables.metadata.tables
            if table != tables.trace_spool.name
        }


def test_a_transaction_sees_the_tenant_that_it_names(filled: Store, empty_postgres: str) -> None:
    """A6: even a statement that forgets its tenant reads no row of another; without a tenant it reads none."""
    every = seen(empty_postgres, "telha.trace_tenants = 'all'")
    assert all(tenants >= {"acme", "rival"} for tenants in every.values())
    assert every["trace_dead_letter"] == {"acme", "rival", ""}
    assert all(tenants == {"acme"} for tenants in seen(empty_postgres, "telha.trace_tenant = 'acme'").values())
    for settings in ((), ("telha.trace_tenant = ''",), ("telha.trace_tenant = 'all'",), ("telha.trace_tenants = 'x'",)):
        assert not any(seen(empty_postgres, *settings).values())


def test_only_the_writer_itself_sees_how_far_spools_are(filled: Store, empty_postgres: str) -> None:
    """A6: which planners there are is nobody's row."""
    asked = "SELECT count(*) FROM trace_spool"
    with psycopg.connect(empty_postgres) as connection:
        connection.execute("SET LOCAL telha.trace_tenant = 'acme'")
        assert connection.execute(asked).fetchone() == (0,)
        connection.execute("SET LOCAL telha.trace_tenants = 'all'")
        assert connection.execute(asked).fetchone() == (1,)


def test_nothing_can_be_written_for_another_tenant(filled: Store, empty_postgres: str) -> None:
    """A6: the policies hold for writes too."""
    with psycopg.connect(empty_postgres) as connection:
        connection.execute("SET LOCAL telha.trace_tenant = 'acme'")
        assert connection.execute("DELETE FROM trace").rowcount == 2
        assert connection.execute("UPDATE trace_deletion SET traces = 0").rowcount == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO trace_dropped VALUES ('rival', 'x')")


def test_the_store_reads_under_its_tenant(filled: Store) -> None:
    """A6: fetch and browse would find nothing of another tenant, whatever their statements say."""
    with filled.transaction("acme") as connection:
        assert {row.tenant for row in connection.execute(tables.trace.select())} == {"acme"}


@pytest.mark.parametrize("right", ["SUPERUSER", "BYPASSRLS"])
def test_a_role_that_passes_by_the_policies_is_refused(
    postgres: PostgresServer, empty_postgres: str, right: str
) -> None:
    """A6: in one sentence, before anything is made."""
    role = f"telha_{right.lower()}"
    with psycopg.connect(postgres.admin, autocommit=True) as admin:
        admin.execute(f"DROP ROLE IF EXISTS {role}")
        admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'p' {right}")
    database = empty_postgres.rpartition("/")[2].partition("?")[0]
    place = postgres.url(database, role=role, password="p")
    for attempt in (open_store, migrate):
        with pytest.raises(StoreUnusable, match=f"the role {role} of the trace store .* passes by row-level security"):
            attempt(place, 5000)
    with psycopg.connect(postgres.admin, autocommit=True) as admin:
        admin.execute(f"DROP ROLE {role}")


def test_a_table_whose_policies_are_not_forced_is_refused(filled: Store, empty_postgres: str) -> None:
    """A6: the owner of the tables is bound only while they force it."""
    with psycopg.connect(empty_postgres) as connection:
        connection.execute("ALTER TABLE trace NO FORCE ROW LEVEL SECURITY")
        connection.execute("ALTER TABLE trace_space DISABLE ROW LEVEL SECURITY")
    with pytest.raises(
        StoreUnusable, match="row-level security is not in force on trace, trace_space of the trace store"
    ):
        open_store(empty_postgres, 5000)


def test_an_older_schema_is_migrated_only_when_told(empty_postgres: str) -> None:
    """A9: several writers share a database; a start of one does not change it under the others."""
    store = open_store(empty_postgres, 5000)
    store.insert([a_row(1)])
    with store.transaction(writes=True) as connection:
        for table in ("trace_retention", "trace_spool"):
            connection.exec_driver_sql(f"DROP TABLE {table}")
        connection.exec_driver_sql("DROP INDEX trace_dead_letter_by_age")
        connection.exec_driver_sql(
            "ALTER TABLE trace DROP COLUMN bytes, DROP COLUMN used_share, DROP COLUMN arrived_us"
        )
        connection.exec_driver_sql("ALTER TABLE trace_space DROP COLUMN used_share, DROP COLUMN stranded")
        for index in ("trace_by_time", "trace_by_key"):
            connection.exec_driver_sql(f"CREATE INDEX {index} ON trace (tenant, recorded_us, trace_id)")
        connection.exec_driver_sql("UPDATE telha_trace_schema SET version_num = '0003'")
    store.close()
    with pytest.raises(
        StoreUnusable, match=r"stands at schema 0003 and this version needs 0006; run telha-trace-writer"
    ):
        open_store(empty_postgres, 5000)
    store = open_store(empty_postgres, 5000, migrates=True)
    assert len(ids(store, min_used_share=0.3, max_used_share=0.4, stranded=True)) == 1
    assert len(ids(store, space="main", min_used_share=700 / 1800, stranded=True)) == 1
    assert ids(store, space="main", min_used_share=0.4) == []
    assert ageing.volume(store) == len(store.fetch("acme", ids(store)[0]).record)
    store.close()


def test_traces_share_a_database_with_other_tables(empty_postgres: str) -> None:
    """M6: every name of the trace store begins with `trace` or is its version table."""
    with psycopg.connect(empty_postgres) as connection:
        connection.execute("CREATE TABLE source (tenant int)")
    open_store(empty_postgres, 5000).close()
    with psycopg.connect(empty_postgres) as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace"
        )
        names = {row[0] for row in found}
    assert all(name.startswith(("trace", "telha_trace_schema")) for name in names - {"source"})

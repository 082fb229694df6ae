"""Row-level security on PostgreSQL: a transaction meets the rows of its own tenant, whatever its statements say."""

from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa
from fixtures.postgres import PostgresServer
from memory_builders import JUNE, a_tenant
from telha_planner.memory import tables
from telha_planner.memory.bulk import bulk_close, bulk_insert
from telha_planner.memory.float_vector import FloatVector
from telha_planner.memory.store import Store, StoreUnusable

EVERY_TABLE = pytest.mark.parametrize("table", tables.CONTENT, ids=str)


def a_row(table: sa.Table, tenant: int) -> tuple[object, ...]:
    """A row of *tenant* that the types of *table* allow."""
    values: dict[type[object], object] = {FloatVector: bytes(8), sa.Text: "x", sa.LargeBinary: bytes(16)}

    def value(column: sa.Column[object]) -> object:
        return next((value for kind, value in values.items() if isinstance(column.type, kind)), 1)

    return tuple(tenant if column.name == "tenant" else value(column) for column in table.columns)


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    found = Store.open(postgres_url, busy_timeout_ms=10_000)
    yield found
    found.close()


@pytest.fixture
def tenants(store: Store) -> tuple[int, int]:
    """Two tenants with one row in each table."""
    found = a_tenant(store)[0], a_tenant(store, "beta")[0]
    for tenant in found:
        with store.writing(tenant) as connection:
            for table in tables.CONTENT:
                bulk_insert(connection, table, [a_row(table, tenant)])
    return found


@EVERY_TABLE
def test_only_the_own_rows_can_be_read(store: Store, tenants: tuple[int, int], table: sa.Table) -> None:
    """A6: without any condition a tenant sees its own row, and no tenant sees none."""
    for tenant in tenants:
        with store.reading(tenant) as connection:
            assert connection.execute(sa.select(table.c.tenant)).scalars().all() == [tenant]
            assert connection.execute(sa.select(table).where(table.c.tenant != tenant)).all() == []
    for transaction in (store.reading(), store.writing()):
        with transaction as connection:
            assert connection.execute(sa.select(table)).all() == []


@EVERY_TABLE
def test_only_the_own_rows_can_be_changed(store: Store, tenants: tuple[int, int], table: sa.Table) -> None:
    """A6: an UPDATE and a DELETE without any condition leave the other tenant's row alone."""
    mine, other = tenants
    column = [column for column in table.columns if not column.primary_key][-1:] or [table.c.tenant]
    with store.writing() as connection:
        assert connection.execute(sa.update(table).values({column[0]: column[0]})).rowcount == 0
        assert connection.execute(sa.delete(table)).rowcount == 0
    with store.writing(mine) as connection:
        assert connection.execute(sa.update(table).values({column[0]: column[0]})).rowcount == 1
        assert connection.execute(sa.delete(table).where(table.c.tenant == other)).rowcount == 0
        assert connection.execute(sa.delete(table)).rowcount == 1
    with store.reading(other) as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() == 1


@EVERY_TABLE
def test_no_row_can_be_written_for_another(store: Store, table: sa.Table) -> None:
    """A6: neither inserted nor given away, with or without a tenant of one's own."""
    mine, other = a_tenant(store)[0], a_tenant(store, "beta")[0]
    for tenant in (mine, None):
        with pytest.raises(sa.exc.ProgrammingError, match="row-level security"), store.writing(tenant) as connection:
            bulk_insert(connection, table, [a_row(table, other)])
        with pytest.raises(sa.exc.ProgrammingError, match="row-level security"), store.writing(tenant) as connection:
            connection.execute(sa.insert(table).values(a_row(table, other)))
    with store.writing(mine) as connection:
        bulk_insert(connection, table, [a_row(table, mine)])
    with pytest.raises(sa.exc.ProgrammingError, match="row-level security"), store.writing(mine) as connection:
        connection.execute(sa.update(table).values(tenant=other))


def test_closing_by_number_stays_inside(store: Store, tenants: tuple[int, int]) -> None:
    """A6: a number of the other tenant's closes nothing there."""
    mine, other = tenants
    with store.writing(mine) as connection:
        bulk_close(connection, tables.edge, other, [1], JUNE)
    with store.reading(other) as connection:
        assert connection.execute(sa.select(tables.edge.c.tx_to)).scalar() == 1


def test_a_setting_ends_with_its_transaction(store: Store, tenants: tuple[int, int]) -> None:
    """A6: the next user of a pooled connection does not inherit a tenant."""
    for _ in range(3):
        with store.reading(tenants[0]) as connection:
            assert len(connection.execute(sa.select(tables.space)).all()) == 1
        with store.reading() as connection:
            assert connection.execute(sa.select(tables.space)).all() == []
            store.act_for(connection, tenants[1])
            assert connection.execute(sa.select(tables.space.c.tenant)).scalars().all() == [tenants[1]]


def test_the_directory_holds_no_content() -> None:
    """A6: what is exempt is named, with nothing but names, numbers, instants, hashes and rights in it."""
    assert {table.name for table in tables.DIRECTORY} == {"tenant", "clock", "api_key", "deleted_tenant"}
    assert set(tables.CONTENT) | set(tables.DIRECTORY) == set(tables.metadata.tables.values())


@pytest.mark.parametrize("right", ["SUPERUSER", "BYPASSRLS"])
def test_a_role_that_passes_by_is_refused(postgres: PostgresServer, postgres_url: str, right: str) -> None:
    """A6: the planner does not start where the wall would not hold."""
    name = sa.make_url(postgres_url).database
    assert name is not None
    with psycopg.connect(postgres.admin, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE mighty LOGIN {right} PASSWORD 'x'")
        admin.execute("GRANT telha_test TO mighty")
        try:
            with pytest.raises(StoreUnusable, match=r"the role mighty .* passes by row-level security.*no BYPASSRLS"):
                Store.open(postgres.url(name, role="mighty", password="x"), busy_timeout_ms=1000)
        finally:
            admin.execute("DROP ROLE mighty")


def test_a_table_without_its_guard_is_refused(postgres: PostgresServer, fresh_database: str) -> None:
    """A6: somebody turned it off; the planner says where, and does not start."""
    url = postgres.url(fresh_database)
    Store.open(url, busy_timeout_ms=1000).close()
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ALTER TABLE span NO FORCE ROW LEVEL SECURITY")
        with pytest.raises(StoreUnusable, match="row-level security is not in force on span of"):
            Store.open(url, busy_timeout_ms=1000)
        owner.execute("ALTER TABLE span FORCE ROW LEVEL SECURITY")
    Store.open(url, busy_timeout_ms=1000).close()

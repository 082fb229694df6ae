import traceback

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from memory_builders import JUNE, a_document, a_tenant, a_writer, dump
from telha_planner.core.errors import Unavailable
from telha_planner.memory import clock, migrations, tables
from telha_planner.memory.store import Store, StoreUnusable


def test_the_migrations_make_exactly_the_schema(store: Store, store_url: str) -> None:
    """M6: one schema; the scripts and the tables agree."""
    engine = sa.create_engine(store_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": migrations.VERSION_TABLE})
        assert compare_metadata(context, tables.metadata) == []
    engine.dispose()


@pytest.mark.parametrize("table", tables.CONTENT, ids=str)
def test_every_table_of_content_is_keyed_by_tenant_first(table: sa.Table) -> None:
    """M6: its key, and all that looks it up, so that it can be distributed by tenant."""
    assert next(iter(table.primary_key.columns)).name == "tenant"
    uniques = [constraint for constraint in table.constraints if isinstance(constraint, sa.UniqueConstraint)]
    for index in (*uniques, *table.indexes):
        assert next(iter(index.columns)).name == "tenant"


def test_the_directory_is_small_enough_to_be_everywhere() -> None:
    """M6: its tables are keyed by tenant too, but for the keys, which are what tells the tenant."""
    keys = {table.name: next(iter(table.primary_key.columns)).name for table in tables.DIRECTORY}
    assert keys.pop("api_key") == "key_id"
    assert set(keys.values()) == {"tenant"}


def test_the_head_is_the_newest_script() -> None:
    """M6: the fast path of a start looks for the newest revision."""
    scripts = ScriptDirectory.from_config(migrations._configuration())
    assert scripts.get_heads() == [migrations.HEAD]
    assert migrations.known(migrations.HEAD)
    assert not migrations.known("9999")


SECRET = "hunter2"


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "mysql://h/d",
        "postgresql+asyncpg://h/d",
        "memory.db",
        "",
        f"postgresql://telha:{SECRET}@h:port/d",
        f"postgres://telha:{SECRET}@h/d",
        f"telha:{SECRET}@h/d",
    ],
)
def test_an_address_that_names_no_store_is_refused(url: str) -> None:
    """A6: and no password is shown, wherever it stands."""
    with pytest.raises(StoreUnusable, match=r"store\.url") as refused:
        Store.open(url, busy_timeout_ms=1)
    assert SECRET not in "".join(traceback.format_exception(refused.value))


def test_a_writer_that_waits_too_long_is_told_to_try_again(store_url: str) -> None:
    """M6: no driver error reaches a caller."""
    store = Store.open(store_url, busy_timeout_ms=200)
    tenant, _ = a_tenant(store)
    writer, now = a_writer(store)
    with store.writing(tenant) as connection:
        clock.begin(connection, tenant, now)
        with pytest.raises(Unavailable, match="the memory store is not available"):
            writer.write_documents(tenant, [a_document("a", ["one"])])
    assert writer.write_documents(tenant, [a_document("a", ["one"])]).tx == JUNE
    store.close()


def test_a_read_is_one_snapshot(store: Store) -> None:
    """M6: statements of one read agree, whatever is committed meanwhile."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    count = sa.select(sa.func.count()).select_from(tables.source)
    with store.reading(tenant) as connection:
        assert connection.execute(count).scalar() == 0
        writer.write_documents(tenant, [a_document("a", ["one"])])
        assert connection.execute(count).scalar() == 0
    with store.reading(tenant) as connection:
        assert connection.execute(count).scalar() == 1


def test_a_failed_write_leaves_nothing(store: Store) -> None:
    """M3: a transaction is whole or absent."""
    tenant, _ = a_tenant(store)
    before = dump(store)
    insert = sa.insert(tables.space).values(tenant=tenant, space_no=1, name="x")
    with pytest.raises(sa.exc.IntegrityError), store.writing(tenant) as connection:
        _twice(connection, insert)
    assert dump(store) == before


def _twice(connection: sa.Connection, statement: sa.Insert) -> None:
    connection.execute(statement)
    connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT :name FROM absent WHERE x = :number",
        "INSERT INTO tenant (tenant, name) VALUES (:number, :name), (:number, :name)",
    ],
)
def test_an_error_of_the_store_quotes_no_text(store: Store, statement: str) -> None:
    """A8: callers' texts never enter a message that may be logged."""
    with pytest.raises((sa.exc.DBAPIError, Unavailable)) as caught, store.writing() as connection:
        connection.execute(sa.text(statement), {"number": 7, "name": "canary"})
    error = caught.value if isinstance(caught.value, sa.exc.DBAPIError) else caught.value.__cause__
    assert isinstance(error, sa.exc.DBAPIError)
    assert "canary" in repr(error.params)
    assert "canary" not in "".join(traceback.format_exception_only(error) + traceback.format_exception_only(error.orig))

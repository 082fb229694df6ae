import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from memory_builders import JUNE, a_document, a_tenant, a_writer, dump, opened
from telha_planner.core.errors import Unavailable
from telha_planner.memory import migrations, tables
from telha_planner.memory.store import Store, StoreUnusable


def _open(path: Path) -> Store:
    return Store.open(f"sqlite:///{path}", busy_timeout_ms=200)


def test_the_migrations_make_exactly_the_schema(store: Store) -> None:
    """M6: one schema; the scripts and the tables agree."""
    with store.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": migrations.VERSION_TABLE})
        assert compare_metadata(context, tables.metadata) == []


def test_the_head_is_the_newest_script() -> None:
    """M6: the fast path of a start looks for the newest revision."""
    scripts = ScriptDirectory.from_config(migrations._configuration())
    assert scripts.get_heads() == [migrations.HEAD]
    assert migrations.known(migrations.HEAD)
    assert not migrations.known("9999")


def test_a_missing_folder_is_made_and_a_second_open_changes_nothing(tmp_path: Path) -> None:
    """M6: an embedded store needs no preparation."""
    folder = tmp_path / "a" / "b c"
    folder.mkdir(parents=True)
    folder = folder / "deeper"
    opened(folder).close()
    before = dump(folder)
    opened(folder).close()
    assert dump(folder) == before


def test_it_is_durable_and_lets_readers_pass(store: Store) -> None:
    """M6: write-ahead log, full synchronisation, deleted bytes overwritten."""
    with store.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA secure_delete").scalar() == 1


def test_a_file_that_is_no_database_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("shopping list\n" * 400)
    with pytest.raises(StoreUnusable, match=r"notes\.db cannot be opened: file is not a database"):
        _open(path)
    assert path.read_text().startswith("shopping")


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE recipes (name TEXT)")
    other.close()
    with pytest.raises(StoreUnusable, match="a database of something else"):
        _open(path)
    other = sqlite3.connect(path)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]
    other.close()


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).close()
    newer = sqlite3.connect(tmp_path / "memory.db")
    with newer:
        newer.execute(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '0999'")
    newer.close()
    with pytest.raises(StoreUnusable, match=rf"schema 0999, this version knows {migrations.HEAD}"):
        _open(tmp_path / "memory.db")


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://h/d", "memory.db", ""])
def test_an_address_that_names_no_file_is_refused(url: str) -> None:
    with pytest.raises(StoreUnusable, match=r"store\.url"):
        Store.open(url, busy_timeout_ms=1)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnusable, match="cannot be created: Not a directory"):
        _open(tmp_path / "file" / "sub" / "memory.db")


def test_a_path_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "memory.db").mkdir()
    with pytest.raises(StoreUnusable, match="unable to open database file"):
        _open(tmp_path / "memory.db")


def test_a_writer_that_waits_too_long_is_told_to_try_again(tmp_path: Path) -> None:
    """M6: no driver error reaches a caller."""
    store = _open(tmp_path / "memory.db")
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    with store.writing(), pytest.raises(Unavailable, match="the memory store is not available"):
        writer.write_documents(tenant, [a_document("a", ["one"])])
    assert writer.write_documents(tenant, [a_document("a", ["one"])]).tx == JUNE
    store.close()


def test_a_read_is_one_snapshot(store: Store) -> None:
    """M6: statements of one read agree, whatever is committed meanwhile."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    count = sa.select(sa.func.count()).select_from(tables.source)
    with store.reading() as connection:
        assert connection.execute(count).scalar() == 0
        writer.write_documents(tenant, [a_document("a", ["one"])])
        assert connection.execute(count).scalar() == 0
    with store.reading() as connection:
        assert connection.execute(count).scalar() == 1


def test_a_failed_write_leaves_nothing(store: Store, tmp_path: Path) -> None:
    """M3: a transaction is whole or absent."""
    tenant, _ = a_tenant(store)
    before = dump(tmp_path)
    insert = sa.insert(tables.space).values(tenant=tenant, space_no=1, name="x")
    with pytest.raises(sa.exc.IntegrityError), store.writing() as connection:
        _twice(connection, insert)
    assert dump(tmp_path) == before


def _twice(connection: sa.Connection, statement: sa.Insert) -> None:
    connection.execute(statement)
    connection.execute(statement)


@pytest.mark.parametrize(
    "statement", ["SELECT ?1 FROM absent WHERE x = ?2", "INSERT INTO tenant (tenant, name) VALUES (?1, ?2), (?1, ?2)"]
)
def test_an_error_of_the_store_quotes_no_text(store: Store, statement: str) -> None:
    """A8: callers' texts never enter a message that may be logged."""
    with pytest.raises((sa.exc.DBAPIError, Unavailable)) as caught, store.writing() as connection:
        connection.exec_driver_sql(statement, (7, "canary"))
    error = caught.value if isinstance(caught.value, sa.exc.DBAPIError) else caught.value.__cause__
    assert isinstance(error, sa.exc.DBAPIError)
    assert error.params == (7, "canary")
    assert "canary" not in str(error)

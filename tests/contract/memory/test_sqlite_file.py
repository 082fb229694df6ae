"""What is special to the embedded store: a file and its folder."""

import sqlite3
from pathlib import Path

import pytest
from memory_builders import a_tenant, dump, opened
from telha_planner.memory import migrations
from telha_planner.memory.store import Store, StoreUnusable


def _open(path: Path) -> Store:
    return Store.open(f"sqlite:///{path}", busy_timeout_ms=200)


def test_a_missing_folder_is_made_and_a_second_open_changes_nothing(tmp_path: Path) -> None:
    """M6: an embedded store needs no preparation."""
    folder = tmp_path / "a" / "b c"
    folder.mkdir(parents=True)
    folder = folder / "deeper"
    first = opened(folder)
    a_tenant(first)
    before = dump(first)
    first.close()
    second = opened(folder)
    assert dump(second) == before
    second.close()


def test_it_is_durable_and_lets_readers_pass(tmp_path: Path) -> None:
    """M6: write-ahead log, full synchronisation, deleted bytes overwritten."""
    store = opened(tmp_path)
    with store.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA secure_delete").scalar() == 1
    store.close()


def test_a_file_that_is_no_database_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """M6: a file that is no database is refused in one sentence."""
    path = tmp_path / "notes.db"
    path.write_text("shopping list\n" * 400)
    with pytest.raises(StoreUnusable, match=r"notes\.db cannot be opened: file is not a database"):
        _open(path)
    assert path.read_text().startswith("shopping")


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """M6: a database of something else is left alone."""
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
    """M6: a newer schema is refused."""
    opened(tmp_path).close()
    newer = sqlite3.connect(tmp_path / "memory.db")
    with newer:
        newer.execute(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '0999'")
    newer.close()
    with pytest.raises(StoreUnusable, match=rf"schema 0999, this version knows {migrations.HEAD}"):
        _open(tmp_path / "memory.db")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """M6: a folder that cannot be made is named."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnusable, match="cannot be created: Not a directory"):
        _open(tmp_path / "file" / "sub" / "memory.db")


def test_a_path_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """M6: a path that cannot be opened is named."""
    (tmp_path / "memory.db").mkdir()
    with pytest.raises(StoreUnusable, match="unable to open database file"):
        _open(tmp_path / "memory.db")

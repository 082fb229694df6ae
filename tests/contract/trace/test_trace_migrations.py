"""Stores of before: opened, migrated, left alone, and never half."""

import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from telha_runtime.frame import Frame
from telha_trace_writer import letters, migrations, opening
from telha_trace_writer.opening import Schema, examine, migrate, open_store
from telha_trace_writer.record import row_of
from telha_trace_writer.store import Deletion, Store, StoreUnusable
from trace_stores import T, a_row, ids

OLD = Path(__file__).parents[2] / "fixtures" / "traces-version-1.db"
"""Written by the program that kept its version in `PRAGMA user_version` and its spaces in JSON alone."""


def uid(number: int) -> str:
    return f"0199a3f2-7c1e-7d7b-9a53-{number:012x}"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return Path(shutil.copy(OLD, tmp_path / "traces.db"))


def contents(path: Path) -> list:
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT tenant, lower(hex(trace_id)), record FROM trace ORDER BY 1, 2").fetchall()
    connection.close()
    return rows


def test_a_file_of_before_loses_nothing(old: Path) -> None:
    """M6: every trace and dead letter is there, byte for byte, and listed by its spaces and its key."""
    before = contents(old)
    assert len(before) == 10
    assert examine(old, 1000) == Schema(str(old), "0001", migrations.HEAD)
    store = open_store(old, 1000)
    assert contents(old) == before
    for tenant, trace_id, record in before:
        row = store.fetch(tenant, trace_id)
        assert row == row_of(Frame("s", 1, row.trace_id, tenant, record))
    assert ids(store) == [uid(number) for number in (10, 9, 6, 5, 4, 3, 2, 1)]
    assert ids(store, space="agent-7") == [uid(number) for number in (6, 5, 2)]
    assert ids(store, space="👩‍👩‍👧") == [uid(6), uid(2)]
    assert ids(store, allowed=("agent-7",), key_id="keyofagent07") == [uid(5), uid(3)]
    assert ids(store, allowed=("会議室", "main"), key_id="nobody") == [uid(10), uid(4), uid(1)]
    assert ids(store, "株式会社", space="main") == [uid(8), uid(7)]
    attributed, unknown = list(letters.with_content(store))
    assert (attributed.tenant, attributed.trace_id) == ("acme", uid(99))
    assert attributed.recorded_us == (0x0199A3F27C1E) * 1000
    assert (unknown.tenant, unknown.trace_id, unknown.reason) == ("", None, "the entry has no field f")
    assert set(store.persisted([uid(number) for number in range(12)] + [uid(99)])) == {
        uid(number) for number in (*range(1, 11), 99)
    }
    assert store.delete_tenant("acme", T + 10) == Deletion(8, 1, 0)
    store.close()


def test_a_program_of_before_refuses_what_was_migrated(old: Path) -> None:
    """M6: it looks at the version it knows of."""
    open_store(old, 1000).close()
    with sqlite3.connect(old) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    connection.close()


def test_it_migrates_while_readers_are_connected(old: Path) -> None:
    """M6, A9: a reader in the middle of a snapshot neither waits nor breaks, and sees the new state afterwards."""
    reader = sqlite3.connect(old, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM trace").fetchone() == (10,)
    assert migrate(old, 1000) == Schema(str(old), "0001", migrations.HEAD)
    assert reader.execute("SELECT count(*) FROM dead_letter").fetchone() == (2,)
    reader.execute("COMMIT")
    assert reader.execute("SELECT count(*) FROM trace_dead_letter").fetchone() == (2,)
    reader.close()


def test_a_file_that_somebody_holds_is_told_in_one_sentence(old: Path) -> None:
    """M6: a reader of a file without write-ahead log keeps it from getting one."""
    holder = sqlite3.connect(old, isolation_level=None)
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("BEGIN")
    holder.execute("SELECT count(*) FROM trace")
    with pytest.raises(StoreUnusable, match=r"traces\.db cannot be used: database is locked"):
        open_store(old, 50)
    holder.close()
    open_store(old, 50).close()


def test_a_migration_that_fails_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """M6: all steps are one transaction."""
    before = contents(old)

    def fail_at_the_end(connection: sa.Connection) -> None:
        upgrade(connection)
        assert sa.inspect(connection).has_table("trace_space")
        raise RuntimeError("after the last step")

    upgrade = migrations.upgrade
    monkeypatch.setattr(migrations, "upgrade", fail_at_the_end)
    with pytest.raises(RuntimeError, match="after the last step"):
        migrate(old, 1000)
    monkeypatch.undo()
    assert examine(old, 1000).revision == "0001"
    assert contents(old) == before
    assert migrate(old, 1000).pending
    assert not examine(old, 1000).pending


def test_of_several_that_migrate_at_once_one_does(place: str) -> None:
    """A9: concurrent starts are safe, on an empty database too."""
    gate = threading.Barrier(4)

    def start(_: int) -> Store:
        gate.wait()
        return open_store(place, 20_000)

    with ThreadPoolExecutor() as pool:
        stores = list(pool.map(start, range(4)))
    assert [store.insert([a_row(number)]).stored for number, store in enumerate(stores)] == [1] * 4
    for store in stores:
        store.close()
    assert examine(place, 1000).revision == migrations.HEAD


def test_an_empty_store_is_pending_and_looking_makes_nothing(place: str, tmp_path: Path) -> None:
    """A9: `--check` changes nothing."""
    assert examine(place, 1000).pending
    assert examine(place, 1000).revision is None
    assert list(tmp_path.iterdir()) == []
    assert migrate(place, 1000).revision is None
    assert not examine(place, 1000).pending
    assert migrate(place, 1000) == examine(place, 1000)


def test_a_newer_store_is_refused(place: str) -> None:
    """M6: and left as it is."""
    store = open_store(place, 1000)
    with store.transaction(writes=True) as connection:
        connection.exec_driver_sql(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '0999'")
    store.close()
    for attempt in (open_store, migrate, examine):
        with pytest.raises(StoreUnusable, match=rf"schema 0999, this version knows {migrations.HEAD}"):
            attempt(place, 1000)


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """M6: a file with tables that are not ours."""
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE recipes (name TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnusable, match="is a database of something else, not a trace store"):
        open_store(path, 1000)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("postgresql://user:s3cret@[::1/db", "writer.store is not an address"),
        ("postgresql://user:s3cret@host:port/db", "writer.store is not an address"),
        ("postgresql://user:s3cret@127.0.0.1:1/db", r"the trace store 127\.0\.0\.1:1/db cannot be used: connection"),
        ("postgres://user:s3cret@127.0.0.1:1/db?application_name=x", r"127\.0\.0\.1:1/db cannot be used"),
    ],
)
def test_no_password_is_in_a_message(place: str, words: str) -> None:
    """A8: whatever is wrong with an address."""
    with pytest.raises(StoreUnusable, match=words) as caught:
        open_store(place, 1000)
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """M6: one sentence instead of an import error."""

    def absent(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'psycopg'")

    monkeypatch.setattr(opening.Postgres.__init__.__globals__["sa"], "create_engine", absent)
    with pytest.raises(StoreUnusable, match="needs the PostgreSQL driver; install the extra postgres"):
        open_store("postgresql://host/db", 1000)

"""What is special to PostgreSQL at opening: whose database it is, its schema, its extension, its role."""

import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from fixtures.postgres import PostgresServer
from memory_builders import a_document, a_tenant, a_writer
from telha_planner.memory import migrations, tables
from telha_planner.memory.store import Store, StoreUnusable
from telha_trace_writer.opening import open_store


def _open(url: str, **options: str) -> Store:
    return Store.open(url, busy_timeout_ms=1000, **options)  # type: ignore[arg-type]


def _schema_tables(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]


def test_a_database_of_something_else_is_left_alone(postgres: PostgresServer, fresh_database: str) -> None:
    """M6: as with a file."""
    url = postgres.url(fresh_database)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    for migrate in ("manual", "auto"):
        with pytest.raises(StoreUnusable, match="is a database of something else"):
            _open(url, migrate=migrate)
    assert _schema_tables(url) == ["recipes"]


@pytest.mark.parametrize("first", ["memory", "traces"])
def test_memory_and_traces_share_a_database(postgres: PostgresServer, fresh_database: str, first: str) -> None:
    """M6, A9: whichever comes first, and both start again; neither guards, changes or refuses the other's tables."""
    url = postgres.url(fresh_database)
    starts = {"memory": lambda: _open(url).close(), "traces": lambda: open_store(url, 1000).close()}
    order = [first, *(starts.keys() - {first})]
    for store in (*order, *order):
        starts[store]()
    with psycopg.connect(url) as connection:
        guarded = connection.execute("SELECT tablename FROM pg_policies WHERE policyname = 'one_tenant'").fetchall()
    assert {name for (name,) in guarded} == {table.name for table in tables.CONTENT}


def test_a_newer_schema_is_refused(postgres: PostgresServer, fresh_database: str) -> None:
    """M6: as with a file."""
    url = postgres.url(fresh_database)
    _open(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '0999'")
    with pytest.raises(StoreUnusable, match=rf"schema 0999, this version knows {migrations.HEAD}"):
        _open(url, migrate="auto")


def test_an_older_schema_is_migrated_only_on_purpose(postgres: PostgresServer, fresh_database: str) -> None:
    """M6: replicas that start do not change a schema under others, unless told to."""
    url = postgres.url(fresh_database)
    _open(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '0002'")
        guarded = "SELECT tablename FROM pg_policies"
        for (table,) in connection.execute(guarded).fetchall():
            connection.execute(f"DROP POLICY one_tenant ON {table}")
            connection.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY")
        with pytest.raises(StoreUnusable, match=rf"stands at schema 0002 and this version needs {migrations.HEAD}"):
            _open(url)
        assert connection.execute(guarded).fetchall() == []
        _open(url, migrate="auto").close()
        assert connection.execute(guarded).fetchall()
    _open(url).close()


def test_replicas_that_start_at_once_make_one_schema(postgres: PostgresServer, fresh_database: str) -> None:
    """M6: one of them makes it, the others wait for it."""
    url = postgres.url(fresh_database)
    barrier = threading.Barrier(4)

    def start(_: int) -> None:
        barrier.wait()
        Store.open(url, busy_timeout_ms=20_000).close()

    with ThreadPoolExecutor(4) as replicas:
        list(replicas.map(start, range(4)))
    assert migrations.VERSION_TABLE in _schema_tables(url)


def test_the_extension_is_asked_for(postgres: PostgresServer) -> None:
    """M6: pgvector may be installed by a superuser alone; who has to do what is said in one sentence."""
    name = postgres.create(vectors=False)
    url = postgres.url(name)
    with pytest.raises(StoreUnusable, match="let a superuser run CREATE EXTENSION vector in that database once"):
        _open(url)
    assert _schema_tables(url) == []
    with psycopg.connect(postgres.as_admin(name), autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
    store = _open(url)
    tenant, _ = a_tenant(store)
    a_writer(store)[0].write_documents(tenant, [a_document("a", ["one"])])
    store.close()
    postgres.drop(name)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"password": "hunter2"}, "password authentication failed"),
        ({"role": "nobody_here", "password": "hunter2"}, "password authentication failed"),
        ({"database": "absent", "password": None}, 'database "absent" does not exist'),
        ({"port": 1, "password": "hunter2"}, "Connection refused"),
    ],
)
def test_a_server_that_does_not_let_us_in_is_named_without_the_password(
    postgres: PostgresServer,
    fresh_database: str,
    change: dict[str, object],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A6: one sentence for the operator; neither it nor its causes nor the log hold a password."""
    host, port = postgres.address
    settings = {"role": "telha_test", "password": None, "port": port, "database": fresh_database} | change
    password = settings["password"] or postgres.password
    url = f"postgresql://{settings['role']}:{password}@{host}:{settings['port']}/{settings['database']}"
    with pytest.raises(StoreUnusable, match=rf"the memory store {host}:.* cannot be opened: .*{says}") as refused:
        _open(url)
    told = "".join(traceback.format_exception(refused.value, chain=True)) + "".join(capsys.readouterr())
    assert str(password) not in told


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """M6: PostgreSQL is an extra of the installation."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "telha_planner.memory.postgres", raising=False)
    monkeypatch.delattr("telha_planner.memory.postgres", raising=False)
    with pytest.raises(StoreUnusable, match=r"install telha\[postgres\]"):
        _open("postgresql://h/d")

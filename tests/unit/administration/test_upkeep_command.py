import json
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from fixtures.postgres import PostgresServer
from memory_builders import a_document, a_tenant, a_writer, dump
from telha_planner.__main__ import main
from telha_planner.memory import migrations
from telha_planner.memory.store import Store


@pytest.fixture(params=["sqlite", "postgres"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of a store whose schema is one revision behind."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'memory.db'}"
        Store.open(url, busy_timeout_ms=1000).close()
        with closing(sqlite3.connect(tmp_path / "memory.db")) as connection, connection:
            connection.execute(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '0002'")
        return url
    server: PostgresServer = request.getfixturevalue("postgres")
    url = server.url(request.getfixturevalue("fresh_database"))
    Store.open(url, busy_timeout_ms=1000).close()
    with psycopg.connect(url, autocommit=True) as connection:
        for (table,) in connection.execute("SELECT tablename FROM pg_policies").fetchall():
            connection.execute(f"DROP POLICY one_tenant ON {table}")
        connection.execute(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '0002'")
    return url


def _answer(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> dict[str, object]:
    assert main([*arguments, "--json"]) == code
    answer: dict[str, object] = json.loads(capsys.readouterr().out)
    return answer


def test_an_older_store_is_told_and_migrated(older: str, capsys: pytest.CaptureFixture[str]) -> None:
    """M6: --check says what is pending by its exit code and changes nothing."""
    pending = {"found": "0002", "needed": migrations.HEAD, "pending": True, "migrated": False}
    for _ in range(2):
        assert _answer(capsys, 1, "migrate", "--url", older, "--check") == pending
    done = {**pending, "pending": False, "migrated": True}
    assert _answer(capsys, 0, "migrate", "--url", older) == done
    nothing = {"found": migrations.HEAD, "needed": migrations.HEAD, "pending": False, "migrated": False}
    assert _answer(capsys, 0, "migrate", "--url", older) == nothing
    assert _answer(capsys, 0, "migrate", "--url", older, "--check") == nothing
    Store.open(older, busy_timeout_ms=1000).close()


def test_a_check_makes_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """M6: an address that holds nothing yet is pending, and still holds nothing afterwards."""
    url = f"sqlite:///{tmp_path / 'new' / 'memory.db'}"
    assert _answer(capsys, 1, "migrate", "--url", url, "--check")["found"] is None
    assert not (tmp_path / "new").exists()
    assert main(["migrate", "--url", url]) == 0
    assert capsys.readouterr().out == f"migrated from nothing to {migrations.HEAD}\n"


def test_the_store_is_the_configured_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """G1: as every other command reads it."""
    config = tmp_path / "telha.toml"
    config.write_text(f'[store]\nurl = "sqlite:///{tmp_path / "memory.db"}"\n')
    assert main(["migrate", "--config", str(config)]) == 0
    assert (tmp_path / "memory.db").exists()
    config.write_text("[store]\nurls = 1\n")
    assert main(["migrate", "--config", str(config)]) == 78
    assert "store.urls" in capsys.readouterr().err


def test_a_store_that_cannot_be_used_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """M6: exit code 69 and the reason."""
    (tmp_path / "notes.db").write_text("shopping list\n" * 400)
    for arguments in (["migrate"], ["migrate", "--check"]):
        assert main([*arguments, "--url", f"sqlite:///{tmp_path / 'notes.db'}"]) == 69
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1
        assert "file is not a database" in captured.err
        assert not captured.out


@pytest.mark.parametrize("direction", ["out of SQLite", "out of PostgreSQL"])
def test_a_store_is_copied(
    direction: str, postgres_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """M6: every row as it is; a second copy is refused, and the first stays."""
    source_url, target_url = f"sqlite:///{tmp_path / 'memory.db'}", postgres_url
    if direction == "out of PostgreSQL":
        source_url, target_url = target_url, source_url
    source = Store.open(source_url, busy_timeout_ms=1000)
    for name in ("acme", "beta"):
        tenant, _ = a_tenant(source, name)
        a_writer(source)[0].write_documents(tenant, [a_document("a", ["alpha", "beta 面包"])])
    before = dump(source)
    source.close()
    assert main(["copy", "--from", source_url, "--to", target_url, "--json"]) == 0
    captured = capsys.readouterr()
    rows = json.loads(captured.out)["rows"]
    assert (rows["tenant"], rows["span"], rows["node_vector"]) == (2, 4, 0)
    assert "beta: span, 2 rows\n" in captured.err
    target = Store.open(target_url, busy_timeout_ms=1000)
    assert dump(target) == before
    assert main(["copy", "--from", source_url, "--to", target_url]) == 69
    assert "the target of the copy is not empty" in capsys.readouterr().err
    assert dump(target) == before
    target.close()


def test_a_source_of_a_copy_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """M6: a misspelt address is refused, and neither store is there afterwards."""
    addresses = [f"sqlite:///{tmp_path / name}" for name in ("absent.db", "target.db")]
    assert main(["copy", "--from", addresses[0], "--to", addresses[1]]) == 69
    assert "is empty or of an older schema" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_keys_are_made_by_address_too(store_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A6: on either engine."""
    Store.open(store_url, busy_timeout_ms=1000).close()
    made = _answer(
        capsys,
        0,
        "keys",
        "create",
        "--url",
        store_url,
        "--tenant",
        "t",
        "--create-tenant",
        "--name",
        "n",
        "--rights",
        "read",
    )
    listed = _answer(capsys, 0, "keys", "list", "--url", store_url)
    assert [key["keyId"] for key in listed["keys"]] == [made["keyId"]]  # type: ignore[attr-defined]

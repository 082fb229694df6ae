"""docs/operating.md: the backup commands of PostgreSQL, as they stand there."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa
from fixtures.postgres import OwnPostgres, PostgresServer
from memory_builders import a_document, a_tenant, a_writer, dump
from telha_planner.memory.store import Store

PAGE = Path(__file__).parents[3].joinpath("docs/operating.md").read_text(encoding="utf-8")


@pytest.mark.process
def test_a_dump_is_restored_whole(own_postgres: OwnPostgres, tmp_path: Path) -> None:
    """A9: while the store is open; and the planner's own role is refused rather than given half."""
    (commands,) = re.findall(r"```sh\n(pg_dump.*?)```", PAGE, flags=re.DOTALL)
    server = PostgresServer(own_postgres.admin)
    name, new = server.create(), server.create(vectors=False)
    store = Store.open(server.url(name), busy_timeout_ms=10_000)
    for tenant_name in ("acme", "beta"):
        tenant, _ = a_tenant(store, tenant_name)
        a_writer(store)[0].write_documents(tenant, [a_document("a", ["alpha", "beta 面包"])])

    def run(role: str) -> "subprocess.CompletedProcess[str]":
        programs = own_postgres.programs / "bin"
        environ = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "ADMIN_URL": sa.make_url(own_postgres.admin).set(database=name, username=role).render_as_string(False),
            "NEW_ADMIN_URL": sa.make_url(own_postgres.admin).set(database=new).render_as_string(False),
        }
        return subprocess.run(
            ["bash", "-euc", commands],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    refused = run("telha_test")
    assert refused.returncode != 0
    assert "row-level security" in refused.stderr
    done = run("postgres")
    assert done.returncode == 0, done.stderr
    restored = Store.open(server.url(new), busy_timeout_ms=10_000)
    assert dump(restored) == dump(store)
    restored.close()
    store.close()

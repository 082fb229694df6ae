import multiprocessing
from pathlib import Path
from typing import Any

import memory_processes
import pytest
from fixtures.postgres import PostgresServer
from memory_builders import dump
from telha_planner.memory.store import Store


@pytest.fixture(params=["sqlite", "postgres"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of a store that has no schema yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/fresh/memory.db"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.url(request.getfixturevalue("fresh_database"))


@pytest.mark.process
def test_two_processes_write_while_two_read(new_url: str) -> None:
    """M6: all open an empty store at once, then write and read; nobody sees an error, commits never collide."""
    spawn = multiprocessing.get_context("spawn")
    barrier, report = spawn.Barrier(4), spawn.Queue()
    processes: list[Any] = [
        spawn.Process(target=memory_processes.write, args=(new_url, name, 0.7, barrier, report)) for name in ("a", "b")
    ]
    processes += [spawn.Process(target=memory_processes.read, args=(new_url, 0.7, barrier, report)) for _ in range(2)]
    for process in processes:
        process.start()
    reports = [report.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(timeout=60)
    assert [what for kind, what in reports if kind == "error"] == []
    assert [process.exitcode for process in processes] == [0] * 4
    commits = [what for kind, what in reports if kind == "commits"]
    assert all(made == sorted(set(made)) and len(made) > 3 for made in commits)
    assert not set(commits[0]) & set(commits[1])
    assert all(what > 3 for kind, what in reports if kind == "reads")


@pytest.mark.process
def test_writers_of_the_same_content_leave_one(new_url: str) -> None:
    """M2: three processes ingest the same documents at once; one creates each, the others find it unchanged."""
    spawn = multiprocessing.get_context("spawn")
    barrier, report = spawn.Barrier(3), spawn.Queue()
    processes = [
        spawn.Process(target=memory_processes.write_the_same, args=(new_url, 20, barrier, report)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    reports = [report.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(timeout=60)
    assert [what for kind, what in reports if kind == "error"] == []
    outcomes = [what for _, what in reports]
    for told in zip(*outcomes, strict=True):
        assert sorted(outcome for outcome, _ in told) == ["created", "unchanged", "unchanged"]
        assert len({version for _, version in told}) == 1
    store = Store.open(new_url, busy_timeout_ms=1000)
    held = dump(store)
    store.close()
    assert len(held["tenant"]) == 1
    assert len(held["source"]) == len(held["source_version"]) == 20
    assert len(held["span"]) == len(held["node"]) == len(held["node_version"]) == 60

import multiprocessing
from pathlib import Path
from typing import Any

import memory_processes
import pytest


@pytest.mark.process
def test_two_processes_write_while_two_read(tmp_path: Path) -> None:
    """M6: all open an empty folder at once, then write and read; nobody sees an error, commits never collide."""
    spawn = multiprocessing.get_context("spawn")
    barrier, report = spawn.Barrier(4), spawn.Queue()
    url = f"sqlite:///{tmp_path}/fresh/memory.db"
    processes: list[Any] = [
        spawn.Process(target=memory_processes.write, args=(url, name, 2.0, barrier, report)) for name in ("a", "b")
    ]
    processes += [spawn.Process(target=memory_processes.read, args=(url, 2.0, barrier, report)) for _ in range(2)]
    for process in processes:
        process.start()
    reports = [report.get(timeout=60) for _ in processes]
    for process in processes:
        process.join(timeout=60)
    assert [what for kind, what in reports if kind == "error"] == []
    assert [process.exitcode for process in processes] == [0] * 4
    commits = [what for kind, what in reports if kind == "commits"]
    assert all(made == sorted(set(made)) and len(made) > 3 for made in commits)
    assert not set(commits[0]) & set(commits[1])
    assert all(what > 3 for kind, what in reports if kind == "reads")

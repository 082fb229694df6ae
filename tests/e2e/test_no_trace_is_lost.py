"""`kill -9` of each process of a running system, under load: no acknowledged trace is lost, none is doubled."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

PARTS = ("valkey-server", "telha_trace_writer", "telha_planner", "valkey-server")


@pytest.fixture
def system(tmp_path: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """A whole system on a folder: the folder, and what its `connection.json` says."""
    data = tmp_path / "data"
    command = [sys.executable, "-m", "telha_cli.main", "up", "--data", str(data), "--ephemeral-ports"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as up:
        try:
            deadline = time.monotonic() + 90
            while not (data / "connection.json").exists():
                assert up.poll() is None, "telha up ended at its start"
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield data, json.loads((data / "connection.json").read_text())
        finally:
            up.send_signal(signal.SIGTERM)
            up.wait(60)


def running(supervisor: int, part: str) -> psutil.Process | None:
    """The process of *part* under *supervisor*, while there is one."""
    for child in psutil.Process(supervisor).children():
        try:
            if child.status() != psutil.STATUS_ZOMBIE and part in " ".join(child.cmdline()):
                return child
        except psutil.NoSuchProcess:
            continue
    return None


def kill(supervisor: int, part: str) -> None:
    """SIGKILL the process of *part* under *supervisor*, and wait for the next one."""
    killed = running(supervisor, part)
    assert killed is not None, f"{part} does not run"
    killed.kill()
    killed.wait(60)
    deadline = time.monotonic() + 60
    while running(supervisor, part) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)


class Load:
    """
    Two callers that build contexts until they are stopped, and read each trace at once.

    Attributes:
        killed: The parts that were killed, in order.
        answered: Trace ids of answered calls.
        refused: Parts killed last before, or during, a call that was refused; the planner if it is among them.
        lost: Traces of answered calls that were not found.
    """

    def __init__(self, client: httpx.Client) -> None:
        self.killed = ["nothing"]
        self.answered: list[str] = []
        self.refused: set[str] = set()
        self.lost: list[str] = []
        self._client = client
        self._stop = threading.Event()
        self._callers = [threading.Thread(target=self._call) for _ in range(2)]
        for caller in self._callers:
            caller.start()

    def until_answered(self, count: int) -> None:
        """Wait for *count* more answers, a minute at most."""
        enough, deadline = len(self.answered) + count, time.monotonic() + 60
        while len(self.answered) < enough and time.monotonic() < deadline:
            time.sleep(0.05)

    def stop(self) -> None:
        self._stop.set()
        for caller in self._callers:
            caller.join()

    def _refuse(self, begun: int) -> None:
        meanwhile = self.killed[begun:]
        self.refused.add("telha_planner" if "telha_planner" in meanwhile else meanwhile[-1])

    def _call(self) -> None:
        while not self._stop.is_set():
            begun = len(self.killed) - 1
            try:
                answer = self._client.post("/v1/memory/context", json={"question": "what is known of nothing?"})
            except httpx.HTTPError:
                self._refuse(begun)
                continue
            if answer.status_code != httpx.codes.OK:
                self._refuse(begun)
                time.sleep(0.05)
                continue
            trace_id = answer.json()["traceId"]
            self.answered.append(trace_id)
            if self._client.get(f"/v1/trace/{trace_id}").status_code == httpx.codes.NOT_FOUND:
                self.lost.append(trace_id)


def test_no_acknowledged_trace_is_lost_or_doubled(system: tuple[Path, dict[str, str]]) -> None:
    """X3, X4: whatever dies, every answered call has its trace, once; only a dead planner refuses calls."""
    data, connection = system
    headers = {"authorization": f"Bearer {connection['key']}"}
    with httpx.Client(base_url=connection["http"], headers=headers, timeout=20) as client:
        load = Load(client)
        try:
            for part in PARTS:
                load.until_answered(20)
                load.killed.append(part)
                kill(int(connection["pid"]), part)
                load.until_answered(20)
            load.until_answered(20)
        finally:
            load.stop()
        assert len(set(load.answered)) == len(load.answered) > 50
        assert load.lost == []
        assert load.refused <= {"telha_planner"}
        deadline = time.monotonic() + 90
        while missing := set(load.answered) - stored(data):
            assert time.monotonic() < deadline, f"{len(missing)} of {len(load.answered)} traces never got there"
            time.sleep(0.5)
        for trace_id in load.answered[-50:]:
            assert client.get(f"/v1/trace/{trace_id}").status_code == httpx.codes.OK


def stored(data: Path) -> set[str]:
    """Ids in the store; its key admits each once."""
    with sqlite3.connect(f"file:{data / 'traces.db'}?mode=ro", uri=True) as connection:
        found = connection.execute("SELECT lower(hex(trace_id)) FROM trace").fetchall()
    connection.close()
    return {f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}" for (h,) in found}

"""`telha up` as a whole: start, crash, restart, drain, and what is left when it is killed."""

import json
import os
import signal
import socket
import stat
import subprocess
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

import psutil
import pytest
from ports import free_port
from running_telha import TELHA, Up, start
from telha_client import Client, Document

pytestmark = pytest.mark.process

QUESTION = "how is the plan hash computed?"
PARTS = {"valkey-server", "telha_trace_writer", "telha_planner", "telha_gateway"}


def _until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _family(up: Up) -> list[psutil.Process]:
    return psutil.Process(up.process.pid).children(recursive=True)


def _part(up: Up, name: str) -> psutil.Process:
    for child in psutil.Process(up.process.pid).children():
        if any(name in word for word in child.cmdline()):
            return child
    raise AssertionError(f"no {name} among {[child.cmdline() for child in _family(up)]}")


def _gone(processes: list[psutil.Process]) -> bool:
    return not [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


def test_everything_is_in_one_private_folder(up: Up) -> None:
    """A3: embedded parts, one folder, a key that its owner alone can read."""
    for name in PARTS:
        _part(up, name)
    assert {path.name for path in up.data.iterdir()} >= {"memory.db", "traces.db", "spool", "valkey", "logs", "lock"}
    assert stat.S_IMODE(up.data.stat().st_mode) == 0o700
    noted = json.loads((up.data / "connection.json").read_text())
    status = up.data.stat()
    identity = f"{status.st_dev}:{status.st_ino}"
    assert noted == {"grpc": up.grpc, "http": up.http, "key": up.key, "pid": up.process.pid, "folder": identity}
    assert stat.S_IMODE((up.data / "connection.json").stat().st_mode) == 0o600


def test_what_it_writes_is_its_owners_alone_in_a_folder_of_any_mode(tmp_path: Path) -> None:
    """A6: a data folder that the user made open to all holds no file that another user of the machine can read."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    up = start(tmp_path)
    try:
        with Client(up.grpc, up.key) as client:
            client.memory.ingest([Document(name="secret.md", content="# Plan\n\nA secret.")])
            client.plan("secret")
        readable = [
            path.relative_to(up.data) for path in up.data.rglob("*") if stat.S_IMODE(path.stat().st_mode) & 0o077
        ]
    finally:
        up.process.terminate()
        up.process.wait(30)
    assert (up.data / "memory.db").exists()
    assert readable == []


def test_only_grpc_and_rest_are_tcp(up: Up) -> None:
    """A1: inner hops are unix sockets; what listens on TCP listens on this machine alone."""
    listening = {
        (connection.laddr.ip.removeprefix("::ffff:"), connection.laddr.port)
        for process in _family(up)
        for connection in process.net_connections(kind="tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    host, grpc_port = up.grpc.split(":")
    assert listening == {(host, int(grpc_port)), (host, int(up.http.rsplit(":", 1)[1]))}


def test_a_second_supervisor_is_refused(up: Up) -> None:
    """A3: in one sentence, and the first one goes on."""
    done = up.run("up", "--data", str(up.data), "--ephemeral-ports")
    assert done.code == 1
    assert done.err.splitlines()[0] == f"telha: another telha up is using the data folder {up.data}"
    assert up.run("memory", "context", QUESTION).code == 0


@pytest.mark.parametrize("name", ["telha_planner", "telha_trace_writer", "telha_gateway", "valkey-server"])
def test_a_killed_part_comes_back_and_calls_succeed(up: Up, name: str) -> None:
    """A3, X3: after kill -9 of any part a call succeeds, with its trace."""
    killed = _part(up, name)
    killed.kill()
    assert _until(lambda: _gone([killed]))

    def answered() -> bool:
        return up.run("memory", "context", QUESTION, "--json").code == 0

    assert _until(answered)
    trace = up.run("memory", "context", QUESTION, "--json").json["traceId"]
    assert _until(lambda: up.run("trace", "get", trace, "--json").code == 0)
    assert "was ended by SIGKILL; starting it again" in (up.data / "logs" / "up.log").read_text()
    assert _until(lambda: "is ready again" in (up.data / "logs" / "up.log").read_text().splitlines()[-1])


def test_a_wrong_setting_is_told_and_nothing_stays(tmp_path: Path) -> None:
    """G1: key, value and range, all faults at once; no process, no lock."""
    config = tmp_path / "telha.toml"
    config.write_text("[planner]\nalpha = 3.0\ntop_k = 0\n")
    done = subprocess.run(
        [TELHA, "up", "--data", str(tmp_path / "data"), "--ephemeral-ports", "--config", str(config)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"telha: {config}: ")
    assert "is ready" not in done.stderr
    assert "planner.alpha = 3.0: must be" in last
    assert "planner.top_k = 0: must be" in last
    assert "Traceback" not in done.stderr
    assert not [
        each for each in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(each.info["cmdline"] or [])
    ]


def test_sigterm_drains_and_a_restart_remembers(tmp_path: Path) -> None:
    """A3: exit 0, nothing left; the next start has the same key, the same memory and the same traces."""
    first = start(tmp_path)
    family = _family(first)
    assert first.run("ingest", "README.md").code == 0
    told = first.run("plan", QUESTION, "--json").json
    first.process.send_signal(signal.SIGTERM)
    assert first.process.wait(60) == 0
    assert _gone(family)
    assert not list(tmp_path.glob("telha-*")), "the sockets' folder is left"
    second = start(tmp_path)
    assert second.key == first.key
    revoked = second.run("keys", "revoke", second.key.split("_")[1], "--data", str(second.data))
    assert revoked.code == 0
    refused = second.run("sources", "list")
    assert refused.err.splitlines()[1].strip() == (
        f"asked {second.grpc}; the address is from the newest `telha up` of yours, the key from there too"
    )
    second.process.send_signal(signal.SIGTERM)
    assert second.process.wait(60) == 0
    second = start(tmp_path)
    assert second.key != first.key, "a revoked key is given out again"
    assert "telha: the first key no longer holds; this is a new one" in (tmp_path / "up.stderr").read_text()
    assert second.run("trace", "get", told["traceId"], "--json").json["planHash"] == told["planHash"]
    window = told["window"]
    again = second.run(
        "plan", QUESTION, "--json", "--valid-at", str(window["validTime"]), "--tx-at", str(window["txTime"])
    ).json
    assert again["planHash"] == told["planHash"]
    family = _family(second)
    os.kill(second.process.pid, signal.SIGKILL)
    second.process.wait(60)
    assert _until(lambda: _gone(family)), "an orphan is left after SIGKILL"
    third = start(tmp_path)
    assert third.run("trace", "get", told["traceId"], "--json").code == 0
    third.process.send_signal(signal.SIGINT)
    assert third.process.wait(60) == 0
    assert not list(tmp_path.glob("telha-*")), "the folder of the killed supervisor's sockets is left"


def test_ctrl_c_answers_what_is_in_flight_and_a_second_one_ends_at_once(tmp_path: Path) -> None:
    """A1, A3: a write under way is finished and answered; a part that hangs cannot hold up who insists."""
    with ExitStack() as running:
        config, port = tmp_path / "telha.toml", free_port()
        config.write_text(f"[server]\nmetrics_port = {port}\n")
        first = _started(tmp_path, running, "--config", str(config), "--embedder", "none")
        answers: list[str] = []
        client = running.enter_context(Client(first.grpc, first.key))
        assert client.memory.sources().items == ()
        documents = [Document(name=f"{n}.txt", content=" ".join(map(str, range(n, n + 20_000)))) for n in range(8)]

        def remember() -> None:
            answers.extend(document.outcome for document in client.memory.ingest(documents).documents)

        caller = Thread(target=remember)
        caller.start()
        assert _until(lambda: _gauge(port, "telha_writes_waiting") == 1)
        assert answers == []
        first.process.send_signal(signal.SIGINT)
        caller.join(60)
        assert answers == ["created"] * 8
        assert first.process.wait(60) == 0

        second = _started(tmp_path, running)
        assert len(second.run("sources", "list", "--json").json["sources"]) == 8
        family = _family(second)
        _part(second, "telha_planner").suspend()
        second.process.send_signal(signal.SIGINT)
        assert _until(lambda: "draining" in (tmp_path / "up.stderr").read_text().rsplit("gateway is ready", 1)[1])
        assert second.process.poll() is None
        second.process.send_signal(signal.SIGINT)
        assert second.process.wait(60) == -signal.SIGINT
        assert _until(lambda: _gone(family))

        third = _started(tmp_path, running)
        assert len(third.run("sources", "list", "--json").json["sources"]) == 8


def _gauge(port: int, name: str) -> float:
    """What the planner's metrics say of *name*."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def _started(folder: Path, running: ExitStack, *words: str) -> Up:
    """A system that is killed at the latest when *running* ends."""
    up = start(folder, *words)
    running.callback(up.process.wait)
    running.callback(up.process.kill)
    return up


def test_a_port_and_a_folder_that_cannot_be_had_are_one_sentence(tmp_path: Path) -> None:
    """A3: told before anything starts, with the way out."""

    def refused(*words: str) -> list[str]:
        done = subprocess.run([TELHA, "up", *words], capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (1, "")
        return done.stderr.splitlines()

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused("--data", str(tmp_path / "data"), "--port", str(port))
    assert said[0] == f"telha: port {port} cannot be used: Address already in use"
    assert len(said) == 2
    file = tmp_path / "file"
    file.touch()
    assert refused("--data", str(file / "data"), "--ephemeral-ports") == [
        f"telha: the data folder {file / 'data'} cannot be written: Not a directory"
    ]

"""The supervisor with real processes: order, restart, drain, and no orphan whatever happens."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from redis import Redis
from telha_runtime import valkey
from telha_runtime.supervisor import Part, PartFailed, Stop, Supervisor

pytestmark = pytest.mark.process

_STAY = "import signal, pathlib, time; pathlib.Path({mark!r}).touch(); time.sleep(600)"
_DRAIN = """
import pathlib, signal, sys, time
def end(*_):
    with open({order!r}, 'a') as file: file.write({name!r} + chr(10))
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
pathlib.Path({mark!r}).touch()
while True: time.sleep(0.05)
"""


def _part(folder: Path, name: str, source: str, **changes: object) -> Part:
    mark = folder / f"{name}.mark"
    program = textwrap.dedent(source).format(mark=str(mark), name=name, order=str(folder / "order"))
    facts: dict[str, object] = {
        "name": name,
        "command": (sys.executable, "-c", program),
        "environ": dict(os.environ),
        "log": folder / f"{name}.log",
        "ready": mark.exists,
        **changes,
    }
    return Part(**facts)  # type: ignore[arg-type]  # the keywords are Part's own


def _until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_parts_start_in_order_and_drain_in_reverse(tmp_path: Path) -> None:
    """A3: each part is ready before the next starts; the stop runs backwards and lets each part end by itself."""
    started: list[str] = []

    def noting(name: str) -> Callable[[], bool]:
        def ready() -> bool:
            if not (tmp_path / f"{name}.mark").exists():
                return False
            started.append(name)
            return True

        return ready

    parts = [_part(tmp_path, name, _DRAIN, ready=noting(name)) for name in ("one", "two", "three")]
    supervisor = Supervisor(parts, report=lambda _: None)
    supervisor.start(Stop())
    pids = supervisor.pids()
    assert started == ["one", "two", "three"]
    supervisor.stop()
    assert (tmp_path / "order").read_text().split() == ["three", "two", "one"]
    assert not any(psutil.pid_exists(pid) for pid in pids.values())


def test_a_part_that_ignores_sigterm_is_killed_and_reported(tmp_path: Path) -> None:
    """A3: a hanging part cannot hold up the stop."""
    source = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + _STAY
    said: list[str] = []
    supervisor = Supervisor([_part(tmp_path, "stubborn", source, drain_s=0.3)], report=said.append)
    supervisor.start(Stop())
    (pid,) = supervisor.pids().values()
    supervisor.stop()
    assert not psutil.pid_exists(pid)
    assert said[1:] == ["stubborn did not end within 0.3 s and was killed"]


def test_a_part_that_cannot_start_stops_the_others(tmp_path: Path) -> None:
    """A3: one clear sentence with the part's own last words, and nothing left running."""
    good = _part(tmp_path, "good", _STAY)
    bad = _part(tmp_path, "bad", "raise SystemExit('the disk is made of cheese')")
    before = set(psutil.Process().children())
    supervisor = Supervisor([good, bad], report=lambda _: None)
    with pytest.raises(PartFailed, match="bad ended with exit code 1 before it was ready: the disk is made of cheese"):
        supervisor.start(Stop())
    assert supervisor.pids() == {}
    assert set(psutil.Process().children()) <= before


def test_a_part_that_never_gets_ready_is_reported(tmp_path: Path) -> None:
    """A3: waiting has an end."""
    supervisor = Supervisor([_part(tmp_path, "slow", _STAY, ready=lambda: False, ready_s=0.3)], report=lambda _: None)
    with pytest.raises(PartFailed, match=r"slow was not ready within 0\.3 s"):
        supervisor.start(Stop())


def test_a_killed_part_comes_back(tmp_path: Path) -> None:
    """A3: a crashed part is started again, and told."""
    said: list[str] = []
    stop = Stop()
    supervisor = Supervisor([_part(tmp_path, "planner", _STAY)], report=said.append)
    supervisor.start(Stop())
    first = supervisor.pids()["planner"]
    os.kill(first, signal.SIGKILL)

    def tick() -> None:
        if any("ready again" in line for line in said):
            stop.set()

    supervisor.watch(stop, tick)
    second = supervisor.pids()["planner"]
    supervisor.stop()
    assert second != first
    assert said[1:] == [
        "planner was ended by SIGKILL; starting it again in 0.2 s",
        f"planner is ready again (pid {second})",
    ]


def test_nothing_outlives_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    """A3: SIGKILL of the supervisor leaves no orphan, Valkey included."""
    program = f"""
    import os, sys
    from pathlib import Path
    from telha_runtime import valkey
    from telha_runtime.supervisor import Part, Stop, Supervisor
    folder = Path({str(tmp_path)!r})
    socket = folder / "v"
    store = Part("valkey", valkey.command(folder, socket), dict(os.environ), folder / "valkey.log",
                 lambda: valkey.answers(socket))
    sleeper = Part("sleeper", (sys.executable, "-c", "import time; time.sleep(600)"), dict(os.environ),
                   folder / "sleeper.log", lambda: True)
    supervisor = Supervisor([store, sleeper], report=lambda told: None)
    stop = Stop()
    supervisor.start(stop)
    print(*supervisor.pids().values(), flush=True)
    supervisor.watch(stop)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        assert len(pids) == 2
        assert all(psutil.pid_exists(pid) for pid in pids)
        process.kill()
    gone = _until(lambda: not any(psutil.pid_exists(pid) and _alive(pid) for pid in pids))
    assert gone, pids


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_valkey_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """X3: kill -9 of the embedded Valkey right after a write loses nothing."""
    socket = tmp_path / "v"
    part = Part(
        "valkey", valkey.command(tmp_path, socket), dict(os.environ), tmp_path / "log", lambda: valkey.answers(socket)
    )
    for turn in range(2):
        supervisor = Supervisor([part], report=lambda _: None)
        supervisor.start(Stop())
        client = Redis(unix_socket_path=str(socket), decode_responses=True)
        if turn == 0:
            client.xadd("records", {"f": "kept"})
            os.kill(supervisor.pids()["valkey"], signal.SIGKILL)
        else:
            assert [fields for _, fields in client.xrange("records")] == [{"f": "kept"}]
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        client.close()
        supervisor.stop()


def test_a_storm_of_signals_stops_and_does_not_hang() -> None:
    """A3: a handler may run inside another one, and inside whatever the main thread was doing with the stop."""
    program = """
    import os, signal, threading
    from telha_runtime.supervisor import Stop
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    def storm():
        for _ in range(20_000):
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGINT)
    sender = threading.Thread(target=storm)
    sender.start()
    while sender.is_alive():
        stop.wait(0)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=60, check=False)
    assert done.returncode == 0

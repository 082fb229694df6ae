"""What the fault suite strikes with works: proxies that pass, cut and swallow, and the preloaded shim."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tools
from fault.proxy import Loop, Proxy
from fault.shim import Control, ShimMissing, compiled
from redis import Redis
from redis.exceptions import ConnectionError as Cut
from redis.exceptions import TimeoutError as Silent

PROGRAM = """
import os, time, sys
print("ready", flush=True)
for _ in sys.stdin:
    start = time.monotonic()
    try:
        with open(sys.argv[1], "wb", buffering=0) as file:
            file.write(b"x")
            os.pwrite(file.fileno(), b"y", 1)
            os.fdatasync(file.fileno())
            os.fsync(file.fileno())
        wrote = "ok"
    except OSError as fault:
        wrote = fault.strerror
    print(int(time.time()), int(1000 * (time.monotonic() - start)), wrote, flush=True)
"""


@pytest.fixture
def proxy(valkey_server) -> Iterator[Proxy]:
    loop = Loop()
    proxy = Proxy(loop, valkey_server.socket)
    yield proxy
    proxy.close()
    loop.close()


def test_a_proxy_passes_swallows_refuses_and_cuts(proxy: Proxy, valkey_server) -> None:
    """X3: the means of the Redis faults, against a real Valkey: silence is a timeout, a cut is a closed connection."""
    with Redis(port=proxy.port, socket_timeout=1.5, retry=None) as client:
        assert client.ping()
        proxy.set("swallow")
        with pytest.raises(Silent):
            client.ping()
        with Redis(port=proxy.port, socket_timeout=1.5, retry=None) as late, pytest.raises(Silent):
            late.ping()
        proxy.set("refuse")
        with pytest.raises(Cut):
            client.ping()
        proxy.set("pass")
        assert client.ping()
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as plain:
            plain.sendall(b"PING\r\n")
            assert plain.recv(7) == b"+PONG\r\n"
            proxy.cut()
            assert plain.recv(1) == b""
        client.close()
        assert client.ping()
        proxy.retarget(Path("/nonexistent"))
        with pytest.raises(Cut):
            client.ping()


@pytest.mark.process
def test_the_shim_steps_the_clock_slows_syncs_and_fills_the_disk(tmp_path: Path) -> None:
    """X3, M1: the means of the clock and disk faults, in a real process, switched while it runs."""
    try:
        library = compiled(tmp_path)
    except ShimMissing as fault:
        raise tools.missing(str(fault)) from None
    control = Control(tmp_path / "control")
    environ = os.environ | {"LD_PRELOAD": str(library), "FAULT_CONTROL": str(control.path)}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "written")]
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "ready\n"

        def asked() -> tuple[int, int, str]:
            process.stdin.write("\n")
            process.stdin.flush()
            instant, took, wrote = process.stdout.readline().split(maxsplit=2)
            return int(instant), int(took), wrote.strip()

        now, _, wrote = asked()
        assert wrote == "ok"
        control.set(clock_offset_s=-3600)
        assert -3601 <= asked()[0] - now < -3500
        control.set(clock_offset_s=0, sync_delay_us=40_000)
        assert asked()[1] >= 80
        control.set(sync_delay_us=0, disk_full=1)
        assert asked()[2] == os.strerror(28)
        control.set(disk_full=0)
        assert asked()[0] >= now
        process.stdin.close()
    control.close()


def test_without_a_compiler_the_shim_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X3: the faults that need it are then left out by name."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ShimMissing, match=r"compiler|preloading"):
        compiled(tmp_path)


def test_a_proxy_without_a_target_closes(valkey_server) -> None:
    """X3: a connection to nothing ends at once, as one that is refused."""
    loop = Loop()
    proxy = Proxy(loop, Path("/nonexistent"))
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as connection:
        assert connection.recv(1) == b""
    proxy.close()
    loop.close()

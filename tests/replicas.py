"""Planners and gateways as processes of their own, on one memory, as replicas of a production."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from ports import free_port
from telha_planner.memory import keys
from telha_planner.memory.store import Store
from telha_runtime import health

BIN = Path(sys.executable).parent


class Replicas:
    """Processes over a memory in *folder*; without Redis, so that records wait in the spools."""

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        self.folder = folder
        self._settings = {name: str(value) for name, value in settings.items()}
        self._running: list[subprocess.Popen[bytes]] = []
        self._url = f"sqlite:///{folder}/memory.db"
        store = Store.open(self._url, busy_timeout_ms=10_000)
        rights = ("read", "write")
        self.key, _ = keys.create(
            store,
            "acme",
            name="test",
            rights=rights,
            spaces=None,
            now=lambda: time.time_ns() // 1000,
            create_tenant=True,
        )
        store.close()

    def planner(self) -> int:
        """Start one more planner; its port, once it serves."""
        port = free_port()
        self._start(
            "planner",
            port,
            TELHA_STORE__URL=self._url,
            TELHA_STORE__BUSY_TIMEOUT_MS="60000",
            TELHA_SERVER__PORT=str(port),
            TELHA_TRACE__SPOOL=str(self.folder / f"spool-{port}"),
            TELHA_TRACE__REDIS_URL="redis://127.0.0.1:1/0",
            TELHA_TRACE__WRITER="127.0.0.1:1",
        )
        _until(lambda: health.serving(f"127.0.0.1:{port}"))
        return port

    def gateway(self, planners: str) -> int:
        """Start one more gateway; its port, once it is ready."""
        port = free_port()
        self._start("gateway", port, TELHA_GATEWAY__PORT=str(port), TELHA_GATEWAY__PLANNER=planners)
        _until(lambda: health.ready(f"http://127.0.0.1:{port}/readyz"))
        return port

    def end(self, number: int) -> None:
        """Send SIGTERM to the *number*th process that was started."""
        self._running[number].send_signal(signal.SIGTERM)

    def code(self, number: int) -> int:
        """The exit code of the *number*th process, once it has ended."""
        return self._running[number].wait(60)

    def answered(self, port: int) -> int:
        """Calls that the process on *port* has answered well, by its log."""
        lines = [json.loads(line) for line in (self.folder / f"{port}.log").read_text().splitlines()]
        return sum(line.get("code") == "OK" or line.get("status") == 200 for line in lines)

    def peak_bytes(self, number: int) -> int:
        """The most memory that the *number*th process ever had, its children apart."""
        status = Path(f"/proc/{self._running[number].pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024

    def close(self) -> None:
        """End what still runs."""
        for process in self._running:
            process.kill()
            process.wait(20)

    def _start(self, name: str, port: int, **environ: str) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
        with (self.folder / f"{port}.log").open("wb") as log:
            process = subprocess.Popen(
                [BIN / f"telha-{name}", "serve"],
                env={**clean, **self._settings, **environ},
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._running.append(process)


def _until(answers: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not answers():  # type: ignore[operator]  # any question
        assert time.monotonic() < deadline
        time.sleep(0.05)

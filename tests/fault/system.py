"""
The system under faults: two planners, two trace writers, a gateway and a Valkey, real processes on loopback.

    callers ──► planner-1, planner-2 ──proxy──► Valkey ──proxy──► writer-1, writer-2 ──► trace store
            ──► gateway ──► either planner

Both planners share one memory, both writers one trace store: SQLite files, or databases of a PostgreSQL.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from fault.part import Part
from fault.proxy import Loop, Proxy
from fault.shim import Control, ShimMissing, compiled
from fault.stores import Stores
from ports import free_port
from redis import Redis
from telha_runtime import health, valkey

TENANT = "load"
STREAM = "telha:{trace}:0"


class System:
    """
    All parts, in *folder*, from `with` to its end.

    Attributes:
        parts: By name; `planners`, `writers` and `gateway` are views of it.
        ways: Proxies before Valkey, of the planners and of the writers.
        controls: What the shim is told, by part; empty without a shim.
        shares_spools: Whether both planners have one folder for their spools.
        without_shim: Why there is none; empty if there is.
        key: An API key that reads and writes.
    """

    def __init__(self, folder: Path, stores: Stores) -> None:
        self.folder, self.stores = folder, stores
        # As on one machine with files, and as replicas with a volume each.
        self.shares_spools = stores.name == "SQLite"
        self.parts: dict[str, Part] = {}
        self.ways: dict[str, Proxy] = {}
        self.controls: dict[str, Control] = {}
        self.without_shim = ""
        self.key = ""
        self._held = ExitStack()
        self._failovers = 0
        self._token = secrets.token_hex(16)

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            undo.callback(self.close)
            self._build()
            for part in self.parts.values():
                part.start()
            for part in self.parts.values():
                part.await_ready()
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill what still runs and let go of everything."""
        for part in reversed(self.parts.values()):
            part.kill()
        self._held.close()

    @property
    def planners(self) -> list[Part]:
        """Both planners."""
        return [self.parts["planner-1"], self.parts["planner-2"]]

    @property
    def writers(self) -> list[Part]:
        """Both trace writers."""
        return [self.parts["writer-1"], self.parts["writer-2"]]

    @property
    def valkey_socket(self) -> Path:
        """Where the present Valkey listens."""
        return self.sockets / f"valkey-{self._failovers}"

    def address(self, planner: str) -> str:
        """Address of a planner."""
        return f"127.0.0.1:{self.ports[planner]}"

    @property
    def url(self) -> str:
        """Address of the gateway."""
        return f"http://127.0.0.1:{self.ports['gateway']}"

    def spool(self, planner: str) -> Path:
        """Folder of a planner's spools; on SQLite both have theirs in one."""
        return self.folder / ("spool" if self.shares_spools else f"{planner}-spool")

    @property
    def spools(self) -> list[Path]:
        """Every folder of spools."""
        return sorted({self.spool(part.name) for part in self.planners})

    @contextmanager
    def redis(self) -> Iterator[Redis]:
        """A client of the present Valkey, past the proxies."""
        with Redis(unix_socket_path=str(self.valkey_socket), socket_timeout=10) as client:
            yield client

    def fail_over(self) -> None:
        """Put an empty Valkey in the place of the present one, which is lost."""
        old = self.parts["valkey"]
        self._failovers += 1
        new = self._valkey()
        new.starts = old.starts
        new.start()
        new.await_ready()
        for way in self.ways.values():
            way.retarget(self.valkey_socket)
        old.kill()
        self.parts["valkey"] = new

    def _build(self) -> None:
        # Paths of unix sockets hold about 100 bytes.
        self.sockets = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="tf-")))
        loop = Loop()
        self._held.callback(loop.close)
        names = ("planner-1", "planner-2", "gateway")
        self.ports = free_ports(names)
        for name in ("planners", "writers"):
            self.ways[name] = Proxy(loop, self.valkey_socket)
            self._held.callback(self.ways[name].close)
        try:
            self._shim: Path | None = compiled(self.folder)
        except ShimMissing as missing:
            self._shim, self.without_shim = None, str(missing)
        self.stores.prepare()
        self.key = self._make_key()
        self.parts["valkey"] = self._valkey()
        for number in (1, 2):
            self._add_service(f"writer-{number}", "telha_trace_writer", self._writer(number))
        for number in (1, 2):
            self._add_service(f"planner-{number}", "telha_planner", self._planner(number))
        both = ",".join(self.address(part.name) for part in self.planners)
        gateway = {"HOST": "127.0.0.1", "PORT": self.ports["gateway"], "PLANNER": both}
        self._add_service("gateway", "telha_gateway", {f"GATEWAY__{name}": value for name, value in gateway.items()})

    def _valkey(self) -> Part:
        data = self.folder / f"valkey-{self._failovers}"
        data.mkdir()
        place = self.valkey_socket
        command = valkey.command(data, place)
        return Part("valkey", command, os.environ, self.folder / "valkey.log", lambda: valkey.answers(place))

    def _writer(self, number: int) -> Mapping[str, object]:
        return {
            "TRACE__REDIS_URL": f"redis://127.0.0.1:{self.ways['writers'].port}/0",
            "TRACE__WRITER": f"unix:{self.sockets / f'writer-{number}'}",
            "WRITER__STORE": self.stores.traces,
        }

    def _planner(self, number: int) -> Mapping[str, object]:
        return {
            "STORE__URL": self.stores.memory,
            "SERVER__HOST": "127.0.0.1",
            "SERVER__PORT": self.ports[f"planner-{number}"],
            "TRACE__SPOOL": self.spool(f"planner-{number}"),
            "TRACE__REDIS_URL": f"redis://127.0.0.1:{self.ways['planners'].port}/0",
            "TRACE__WRITER": f"unix:{self.sockets / f'writer-{number}'}",
            # That of the second one is full after some seconds without Valkey.
            "TRACE__SPOOL_MAX_MB": 256 if number == 1 else 1,
        }

    def _add_service(self, name: str, module: str, settings: Mapping[str, object]) -> None:
        environ = self._environ() | {f"TELHA_{variable}": str(value) for variable, value in settings.items()}
        if name != "gateway":
            environ["TELHA_TRACE__INTERNAL_TOKEN"] = self._token
            if self._shim is not None:
                control = self.controls[name] = Control(self.folder / f"{name}.control")
                self._held.callback(control.close)
                environ |= {"LD_PRELOAD": str(self._shim), "FAULT_CONTROL": str(control.path)}
        command = (sys.executable, "-P", "-m", module, "serve")
        self.parts[name] = Part(name, command, environ, self.folder / f"{name}.log", self._ready(name))

    def _ready(self, name: str) -> Callable[[], bool]:
        if name == "gateway":
            return lambda: health.ready(f"{self.url}/readyz")
        if name.startswith("planner"):
            return lambda: health.serving(self.address(name))
        return lambda: health.serving(f"unix:{self.sockets / name}")

    def _make_key(self) -> str:
        words = ("keys", "create", "--url", self.stores.memory, "--tenant", TENANT, "--create-tenant", "--name", "load")
        command = [sys.executable, "-P", "-m", "telha_planner", *words, "--rights", "read,write", "--json"]
        done = subprocess.run(command, env=self._environ(), capture_output=True, check=True, timeout=60)
        return str(json.loads(done.stdout)["key"])

    def _environ(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
        return clean | self.stores.environ


def free_ports(names: tuple[str, ...]) -> dict[str, int]:
    """A free port for each of *names*."""
    return {name: free_port() for name in names}

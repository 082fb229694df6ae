"""The containers of docker-compose.yml as processes of this machine: their commands and variables, on ports of ours."""

import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from compose_file import ROOT, composed, environment, example
from fixtures.postgres import OwnPostgres
from ports import free_port
from telha_runtime import tether, valkey

BIN = Path(sys.executable).parent


class Composed:
    """
    The file's services without their engine.

    Host names become 127.0.0.1 with free ports, and the balancer, which is a program of others, the first planner.

    Attributes:
        ports: Service → the port where it listens.
    """

    def __init__(self, folder: Path, postgres: OwnPostgres) -> None:
        self.folder, self.postgres = folder, postgres
        self.secrets = {name: f"{number}f00d" * 8 for number, (name, v) in enumerate(example().items(), 1) if not v}
        self.services = composed(self.secrets)["services"]
        self.ports = {name: free_port() for name in self.services}
        self.ports |= {"postgres": postgres.port, "balancer": self.ports["planner-1"]}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._held = ExitStack()
        (folder / "bin").mkdir()
        (folder / "bin" / "valkey-server").symlink_to(valkey.binary())
        (folder / "data").mkdir()

    def make_database(self) -> None:
        """What the PostgreSQL image does once: run the script that is mounted into it."""
        (script,) = [volume.split(":")[0] for volume in self._mounts("postgres") if volume.endswith(":ro")]
        environ = {"PGHOST": str(self.postgres.socket), **self.environ("postgres")}
        subprocess.run([ROOT / script], env=environ, check=True, stdout=subprocess.DEVNULL, timeout=60)

    def environ(self, name: str) -> dict[str, str]:
        """The variables of the service *name*, at our addresses."""
        given = {
            variable: self._here(value).replace("/var/lib/telha", str(self.folder / name))
            for variable, value in environment(self.services[name]).items()
        }
        if name.startswith("planner-"):
            given["TELHA_SERVER__PORT"] = str(self.ports[name])
        if name == "gateway":
            given["TELHA_GATEWAY__PORT"] = str(self.ports[name])
        return given | {"PATH": self._path(), "PGPORT": str(self.ports["postgres"])}

    def start(self, *names: str) -> None:
        """Start the services *names*."""
        for name in names:
            log = self._held.enter_context((self.folder / f"{name}.log").open("ab"))
            self.running[name] = subprocess.Popen(
                [sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), *self._command(name)],
                env=self.environ(name),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def probe(self, name: str) -> "subprocess.Popen[bytes]":
        """Start the health check of the service *name*, at our port; it ends with 0 if the service is healthy."""
        kind, *words = self.services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        words = [re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{self.ports[name]}", word) for word in words]
        return subprocess.Popen(words, env=self.environ(name), stdout=subprocess.DEVNULL)

    def ran(self, name: str) -> int:
        """Run the one-shot service *name* to its end."""
        self.start(name)
        return self.running.pop(name).wait(60)

    def kill(self, name: str) -> None:
        """End a service as a crash would."""
        self.running[name].kill()
        self.running.pop(name).wait(20)

    def stop(self, *names: str) -> dict[str, int]:
        """End services as Compose does; their exit codes."""
        for name in names:
            self.running[name].send_signal(signal.SIGTERM)
        return {name: self.running.pop(name).wait(60) for name in names}

    def close(self) -> None:
        """End what still runs."""
        for process in self.running.values():
            process.kill()
            process.wait(20)
        self._held.close()

    def said(self, name: str) -> str:
        """What a service logged."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def _here(self, value: str) -> str:
        # The writer listens where its planners look for it.
        value = re.sub(r"^0\.0\.0\.0:7341$", "trace-writer:7341", value)
        for other, port in self.ports.items():
            value = re.sub(rf"(^|@){other}:\d+", rf"\g<1>127.0.0.1:{port}", value)
        return value

    def _path(self) -> str:
        return ":".join(map(str, (self.folder / "bin", BIN, self.postgres.programs / "bin", os.environ["PATH"])))

    def _mounts(self, name: str) -> list[str]:
        return list(self.services[name]["volumes"])

    def _command(self, name: str) -> list[str]:
        program, *words = self.services[name]["command"]
        if name == "valkey":
            listening = f" --bind 127.0.0.1 --port {self.ports['valkey']}"
            return [
                "/bin/sh",
                *(word.replace("--dir /data", f"--dir {self.folder / 'data'}{listening}") for word in words),
            ]
        return [str(BIN / program), *words]

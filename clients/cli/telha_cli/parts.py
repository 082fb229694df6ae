"""
The parts of a Telha on one machine: what each is started with, and when it is ready.

    valkey ──► trace writer ──► planner ──► gateway

Rule 1: only the planner's gRPC and the gateway's HTTP are TCP; Valkey and the writer listen on unix sockets in a
private folder.
Rule 2: a part's settings are the user's configuration file under the variables that are set here. What is set here
belongs to `telha up`; a file that sets it too is refused, not overruled in silence.
"""

import http.client
import os
import secrets
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from telha_runtime import health, tether, valkey
from telha_runtime.supervisor import Part

from .problems import Problem

HOST = "127.0.0.1"
_DRAIN_S = 30.0
"""A planner drains its calls, then its spool, each within `drain_ms`, then ends its ingest child."""
_OWNED = {
    "store": ("url",),
    "trace": ("spool", "writer", "internal_token"),
    "writer": ("store",),
    "server": ("host", "port", "tls_certificate", "tls_key", "tls_client_authority"),
    "gateway": ("host", "port", "planner", "planner_tls"),
}
_SERVICES = ("trace-writer", "planner", "gateway")
"""In the order in which they start."""
_CLIENT_VARIABLES = ("TELHA_ADDRESS", "TELHA_KEY")


@dataclass(frozen=True, slots=True)
class Layout:
    """
    Where the parts live.

    Attributes:
        folder: The data folder, absolute.
        sockets: Private folder of the unix sockets; short, since such paths hold about 100 bytes.
        config: The user's configuration file.
        lock: Descriptor of the data folder's lock, handed down.
        embedder: What embeds; None leaves it to the configuration.
    """

    folder: Path
    sockets: Path
    grpc_port: int
    http_port: int
    config: Path | None
    lock: int
    embedder: str | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def redis_socket(self) -> Path:
        """Where the embedded Valkey listens."""
        return self.sockets / "redis"

    @property
    def writer_socket(self) -> Path:
        """Where the trace writer listens."""
        return self.sockets / "writer"


def external_redis(config: Path | None, environ: Mapping[str, str]) -> str | None:
    """
    The Redis that the user runs, if the configuration names one.

    Raises:
        Problem: The file cannot be read, or sets what `telha up` sets itself.
    """
    tree = read(config)
    _refuse(config, tree, _OWNED, "which telha up decides itself")
    trace = tree.get("trace")
    named = trace.get("redis_url") if isinstance(trace, dict) else None
    return environ.get("TELHA_TRACE__REDIS_URL") or (str(named) if named else None)


def refuse_owned(config: Path | None) -> None:
    """
    Refuse a configuration file that says where the stores are, beside a data folder that says so too.

    Raises:
        Problem: It does, or cannot be read.
    """
    _refuse(config, read(config), {"store": ("url",), "writer": ("store",)}, "which --data says too")


def stores(folder: Path) -> dict[str, str]:
    """The variables that name the stores of the data folder *folder*, absolute."""
    return {
        "TELHA_STORE__URL": f"sqlite:///{quote(str(folder / 'memory.db'))}",
        "TELHA_WRITER__STORE": str(folder / "traces.db"),
    }


def build(layout: Layout, redis_url: str | None, environ: Mapping[str, str]) -> list[Part]:
    """
    The parts in the order in which they start; an embedded Valkey first, unless *redis_url* names another.

    Raises:
        Problem: There is no embedded Valkey for this platform.
    """
    parts = [] if redis_url else [_valkey(layout, environ)]
    settings = _environment(layout, redis_url, environ)
    writer, planner = f"unix:{layout.writer_socket}", f"{HOST}:{layout.grpc_port}"
    ready = (
        lambda: health.serving(writer),
        lambda: health.serving(planner),
        lambda: answers(layout.http_port, "/readyz"),
    )
    return parts + [_service(layout, settings, *each) for each in zip(_SERVICES, ready, strict=True)]


def setting_faults(layout: Layout, redis_url: str | None, environ: Mapping[str, str]) -> list[str]:
    """What is wrong with the settings of any service, a sentence each, asked of all side by side."""
    set_here = _environment(layout, redis_url, {})
    if layout.config is None and not any(name.startswith("TELHA_") and "__" in name for name in environ):
        return []  # nobody has set anything
    running = [
        subprocess.Popen(  # noqa: S603  # our own entry points
            _command(layout, name, "check"),
            env=_inherited(environ) | set_here,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in _SERVICES
    ]
    said = [(process.communicate()[1].splitlines(), process.returncode) for process in running]
    return list(dict.fromkeys(line.strip() for lines, code in said if code for line in lines if line.strip()))


def module(name: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs a service's own entry point; `-P` keeps the working folder off the import path."""
    return (sys.executable, "-P", "-m", name, *arguments)


def tied(command: Sequence[str]) -> tuple[str, ...]:
    """*command* so that it ends with this process, however that ends; call it in the main thread."""
    return (sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), *command)


def read(config: Path | None) -> dict[str, Any]:
    """
    The configuration file as it stands, empty for None.

    Raises:
        Problem: It cannot be read.
    """
    if config is None:
        return {}
    try:
        return tomllib.loads(config.read_text(encoding="utf-8"))
    except OSError as fault:
        raise Problem("CONFIGURATION_INVALID", f"{config} cannot be read: {fault.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise Problem("CONFIGURATION_INVALID", f"{config} is not valid TOML: {fault}") from None


def _refuse(config: Path | None, tree: Mapping[str, Any], owned: Mapping[str, tuple[str, ...]], why: str) -> None:
    for section, keys in owned.items():
        told = tree.get(section)
        for key in keys:
            if isinstance(told, dict) and key in told:
                detail = f"{config} sets [{section}] {key}, {why}"
                raise Problem("CONFIGURATION_INVALID", detail, hint="remove it there; see `telha up --help`")


def _valkey(layout: Layout, environ: Mapping[str, str]) -> Part:
    socket = layout.redis_socket
    try:
        command = valkey.command(layout.folder / "valkey", socket)
    except valkey.ValkeyMissing as missing:
        hint = "name a Redis of yours: [trace] redis_url in the file given with --config"
        raise Problem("UNAVAILABLE", f"the embedded Valkey cannot be started: {missing}", hint=hint) from None
    log = layout.folder / "logs" / "valkey.log"
    return Part("valkey", command, environ, log, lambda: valkey.answers(socket), keep=(layout.lock,))


def _service(layout: Layout, environ: Mapping[str, str], name: str, ready: Callable[[], bool]) -> Part:
    command = _command(layout, name, "serve")
    log = layout.folder / "logs" / f"{name}.log"
    return Part(name, command, environ, log, ready, drain_s=_DRAIN_S, keep=(layout.lock,))


def _command(layout: Layout, name: str, verb: str) -> tuple[str, ...]:
    arguments = [verb] if layout.config is None else [verb, "--config", str(layout.config)]
    return module(f"telha_{name.replace('-', '_')}", *arguments)


def _inherited(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name not in _CLIENT_VARIABLES}


def _environment(layout: Layout, redis_url: str | None, environ: Mapping[str, str]) -> dict[str, str]:
    embedder = {} if layout.embedder is None else {"TELHA_EMBEDDING__PROVIDER": layout.embedder}
    return (
        _inherited(environ)
        | stores(layout.folder)
        | embedder
        | {
            "TELHA_SERVER__HOST": HOST,
            "TELHA_SERVER__PORT": str(layout.grpc_port),
            "TELHA_TRACE__SPOOL": str(layout.folder / "spool"),
            "TELHA_TRACE__REDIS_URL": redis_url or f"unix://{layout.redis_socket}",
            "TELHA_TRACE__WRITER": f"unix:{layout.writer_socket}",
            "TELHA_TRACE__INTERNAL_TOKEN": layout.token,
            "TELHA_GATEWAY__HOST": HOST,
            "TELHA_GATEWAY__PORT": str(layout.http_port),
            "TELHA_GATEWAY__PLANNER": f"{HOST}:{layout.grpc_port}",
        }
    )


def answers(port: int, path: str) -> bool:
    """Whether the gateway at *port* has something at *path*."""
    connection = http.client.HTTPConnection(HOST, port, timeout=1.0)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()

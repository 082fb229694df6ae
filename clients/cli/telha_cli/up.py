"""
`telha up`: the whole system on one machine, from one command.

    check configuration, folder, ports ──► start parts ──► first key ──► say where ──► watch ──► drain

Rule 1: what can be checked is checked before anything starts, and each failure is one sentence.
Rule 2: whatever goes wrong, nothing stays behind: no process, no socket.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from telha_client import Client, TelhaError, Unauthenticated
from telha_runtime.supervisor import PartFailed, Stop, Supervisor

from . import embedder, folder, on_store, parts, ports
from .folder import Connection
from .follow import Follower, Journal, rotate
from .problems import Problem, UsageInvalid

_OWNER_ALONE = 0o077
"""File mode mask of everything that the parts make."""
_CONFIGURATION_INVALID = 78
"""Exit code of a part whose settings are wrong; then its lines are the faults, one each."""


@dataclass(frozen=True, slots=True)
class Options:
    """
    What the user chose.

    Attributes:
        grpc_port, http_port: 0 takes any free port.
        verbose: Show the parts' logs on standard error.
        embedder: What embeds; None is the folder's own choice.
    """

    data: Path
    grpc_port: int
    http_port: int
    config: Path | None = None
    verbose: bool = False
    embedder: str | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """A running system."""

    connection: Connection
    supervisor: Supervisor


def run(options: Options, environ: Mapping[str, str], *, as_json: bool) -> None:
    """
    Start, stay until SIGINT, SIGTERM or SIGHUP, drain.

    Raises:
        Problem: The system cannot be started.
    """
    stop = stop_at_signals()
    follower = Follower(sys.stderr) if options.verbose else None
    with started(options, environ, stop, _tell, follower) as stack:
        if stop.is_set():
            return
        with folder.announced(options.data, environ):
            _say(stack.connection, options.data.absolute(), as_json=as_json)
            stack.supervisor.watch(stop, follower.show if follower else lambda: None)
            _tell("draining; Ctrl-C again ends at once")


@contextmanager
def started(
    options: Options,
    environ: Mapping[str, str],
    stop: Stop,
    tell: Callable[[str], None],
    follower: Follower | None = None,
) -> Iterator[Stack]:
    """
    The system, running inside the block; when *stop* is set meanwhile, the block starts at once.

    Args:
        tell: Gets what happens to the parts, a sentence each.

    Raises:
        Problem: It cannot be started. Nothing of it is left.
    """
    data = options.data.absolute()
    if options.grpc_port and options.grpc_port == options.http_port:
        raise UsageInvalid("--http-port", f"must differ from --port: both are {options.grpc_port}")
    redis_url = parts.external_redis(options.config, environ)
    config = options.config.absolute() if options.config else None
    tree = parts.read(config)
    choice = embedder.Choice(tree, environ, options.embedder)
    _check(parts.Layout(data, data, options.grpc_port, options.http_port, config, 0), redis_url, environ)
    with ExitStack() as held:
        # A folder that the user made may be open to others; what is said in it, and what was asked, must not be.
        held.callback(os.umask, os.umask(_OWNER_ALONE))
        folder.lay_out(data)
        lock = folder.lock(data)
        held.callback(os.close, lock)
        grpc_port, http_port = _port(options.grpc_port, "--port"), _port(options.http_port, "--http-port")
        taken = {grpc_port: "the port of gRPC", http_port: "the port of REST"}
        ports.refuse_taken(ports.metrics(tree, environ, parts.HOST), taken)
        sockets = folder.sockets(data)
        held.callback(shutil.rmtree, sockets, ignore_errors=True)
        provider = choice.settle(data, tell)
        layout = parts.Layout(data, sockets, grpc_port, http_port, config, lock, provider)
        built = parts.build(layout, redis_url, environ)
        for part in built:
            rotate(part.log)
        if follower:
            follower.follow({part.name: part.log for part in built})
        grpc, http = f"{parts.HOST}:{grpc_port}", f"http://{parts.HOST}:{http_port}"
        key = _first_key(data)
        supervisor = Supervisor(built, Journal(data / "logs" / "up.log", tell))
        held.callback(supervisor.stop)
        try:
            supervisor.start(stop)
        except PartFailed as failed:
            raise _start_problem(failed, data / "logs") from None
        choice.keep(data, provider)
        if not stop.is_set() and not _holds(grpc, key):
            key = _new_key(data)
            tell("the first key no longer holds; this is a new one")
        connection = Connection(grpc, http, key, os.getpid())
        folder.write(data, connection)
        yield Stack(connection, supervisor)


def stop_at_signals() -> Stop:
    """
    Set by SIGINT, SIGTERM and SIGHUP; must be called in the main thread.

    A further SIGINT ends this process at once, and its parts die with it: what they answered is on disk by then.
    """
    stop = Stop()

    def asked(_number: int, _frame: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, asked)
    return stop


def _tell(sentence: str) -> None:
    print(f"telha: {sentence}", file=sys.stderr, flush=True)


def _port(asked: int, flag: str) -> int:
    """
    *asked*, or a free port for 0.

    Raises:
        Problem: The port is taken, or needs rights this user lacks.
    """
    try:
        return ports.take(parts.HOST, asked)
    except OSError as fault:
        hint = f"choose another with {flag}, or any free one with --ephemeral-ports"
        raise Problem("UNAVAILABLE", f"port {asked} cannot be used: {fault.strerror}", hint=hint) from None


def _start_problem(failed: PartFailed, logs: Path) -> Problem:
    if failed.exit_code == _CONFIGURATION_INVALID and failed.said:
        return Problem("CONFIGURATION_INVALID", "; ".join(failed.said))
    return Problem("UNAVAILABLE", str(failed), hint=f"logs: {logs}")


def _first_key(data: Path) -> str:
    known = folder.read(data)
    if known is not None and (data / "memory.db").exists():
        return known.key
    return _new_key(data)


def _new_key(data: Path) -> str:
    place = on_store.Place(data=data)
    return str(on_store.administer(place, "keys", "create", "--name=first", "--operator")["key"])


def _holds(address: str, key: str) -> bool:
    """Whether the planner at *address* still takes *key*: it may have been revoked since it was noted."""
    try:
        with Client(address, key) as client:
            client.memory.sources(page_size=1)
    except Unauthenticated:
        return False
    except TelhaError:
        return True
    return True


def _check(layout: parts.Layout, redis_url: str | None, environ: Mapping[str, str]) -> None:
    """
    Have every service read its settings.

    Raises:
        Problem: Names the file and every fault of all of them.
    """
    faults = parts.setting_faults(layout, redis_url, environ)
    if faults:
        where = "" if layout.config is None else f"{layout.config}: "
        raise Problem("CONFIGURATION_INVALID", where + "; ".join(faults))


def _say(connection: Connection, data: Path, *, as_json: bool) -> None:
    if as_json:
        told = {name: value for name, value in asdict(connection).items() if name != "folder"}
        print(json.dumps({**told, "data": str(data)}), flush=True)
        return
    port = urlsplit(connection.http).port
    viewer = f"  traces {connection.http}/traces\n" if port is not None and parts.answers(port, "/traces") else ""
    print(
        f"telha is up\n"
        f"  gRPC   {connection.grpc}\n"
        f"  REST   {connection.http}\n"
        f"{viewer}"
        f"  data   {data}\n"
        f"  key    {connection.key}\n"
        f"Stop it with Ctrl-C.",
        flush=True,
    )

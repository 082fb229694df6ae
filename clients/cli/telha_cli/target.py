"""
Which server a command talks to, and with which key.

    --address --key   TELHA_ADDRESS TELHA_KEY   --data DIR   the newest running `telha up` of this user

The first of these that says something wins, for the address and the key each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import folder
from .problems import Problem


@dataclass(frozen=True, slots=True)
class Target:
    """
    Where to call.

    Attributes:
        address: `host:port` of the planner.
        key: The API key.
        http: Base URL of the gateway, where it is known.
    """

    address: str
    key: str
    http: str | None = None


def find(address: str | None, key: str | None, data: Path | None, environ: Mapping[str, str]) -> Target:
    """
    Resolve what was given; a flag wins over the environment.

    Raises:
        Problem: Nothing was given and nothing runs, or the address comes without a key.
    """
    explicit = address or (None if data is not None else environ.get("TELHA_ADDRESS") or None)
    key = key or (None if data is not None and address is None else environ.get("TELHA_KEY") or None)
    if explicit is not None:
        if key is None:
            raise Problem("UNAUTHENTICATED", "an API key is required", hint="give --key, or set TELHA_KEY")
        return Target(explicit, key)
    connection = _noted(data) if data is not None else folder.running(environ)
    if connection is None:
        hint = "start one with `telha up`, or give --address and --key"
        raise Problem("UNAVAILABLE", "no running telha was found", hint=hint)
    return Target(connection.grpc, key or connection.key, connection.http)


def _noted(data: Path) -> folder.Connection:
    connection = folder.read(data)
    if connection is None or not folder.alive(connection.pid):
        hint = f"start it with `telha up --data {data}`"
        raise Problem("UNAVAILABLE", f"no telha runs on the data folder {data}", hint=hint)
    return connection

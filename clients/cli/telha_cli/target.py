"""
Which server a command talks to, and with which key.

    --address --key   --data DIR   TELHA_ADDRESS TELHA_KEY   the `telha up` on ./data   the newest one of this user

The first of these that says something wins, for the address and the key each; but an address that was stated is never
sent a key that was not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import folder
from .problems import Problem

HERE = Path("data")
"""Where `telha up` keeps its data unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Target:
    """
    Where to call.

    Attributes:
        address: `host:port` of the planner.
        key: The API key.
        http: Base URL of the gateway, where it is known.
        origin: Where address and key come from, for a person.
    """

    address: str
    key: str
    http: str | None = None
    origin: str = field(default="", compare=False)


def find(address: str | None, key: str | None, data: Path | None, environ: Mapping[str, str]) -> Target:
    """
    Resolve what was given; a flag wins over the environment.

    Raises:
        Problem: Nothing was given and nothing runs, or the address comes without a key.
    """
    key_from = "--key" if key else "TELHA_KEY"
    explicit = address or (None if data is not None else environ.get("TELHA_ADDRESS") or None)
    key = key or (None if data is not None and address is None else environ.get("TELHA_KEY") or None)
    if explicit is not None:
        if key is None:
            raise Problem("UNAUTHENTICATED", "an API key is required", hint="give --key, or set TELHA_KEY")
        origin = f"the address is from {'--address' if address else 'TELHA_ADDRESS'}, the key from {key_from}"
        return Target(explicit, key, origin=origin)
    if data is not None:
        connection, place = _noted(data), f"{data}/connection.json"
    else:
        found = _running_here(environ)
        if found is None:
            hint = "start one with `telha up`, or give --address and --key"
            raise Problem("UNAVAILABLE", "no running telha was found", hint=hint)
        connection, place = found
    origin = f"the address is from {place}, the key from {key_from if key else 'there too'}"
    return Target(connection.grpc, key or connection.key, connection.http, origin)


def _running_here(environ: Mapping[str, str]) -> tuple[folder.Connection, str] | None:
    here = folder.standing(HERE)
    if here is not None:
        return here, f"{HERE}/connection.json"
    newest = folder.running(environ)
    return None if newest is None else (newest, "the newest `telha up` of yours")


def _noted(data: Path) -> folder.Connection:
    connection = folder.standing(data)
    if connection is None:
        hint = f"start it with `telha up --data {data}`"
        raise Problem("UNAVAILABLE", f"no telha runs on the data folder {data}", hint=hint)
    return connection

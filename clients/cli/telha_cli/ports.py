"""
Ports of one machine, tried before anything starts.

Rule: a port is tried by taking it and letting it go at once; what takes it in between is told by the part itself.
"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .problems import Problem

_METRICS = (("server", "TELHA_SERVER", None), ("writer", "TELHA_WRITER", "metrics_host"))


@dataclass(frozen=True, slots=True)
class MetricsPort:
    """A page of metrics that the configuration asks for; *setting* says where."""

    setting: str
    host: str
    port: int


def metrics(tree: Mapping[str, Any], environ: Mapping[str, str], host: str) -> list[MetricsPort]:
    """
    The ports of metrics in *tree*, a configuration without faults, and in *environ*, which wins.

    Args:
        host: Where a part serves that has no host for it of its own.
    """
    found = []
    for section, prefix, host_key in _METRICS:
        told = tree.get(section, {})
        port = int(environ.get(f"{prefix}__METRICS_PORT") or told.get("metrics_port", 0))
        where = host
        if host_key is not None:
            where = environ.get(f"{prefix}__{host_key.upper()}") or told.get(host_key, host)
        if port:
            found.append(MetricsPort(f"[{section}] metrics_port", where, port))
    return found


def refuse_taken(wanted: list[MetricsPort], others: Mapping[int, str]) -> None:
    """
    Refuse a port of metrics that cannot be had.

    Args:
        others: What takes other ports, by port, such as `--port`; 0, any free one, is no conflict.

    Raises:
        Problem: It is taken, or wanted twice.
    """
    taken = dict(others)
    for each in wanted:
        if each.port in taken:
            raise Problem("CONFIGURATION_INVALID", f"{each.setting} = {each.port} is also {taken[each.port]}")
        taken[each.port] = each.setting
        try:
            take(each.host, each.port)
        except OSError as fault:
            detail = f"{each.setting} = {each.port} cannot be used: {fault.strerror}"
            raise Problem("UNAVAILABLE", detail, hint="choose another; 0 serves no metrics") from None


def take(host: str, port: int) -> int:
    """
    The port that *host* has for *port* (0 is any free one), let go again.

    Raises:
        OSError: It is taken, or needs rights this user lacks, or there is no such host.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # Gone connections in TIME_WAIT do not hold a port; a listener does.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])

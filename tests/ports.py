"""
Ports for programs that must be told theirs before they start.

A port that the kernel gave away and got back may be given to the next who connects or listens. These lie below its
range, so that nobody gets them by chance, and none is handed out twice in a run.
"""

import itertools
import os
import socket
from pathlib import Path

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 10_000
_HIGHEST = min(int(_RANGE.read_text().split()[0]), 32_768) if _RANGE.exists() else 32_768
# Runs beside one another begin at places of their own.
_numbers = itertools.count(os.getpid() * 97)


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens."""
    for number in _numbers:
        port = _LOWEST + number % (_HIGHEST - _LOWEST)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise AssertionError("unreachable: the numbers have no end")

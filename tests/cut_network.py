"""
Importing this leaves the process without a network; import it before anything that starts a thread.

The kernel gives the process a network of its own with nothing in it, where that is allowed; and any attempt of Python's
to reach one, allowed or not, ends it.
"""

import ctypes
import os
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
REACHING = frozenset({"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"})


def _refuse(event: str, _arguments: tuple) -> None:
    if event in REACHING:
        os.write(2, f"{event} without a network\n".encode())
        os._exit(3)


ISOLATED = ctypes.CDLL(None).unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0
"""Whether the kernel cut it too."""

sys.addaudithook(_refuse)

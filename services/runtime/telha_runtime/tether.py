"""
Run a command that cannot outlive the process that started it.

Started as `python -I -S tether.py PARENT COMMAND…`: asks the kernel for SIGKILL at the death of the parent, makes sure
that the parent is still alive, then becomes the command (the request survives `execv`).

Rule 1: standard library only, and no import of this package, so that it costs milliseconds.
Rule 2: the death signal follows the parent's *thread*, so the parent must start this from its main thread.
Rule 3: SIGKILL, because a part that hangs would ignore anything kinder; every part survives it by design.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """
    Become *arguments*[1:], tied to the process with the id *arguments*[0].

    On systems without `prctl` (macOS) the command runs untied.
    """
    parent = int(arguments[0])
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        if os.getppid() != parent:  # it died before the request was in place
            sys.exit(1)
    os.execv(arguments[1], arguments[1:])  # noqa: S606  # becoming the command is the purpose


if __name__ == "__main__":
    main(sys.argv[1:])

"""
What a process of ours does about its parent and about signals.

Rule 1: a child never outlives its parent, not even one that was killed with SIGKILL. (A supervisor ties programs
that know nothing of us with tether.py; this is for children that run our code.)
Rule 2: SIGTERM and SIGINT mean the same: stop taking work, finish what was accepted, leave.
"""

import asyncio
import ctypes
import os
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1

# Loaded at import: between fork and exec a child must not take the loader's locks.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(parent_pid: int | None = None, signal_number: signal.Signals = signal.SIGTERM) -> None:
    """
    Ask the kernel to send *signal_number* to this process when its parent ends; does nothing off Linux.

    May be called at the start of a child, or between fork and exec (`preexec_fn`), since the wish outlives `exec`.
    The kernel looks at the *thread* that started the child: spawn children from a thread that lives as long as the
    process, best the main thread.

    Args:
        parent_pid: Who the parent must be. If it is already gone, this process gets the signal at once. None trusts
            the present parent.
        signal_number: What this process gets when its parent ends.
    """
    if _libc is None:
        return
    expected = os.getppid() if parent_pid is None else parent_pid
    if _libc.prctl(_PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # The parent may have ended before the wish was heard; then nothing will ever send the signal.
    if os.getppid() != expected:
        os.kill(os.getpid(), signal_number)


def install_stop_signals(loop: asyncio.AbstractEventLoop) -> asyncio.Event:
    """
    Turn SIGTERM and SIGINT into an event, so that a service can drain.

    Further signals change nothing: at Ctrl-C a terminal signals the whole group, and the supervisor then signals its
    children again, which must not cut short a drain that has begun.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop

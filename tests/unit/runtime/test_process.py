"""Processes: nobody outlives its parent, and a stop signal is an event."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from telha_runtime import process

PARENT = """
import functools, os, subprocess, sys, time
from telha_runtime.process import die_with_parent
child = subprocess.Popen(["sleep", "60"], preexec_fn=functools.partial(die_with_parent, os.getpid()))
print(child.pid, flush=True)
time.sleep(60)
"""


def gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_child_dies_with_a_killed_parent() -> None:
    """X3: `kill -9` of a supervisor leaves no orphan, even one that knows nothing of us."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
        assert psutil.pid_exists(child)
        parent.kill()
        parent.wait()
    assert gone_within(child, 5)


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_child_whose_parent_is_already_gone_dies_at_once() -> None:
    """A9: a child whose parent is already gone dies at once."""
    code = "import time; from telha_runtime.process import die_with_parent; die_with_parent(1 << 22); time.sleep(60)"
    assert subprocess.run([sys.executable, "-c", code], timeout=20, check=False).returncode == -signal.SIGTERM


async def _stopped_by(number: int) -> bool:
    loop = asyncio.get_running_loop()
    stop = process.install_stop_signals(loop)
    try:
        os.kill(os.getpid(), number)
        await asyncio.wait_for(stop.wait(), 5)
        os.kill(os.getpid(), number)
        await asyncio.sleep(0.01)
        return stop.is_set()
    finally:
        for installed in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(installed)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_is_an_event(number: int) -> None:
    """A1: graceful drain begins with either signal, and a second one does not cut it short."""
    assert asyncio.run(_stopped_by(number))

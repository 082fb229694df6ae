"""One process of a system under faults: started, killed, stopped, held, and what it says."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from telha_runtime import tether


class PartFailed(Exception):
    """A part does not come to serve; the message ends with what it logged last."""


@dataclass(slots=True)
class Part:
    """
    A process that can be started again and again; it dies with this one. Start it from the main thread.

    Attributes:
        ready: Whether it serves.
        starts: How often it was started.
    """

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    log: Path
    ready: Callable[[], bool]
    starts: int = 0
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    @property
    def runs(self) -> bool:
        """Whether there is a process."""
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        """Of the process."""
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Start it; `await_ready` waits until it serves."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), *self.command],
                env=dict(self.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C reaches the driver alone, which then stops the parts in order.
                process_group=0,
            )
        self.starts += 1

    def await_ready(self, seconds: float = 60) -> None:
        """Return as soon as it serves; raises `PartFailed`."""
        deadline = time.monotonic() + seconds
        while not self.ready():
            if not self.runs or time.monotonic() > deadline:
                what = "is not ready" if self.runs else "ended before it was ready"
                raise PartFailed(f"{self.name} {what}: {self.said()[-600:]}")
            time.sleep(0.02)

    def kill(self) -> None:
        """End it as a crash does, with its children."""
        if self.process is not None:
            for child in self.children():
                child.kill()
            self.process.kill()
            self.process.wait(20)

    def stop(self, seconds: float = 45) -> int:
        """End it as an operator does; its exit code."""
        assert self.process is not None
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL

    def hold(self) -> None:
        """Let it hang, until `release`."""
        os.kill(self.pid, signal.SIGSTOP)

    def release(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def children(self) -> list[psutil.Process]:
        """Processes that it has started."""
        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def said(self) -> str:
        """What it logged."""
        return self.log.read_text(errors="replace")

"""
Start processes in order, keep them running, stop them in reverse order.

    start ──► each part: spawn, wait until ready ──► watch: a part that ends is started again ──► stop

Rule 1: parts are spawned from the calling thread, which must be the process's main thread and outlive them:
they die with it (tether.py).
Rule 2: each part has its own process group, so that Ctrl-C in a terminal reaches the supervisor alone.
Rule 3: what happens is told in one sentence each to *report*; nothing is silent.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_TETHER = str(Path(__file__).with_name("tether.py"))
_TICK_S = 0.1
"""Longest sleep: how late a signal may be noticed."""
_FIRST_DELAY_S = 0.2
_LONGEST_DELAY_S = 10.0
_SETTLED_S = 30.0
"""A part that ran this long starts again without delay growth."""


class Stop:
    """
    Whether to stop; a signal handler may set it at any moment.

    `threading.Event` must not be set from a handler: its lock may be held by the very code that the signal interrupts,
    or by a handler that a second signal interrupts.
    """

    def __init__(self) -> None:
        self._asked = False

    def set(self) -> None:
        """Ask to stop."""
        self._asked = True

    def is_set(self) -> bool:
        """Whether somebody asked to stop."""
        return self._asked

    def wait(self, seconds: float) -> bool:
        """Sleep *seconds*, less if somebody asks to stop; returns whether somebody did."""
        deadline = time.monotonic() + seconds
        while not self._asked and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, _TICK_S))
        return self._asked


class PartFailed(Exception):
    """
    A part did not become ready.

    Attributes:
        exit_code: What it ended with; None if it still ran.
        said: The lines it logged since it was started.
    """

    def __init__(self, sentence: str, exit_code: int | None, said: Sequence[str]) -> None:
        super().__init__(f"{sentence}: {said[-1]}" if said else sentence)
        self.exit_code, self.said = exit_code, tuple(said)


@dataclass(frozen=True, slots=True)
class Part:
    """
    One process of the system.

    Attributes:
        command: Absolute program and its arguments.
        environ: The whole environment.
        log: File that standard output and standard error are appended to.
        ready: Whether the part can serve; answers within about a second, never raises.
        ready_s: Seconds it may take until ready at the first start.
        drain_s: Seconds between SIGTERM and SIGKILL at the stop.
        keep: File descriptors that the part inherits.
    """

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    log: Path
    ready: Callable[[], bool]
    ready_s: float = 60.0
    drain_s: float = 15.0
    keep: tuple[int, ...] = ()


@dataclass(slots=True)
class _Running:
    part: Part
    process: subprocess.Popen[bytes]
    since: float
    log_start: int = 0
    ready: bool = True
    delay: float = _FIRST_DELAY_S
    again_at: float | None = None


@dataclass(slots=True)
class Supervisor:
    """Runs *parts*, first to last."""

    parts: Sequence[Part]
    report: Callable[[str], None]
    _running: list[_Running] = field(default_factory=list)

    def start(self, stop: Stop) -> None:
        """
        Spawn every part, then wait until each is ready; return early when *stop* is set.

        Parts start side by side, since each waits for those it needs; that they get ready in order is only told so.

        Raises:
            PartFailed: A part ended or was not ready in time. What was started has been stopped again.
        """
        try:
            for part in self.parts:
                logged = part.log.stat().st_size if part.log.exists() else 0
                self._running.append(_Running(part, _spawn(part), time.monotonic(), logged))
            for running in self._running:
                if not self._until_ready(running, stop):
                    return
                self.report(f"{running.part.name} is ready after {time.monotonic() - running.since:.1f} s")
        except BaseException:
            self.stop()
            raise

    def watch(self, stop: Stop, tick: Callable[[], None] = lambda: None) -> None:
        """Start again whatever ends, with growing delays, until *stop* is set; *tick* runs about ten times a second."""
        while not stop.wait(_TICK_S):
            tick()
            for running in self._running:
                self._tend(running)

    def stop(self) -> None:
        """Stop the parts, last to first: SIGTERM, then SIGKILL for one that does not end within its `drain_s`."""
        while self._running:
            running = self._running.pop()
            process, part = running.process, running.part
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(part.drain_s)
                except subprocess.TimeoutExpired:
                    self.report(f"{part.name} did not end within {part.drain_s:g} s and was killed")
                    process.kill()
                    process.wait()

    def pids(self) -> dict[str, int]:
        """The process id of each part."""
        return {running.part.name: running.process.pid for running in self._running}

    def _until_ready(self, running: _Running, stop: Stop) -> bool:
        part, deadline = running.part, time.monotonic() + running.part.ready_s
        while not part.ready():
            if running.process.poll() is not None:
                code = running.process.returncode
                raise PartFailed(f"{part.name} {_ended(code)} before it was ready", code, _said(running))
            if time.monotonic() > deadline:
                raise PartFailed(f"{part.name} was not ready within {part.ready_s:g} s", None, _said(running))
            if stop.wait(0.02):
                return False
        return True

    def _tend(self, running: _Running) -> None:
        now = time.monotonic()
        if running.again_at is None:
            if running.process.poll() is not None:
                self._plan_restart(running, now)
            elif not running.ready and running.part.ready():
                running.ready = True
                self.report(f"{running.part.name} is ready again (pid {running.process.pid})")
        elif now >= running.again_at:
            running.process, running.since = _spawn(running.part), now
            running.ready, running.again_at = False, None

    def _plan_restart(self, running: _Running, now: float) -> None:
        if now - running.since > _SETTLED_S:
            running.delay = _FIRST_DELAY_S
        ended = _ended(running.process.returncode)
        self.report(f"{running.part.name} {ended}; starting it again in {running.delay:g} s")
        running.again_at = now + running.delay
        running.delay = min(running.delay * 2, _LONGEST_DELAY_S)


def _spawn(part: Part) -> subprocess.Popen[bytes]:
    with part.log.open("ab") as log:
        return subprocess.Popen(  # noqa: S603  # the parts are the supervisor's own
            [sys.executable, "-I", "-S", _TETHER, str(os.getpid()), *part.command],
            env=dict(part.environ),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=part.keep,
            process_group=0,
        )


def _ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    known = {number.value: number.name for number in signal.Signals}
    return f"was ended by {known.get(-code, f'signal {-code}')}"


def _said(running: _Running) -> list[str]:
    with running.part.log.open("rb") as file:
        file.seek(running.log_start)
        lines = file.read().decode(errors="replace").splitlines()
    return [line.strip() for line in lines if line.strip()]

"""What a command starts to do its work ends with it, so that a killed copy does not go on writing behind one's back."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from telha_cli import copying, evaluating, migrate, parts

STARTS = """
import subprocess, sys
from telha_cli import parts
subprocess.run(parts.tied((sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)")))
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
@pytest.mark.parametrize("end", [subprocess.Popen.kill, subprocess.Popen.terminate])
def test_it_ends_however_the_command_ends(end) -> None:
    """A3, M6: kill -9, and the SIGTERM of a service manager or of timeout."""
    with subprocess.Popen([sys.executable, "-c", STARTS], stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        started = psutil.Process(int(command.stdout.readline()))
        end(command)
    psutil.wait_procs([started], timeout=10)
    assert not started.is_running() or started.status() == psutil.STATUS_ZOMBIE


def test_its_own_end_passes_through() -> None:
    """A3: output and exit code are the command's."""
    command = parts.tied((sys.executable, "-c", "print('said'); raise SystemExit(7)"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "said\n")


@pytest.mark.parametrize(
    "starts",
    [
        lambda: copying.run("sqlite:///a", "sqlite:///b", as_json=False),
        lambda: evaluating.run(["folder"]),
        lambda: migrate.run(None, Path("data"), {}, check=True),
    ],
)
def test_whatever_writes_or_takes_long_is_tied(monkeypatch: pytest.MonkeyPatch, starts) -> None:
    """A3: to the process that was asked for it."""
    commands = []

    def run(command, **_):
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, stdout='{"found": null}', stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    starts()
    assert commands
    assert {command[4] for command in commands} == {str(os.getpid())}

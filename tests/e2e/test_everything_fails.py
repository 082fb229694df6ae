"""`make fault`, short: real processes fail under load, and what was acknowledged is there, once and right."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from fault.faults import FAULTS
from fault.run import Options, run
from fault.stores import Files

pytestmark = [pytest.mark.process, pytest.mark.timeout(280)]

SHORT = (
    "kill_valkey",
    "flushall",
    "redis_cut",
    "kill_writer",
    "fail_over",
    "file_limit_planner",
    "kill_planner",
    "kill_gateway",
)


SYSTEM = ("valkey", "writer-1", "writer-2", "planner-1", "planner-2", "gateway")


def test_what_was_acknowledged_survives_everything(tmp_path: Path) -> None:
    """X2, X3, X4, S9, S12, R5, A1, M1: no trace lost or doubled, texts and hashes as answered, stores whole."""
    said: list[str] = []
    options = Options(200, 5, SHORT, scale=0.2, pause_s=0.5, callers=3, minutes=3, settle_s=60, again=40)
    report, read = run(options, tmp_path, Files(tmp_path), said.append)
    assert report.right, "\n".join([*said, report.markdown(read)])
    assert set(SHORT) <= set(report.faults) <= set(FAULTS)
    assert len(read.traced) > 50
    assert report.texts > len(read.traced)


def test_an_interrupted_run_leaves_no_process(tmp_path: Path) -> None:
    """X3: Ctrl-C ends every process of the run, wherever it is, and says so."""
    suite = Path(__file__).parents[1] / "fault_suite.py"
    environ = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, str(suite), "--calls", "1000000", "--seed", "1"]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while len(started := psutil.Process(process.pid).children(recursive=True)) < len(SYSTEM):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(60) == 130, said
    assert "interrupted" in said
    gone, alive = psutil.wait_procs(started, timeout=20)
    assert (len(gone), alive) == (len(started), [])

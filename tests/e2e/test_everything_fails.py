"""`make fault`, short: real processes fail under load, and what was acknowledged is there, once and right."""

from pathlib import Path

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


def test_what_was_acknowledged_survives_everything(tmp_path: Path) -> None:
    """X2, X3, X4, S9, S12, R5, A1, M1: no trace lost or doubled, texts and hashes as answered, stores whole."""
    said: list[str] = []
    options = Options(200, 5, SHORT, scale=0.2, pause_s=0.5, callers=3, minutes=3, settle_s=60, again=40)
    report, read = run(options, tmp_path, Files(tmp_path), said.append)
    assert report.right, "\n".join([*said, report.markdown(read)])
    assert set(SHORT) <= set(report.faults) <= set(FAULTS)
    assert len(read.traced) > 50
    assert report.texts > len(read.traced)

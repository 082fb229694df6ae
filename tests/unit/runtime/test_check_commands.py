"""`check` of each service: its settings read, every fault named, nothing started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SERVICES = ("telha_planner", "telha_trace_writer", "telha_gateway")


def _check(service: str, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    command = [sys.executable, "-P", "-m", service, "check", *words]
    token = {"TELHA_TRACE__INTERNAL_TOKEN": "0123456789abcdef"}
    return subprocess.run(command, env=environ | token, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("service", SERVICES)
def test_a_check_says_what_is_wrong_and_starts_nothing(service: str, tmp_path: Path) -> None:
    """G1: exit code 0 or 78, faults on standard error, a line each."""
    good = _check(service)
    assert (good.returncode, good.stdout, good.stderr) == (0, "", "")
    config = tmp_path / "telha.toml"
    section = {"telha_planner": "server", "telha_trace_writer": "writer", "telha_gateway": "gateway"}[service]
    config.write_text(f"[{section}]\nlog_level = 'loud'\ndrain_ms = -1\n[nosuch]\na = 1\n")
    wrong = _check(service, "--config", str(config))
    assert wrong.returncode == 78
    named = {line.split(":")[0].split(" =")[0] for line in wrong.stderr.splitlines()}
    assert named == {"nosuch", f"{section}.drain_ms", f"{section}.log_level"}

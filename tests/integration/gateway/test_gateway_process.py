"""The gateway as a process: how it starts, refuses to start, and stops."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

pytestmark = pytest.mark.process


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def gateway(folder, text="", **environ):
    config = folder / "telha.toml"
    config.write_text(text)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "telha_gateway", "serve", "--config", str(config)],
        env={**inherited, **environ},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def get(port, path, attempts=200):
    for _ in range(attempts):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return answer.status, json.loads(body)
    raise AssertionError("the gateway never listened")


def test_it_serves_before_its_planner_does_and_drains_at_sigterm(tmp_path):
    """A1: the file and the environment configure it, it lives without a planner, SIGTERM ends it in order."""
    port, planner = free_port(), free_port()
    text = f'[planner]\ndefault_budget = 5\n[gateway]\nport = 1\nplanner = "127.0.0.1:{planner}"\n'
    with gateway(tmp_path, text, TELHA_GATEWAY__PORT=str(port)) as process:
        assert get(port, "/healthz") == (200, {"status": "live"})
        status, problem = get(port, "/readyz")
        assert (status, problem["code"]) == (503, "UNAVAILABLE")
        status, problem = get(port, "/v1/traces")
        assert (status, problem["code"]) == (503, "UNAVAILABLE")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 0
    events = [json.loads(line) for line in errors.splitlines()]
    assert [event["event"] for event in events if event["event"] != "request"] == ["listening", "stopped"]
    assert {event["service"] for event in events} == {"gateway"}
    requests = [event for event in events if event["event"] == "request"]
    assert [(event["operation"], event["status"]) for event in requests] == [
        ("live", 200),
        ("ready", 503),
        ("listTraces", 503),
    ]


def test_a_busy_port_is_one_sentence(tmp_path):
    """A1: a busy port ends in one clear sentence and an exit code, not in a stack trace."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with gateway(tmp_path, f"[gateway]\nport = {port}\n") as process:
            _, errors = process.communicate(timeout=20)
    assert process.returncode == 69
    assert errors == f"the gateway cannot listen on 127.0.0.1:{port}: Address already in use\n"


def test_a_missing_certificate_is_one_sentence(tmp_path):
    """A1: a file that cannot be read stops the start, before the port is taken."""
    text = '[gateway]\nport = 0\nplanner_tls = true\nplanner_tls_authority = "no/such.pem"\n'
    with gateway(tmp_path, text) as process:
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 69
    assert errors == "the gateway cannot read no/such.pem: No such file or directory\n"

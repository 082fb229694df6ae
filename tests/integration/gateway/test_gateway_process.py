"""The gateway as a process: how it starts, refuses to start, and stops."""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from planner_server import PlannerServer
from ports import free_port
from telha.trace.v1 import traces_pb2
from telha_planner.server.call import Service

pytestmark = pytest.mark.process


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


def until_refusing(port):
    """Return as soon as nobody listens on *port*: the drain has begun."""
    for _ in range(2400):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            return
        time.sleep(0.025)
    raise AssertionError("the gateway goes on listening")


def get(port, path, attempts=1200):
    for _ in range(attempts):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", path, headers={"authorization": "Bearer telha_key"})
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
        _, errors = process.communicate(timeout=60)
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
            _, errors = process.communicate(timeout=60)
    assert process.returncode == 69
    assert errors == f"the gateway cannot listen on 127.0.0.1:{port}: Address already in use\n"


def test_a_missing_certificate_is_one_sentence(tmp_path):
    """A1: a file that cannot be read stops the start, before the port is taken."""
    text = '[gateway]\nport = 0\nplanner_tls = true\nplanner_tls_authority = "no/such.pem"\n'
    with gateway(tmp_path, text) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 69
    assert errors == "the gateway cannot read no/such.pem: No such file or directory\n"


@contextmanager
def slow_planner():
    """A planner that lists traces once it is told to, and says when it began."""
    began, over = threading.Event(), threading.Event()

    async def listed(raw, call):
        began.set()
        while not over.is_set():  # noqa: ASYNC110  # the test sets it from another thread
            await asyncio.sleep(0.01)
        return traces_pb2.ListResponse(next_page_token="at last")

    with PlannerServer(lambda: [Service("telha.trace.v1.Traces", {"List": listed})]) as server:
        try:
            yield server.address, began, over
        finally:
            over.set()


def test_a_request_under_way_is_answered_before_the_gateway_stops(tmp_path):
    """A1: SIGTERM drains: what was accepted is finished, and then the process ends in order."""
    port = free_port()
    with slow_planner() as (address, began, over):
        text = f'[gateway]\nport = {port}\nplanner = "{address}"\n'
        with gateway(tmp_path, text) as process:
            get(port, "/healthz")
            answers = []
            caller = threading.Thread(target=lambda: answers.append(get(port, "/v1/traces")))
            caller.start()
            assert began.wait(60)
            process.send_signal(signal.SIGTERM)
            until_refusing(port)
            over.set()
            caller.join(60)
            process.wait(60)
    assert answers == [(200, {"traces": [], "nextPageToken": "at last"})]
    assert process.returncode == 0


def test_a_request_that_outlives_the_drain_does_not_keep_the_gateway(tmp_path):
    """A1: draining has an end, `drain_ms`."""
    port = free_port()
    with slow_planner() as (address, began, _):
        text = f'[gateway]\nport = {port}\nplanner = "{address}"\ndrain_ms = 500\n'
        with gateway(tmp_path, text) as process:
            get(port, "/healthz")
            with socket.create_connection(("127.0.0.1", port), timeout=60) as wire:
                wire.sendall(b"GET /v1/traces HTTP/1.1\r\nhost: x\r\nauthorization: Bearer telha_key\r\n\r\n")
                assert began.wait(60)
                before = time.monotonic()
                process.send_signal(signal.SIGTERM)
                answer = wire.recv(65536)
                process.wait(60)
            assert time.monotonic() - before < 30
            assert process.stderr is not None
            assert "Traceback" not in process.stderr.read()
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert process.returncode == 0

"""Clients that keep their connections alive as eagerly as they can are borne with."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health, health_pb2_grpc
from planner_server import PlannerServer
from tools import needed

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

CLIENT = Path(__file__).with_name("keepalive")


@contextmanager
def strict() -> Iterator[str]:
    """A server with gRPC's own rules, which bear no ping within five minutes."""
    server = grpc.server(ThreadPoolExecutor(2), options=[("grpc.so_reuseport", 0)])
    health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


def test_a_go_client_that_pings_every_ten_seconds_keeps_its_connection(tmp_path: Path) -> None:
    """A1: with and without calls; grpc-go sends no faster. A strict server shows the difference."""
    program = tmp_path / "keepalive"
    subprocess.run([needed("go"), "build", "-o", program, "."], cwd=CLIENT, check=True, timeout=400)
    with PlannerServer(list) as server, strict() as other:
        ours, theirs = (
            subprocess.Popen([program, address], stderr=subprocess.PIPE, text=True)
            for address in (server.address, other)
        )
        told, told_by_other = (process.communicate(timeout=150)[1] for process in (ours, theirs))
    assert (ours.returncode, told) == (0, "")
    assert theirs.returncode == 1, told_by_other

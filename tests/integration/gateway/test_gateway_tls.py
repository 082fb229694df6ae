"""The way from the gateway to the planner, secured."""

import subprocess

import httpx
import pytest
from gateway_server import Script, running
from planner_server import PlannerServer
from telha.trace.v1 import traces_pb2
from telha_planner.server.call import Service
from tools import needed

KEY = {"authorization": "Bearer telha_key"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An authority, and two certificates that it signed."""
    needed("openssl")
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA")
    (folder / "san").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
    for name in ("server", "client"):
        openssl("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "san", "-days", "2")
        openssl("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *signed)
    return folder


async def listed(raw, call):
    return traces_pb2.ListResponse(next_page_token="secured")


def services():
    return [Service("telha.trace.v1.Traces", {"List": listed})]


def test_the_way_to_the_planner_can_be_mutual_tls(files):
    """A1: TLS and mTLS between gateway and planner by configuration alone; the wrong side is 503, never plain text."""
    strict = {
        "tls_certificate": files / "server.pem",
        "tls_key": files / "server.key",
        "tls_client_authority": files / "ca.pem",
    }
    trusting = {"planner_tls": True, "planner_tls_authority": files / "ca.pem"}
    proven = trusting | {
        "planner_tls_certificate": files / "client.pem",
        "planner_tls_key": files / "client.key",
    }
    with PlannerServer(services, **strict) as server:
        with running(Script(), planner=server.address, **proven) as url:
            assert httpx.get(f"{url}/v1/traces", headers=KEY).json() == {"traces": [], "nextPageToken": "secured"}
        for settings in (trusting, {}):
            with running(Script(), planner=server.address, timeout_ms=2000, **settings) as url:
                answer = httpx.get(f"{url}/v1/traces", headers=KEY)
                assert (answer.status_code, answer.json()["code"]) == (503, "UNAVAILABLE")

"""TLS and mutual TLS by configuration alone."""

import shutil
import subprocess

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from planner_server import PlannerServer
from telha_planner.server.call import Service
from telha_planner.server.listener import ListenFailed

NAME = "telha.planner.v1.Planner"

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


async def hello(raw, call):
    return StringValue(value="hello")


def services():
    return [Service(NAME, {"Plan": hello})]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An authority, and two certificates that it signed."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA")
    for name in ("server", "client"):
        openssl("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (folder / "san").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "san", "-days", "2")
        openssl("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *signed)
    return folder


def say_hello(address, *, root, key=None, certificate=None):
    credentials = grpc.ssl_channel_credentials(root, key, certificate)
    with grpc.secure_channel(address, credentials) as channel:
        raw = channel.unary_unary(f"/{NAME}/Plan")(b"", timeout=5)
    return StringValue.FromString(raw).value


def test_a_certificate_makes_the_port_tls(files):
    """A1: TLS by configuration."""
    tls = {"tls_certificate": files / "server.pem", "tls_key": files / "server.key"}
    with PlannerServer(services, **tls) as server:
        assert say_hello(server.address, root=(files / "ca.pem").read_bytes()) == "hello"
        with grpc.insecure_channel(server.address) as channel, pytest.raises(grpc.RpcError):
            channel.unary_unary(f"/{NAME}/Plan")(b"", timeout=5)


def test_an_authority_makes_it_mutual(files):
    """A1: mTLS by configuration: a client without a certificate of the authority gets nowhere."""
    tls = {"tls_certificate": files / "server.pem", "tls_key": files / "server.key"}
    root = (files / "ca.pem").read_bytes()
    with PlannerServer(services, **tls, tls_client_authority=files / "ca.pem") as server:
        key, certificate = (files / "client.key").read_bytes(), (files / "client.pem").read_bytes()
        assert say_hello(server.address, root=root, key=key, certificate=certificate) == "hello"
        with pytest.raises(grpc.RpcError) as caught:
            say_hello(server.address, root=root)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("broken", ["absent", "garbage", "mismatched"])
def test_a_file_that_cannot_be_used_is_an_error_with_a_sentence(files, tmp_path, broken):
    """A1: a file that cannot be used is an error with a sentence."""
    key = {"absent": tmp_path / "none.key", "garbage": tmp_path / "bad.key", "mismatched": files / "client.key"}[broken]
    (tmp_path / "bad.key").write_text("no key")
    tls = {"tls_certificate": files / "server.pem", "tls_key": key}
    with pytest.raises(ListenFailed, match="cannot be used"), PlannerServer(services, **tls):
        pass

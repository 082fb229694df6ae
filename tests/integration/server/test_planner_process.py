"""The planner as a process of its own: what it says when it cannot start, and how generic clients find their way."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from telha_planner.memory import keys
from telha_planner.memory.store import Store

pytestmark = pytest.mark.process

SERVICES = (
    "telha.planner.v1.Planner",
    "telha.context.v1.Context",
    "telha.memory.v1.Memory",
    "telha.trace.v1.Traces",
    "telha.administration.v1.Administration",
)


def environment(folder: Path, **changes: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    return {
        **clean,
        "TELHA_STORE__URL": f"sqlite:///{folder / 'memory.db'}",
        "TELHA_SERVER__PORT": "0",
        "TELHA_TRACE__SPOOL": str(folder / "spool"),
        "TELHA_TRACE__REDIS_URL": f"unix://{folder / 'no-redis'}",
        "TELHA_TRACE__WRITER": f"unix:{folder / 'no-writer'}",
        "TELHA_TRACE__INTERNAL_TOKEN": "t",
        **changes,
    }


def command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "telha_planner", "serve", *words]


def listening(process: subprocess.Popen[str]) -> str:
    """The address in the log of *process*, once it listens."""
    assert process.stderr is not None
    for line in process.stderr:
        told = json.loads(line)
        if told["event"] == "listening":
            return str(told["address"])
    raise AssertionError("the planner ended at its start")


def test_a_generic_client_finds_all_it_needs_and_sigterm_drains(tmp_path):
    """A1: health of each service, calls built from reflection alone, and exit code 0 at the end."""
    store = Store.open(f"sqlite:///{tmp_path / 'memory.db'}", busy_timeout_ms=1000)
    key, _ = keys.create(
        store, "acme", name="k", rights=["read", "write"], spaces=None, now=lambda: 1, create_tenant=True
    )
    store.close()
    with ExitStack() as running:
        process = running.enter_context(
            subprocess.Popen(command(), env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
        )
        running.callback(process.kill)
        address = listening(process)
        with grpc.insecure_channel(address) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            for service in ("", *SERVICES):
                answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
                assert answer.status == health_pb2.HealthCheckResponse.SERVING
            with pytest.raises(grpc.RpcError) as unknown:
                stub.Check(health_pb2.HealthCheckRequest(service="telha.nothing.v1.Nothing"), timeout=10)
            assert unknown.value.code() == grpc.StatusCode.NOT_FOUND

            reflected = ProtoReflectionDescriptorDatabase(channel)
            assert set(SERVICES) <= set(reflected.get_services())
            pool = DescriptorPool(reflected)

            def call(method: str, **fields: object) -> object:
                service, _, name = method.rpartition(".")
                found = pool.FindServiceByName(service).methods_by_name[name]
                request = GetMessageClass(found.input_type)(**fields)
                path = f"/{found.containing_service.full_name}/{found.name}"
                raw = channel.unary_unary(path)(
                    request.SerializeToString(), 10, metadata=(("authorization", f"Bearer {key}"),)
                )
                return GetMessageClass(found.output_type).FromString(raw)

            document = {"name": "a.md", "content": "The night tram stops at two. 夜车".encode()}
            assert call("telha.memory.v1.Memory.Ingest", documents=[document]).documents[0].spans == 1
            built = call("telha.context.v1.Context.Build", question="when does the night tram stop?")
            assert [item.text for item in built.items] == [document["content"].decode()]
            trace = call("telha.trace.v1.Traces.Get", trace_id=built.trace_id)
            assert trace.summary.plan_hash == built.plan_hash
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("TELHA_SERVER__PORT", "port {port} on 127.0.0.1 is in use"),
        (
            "TELHA_SERVER__METRICS_PORT",
            "metrics cannot be served on port {port} of 127.0.0.1: Address already in use",
        ),
    ],
)
def test_a_busy_port_is_one_sentence(tmp_path, setting, words):
    """A1: which port, and which setting names it; nothing is left running."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = ended(tmp_path, **{setting: str(port)})
    hint = setting.removeprefix("TELHA_").replace("__", ".").lower()
    assert (code, said[-1]) == (69, f"{words.format(port=port)}; choose another with {hint}.")
    assert not [line for line in said if "Traceback" in line]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"TELHA_TRACE__SPOOL": "{file}/spool"}, 69, "Not a directory"),
        ({"TELHA_STORE__URL": "sqlite:///{file}"}, 69, "file is not a database"),
        ({"TELHA_STORE__URL": "mysql://x/y"}, 69, "must name SQLite or PostgreSQL"),
        ({"TELHA_STORE__URL": "postgresql://u:secret@nowhere.invalid/y"}, 69, "cannot be opened: "),
        ({"TELHA_SERVER__HOST": "203.0.113.1"}, 69, "cannot listen on 203.0.113.1:0"),
        ({"TELHA_PLANNER__ALPHA": "2", "TELHA_PLANER__X": "1"}, 78, "planner.alpha = 2 (from TELHA_PLANNER__ALPHA)"),
        ({"TELHA_TRACE__REDIS_URL": "nonsense"}, 78, "trace.redis_url"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_one_sentence(tmp_path, change, code, words):
    """A1, G1: told for the operator, without a stack trace."""
    file = tmp_path / "file"
    file.write_bytes(b"x" * 4096)
    ended_with, said = ended(tmp_path, **{name: value.format(file=file) for name, value in change.items()})
    assert ended_with == code, said
    assert [line for line in said if words in line], said
    assert not [line for line in said if "Traceback" in line]


def ended(folder: Path, **changes: str) -> tuple[int, list[str]]:
    """Exit code and standard error of a planner that cannot start."""
    done = subprocess.run(
        command(), env=environment(folder, **changes), capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stderr.splitlines()

"""The gateway as it runs, on a real socket, before a real gRPC server whose servicers answer what a test tells them."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
import uvicorn
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from telha.administration.v1 import administration_pb2_grpc
from telha.context.v1 import context_pb2_grpc
from telha.memory.v1 import memory_pb2_grpc
from telha.planner.v1 import plan_pb2, planner_pb2, planner_pb2_grpc
from telha.trace.v1 import traces_pb2_grpc
from telha_gateway import app
from telha_gateway.config import GatewaySettings
from telha_gateway.connection import Connection

A_TRACE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99"
PLANNED = planner_pb2.PlanResponse(plan=plan_pb2.EvidencePlan(plan_hash="b3:" + "ab" * 32, trace_id=A_TRACE))
"""A plan of nothing, with all that every plan has."""


@dataclass
class Script:
    """What the servicers answer next, and what they were asked."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    seconds_left: float | None = None
    failure: tuple[grpc.StatusCode, status_pb2.Status | None] | None = None
    hang: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)
    serving: bool = True
    settle_s: float = 0.05

    def fail(self, code, reason=None, *, field=None, rule="", retry_ms=None, **metadata):
        """Make the next call fail as the planner would; without *reason*, as the transport would."""
        if reason is None:
            self.failure = (code, None)
            return
        details = [error_details_pb2.ErrorInfo(reason=reason, domain="telha.dev", metadata=metadata)]
        if field is not None:
            violation = error_details_pb2.BadRequest.FieldViolation(field=field, description=rule)
            details.append(error_details_pb2.BadRequest(field_violations=[violation]))
        if retry_ms is not None:
            delay = duration_pb2.Duration()
            delay.FromMilliseconds(retry_ms)
            details.append(error_details_pb2.RetryInfo(retry_delay=delay))
        status = status_pb2.Status(code=code.value[0], message=f"{reason} in words")
        for detail in details:
            status.details.append(any_pb2.Any())
            status.details[-1].Pack(detail)
        self.failure = (code, status)

    async def play(self, method, request, context):
        if hasattr(request, "__aiter__"):
            self.asked[method] = []
            self.metadata = dict(context.invocation_metadata())
            try:
                async for message in request:
                    self.asked[method].append(message)
                    if self.failure is not None:
                        break
                await asyncio.sleep(self.settle_s)  # a broken connection ends the messages a moment before it cancels
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        else:
            self.asked[method] = request
        self.metadata = dict(context.invocation_metadata())
        self.seconds_left = context.time_remaining()
        self.started.set()
        if self.hang:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        if self.failure is not None:
            code, status = self.failure
            if status is None:
                await context.abort(code, "raw words of the transport at 10.0.0.1:7340")
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            await context.abort(code, status.message)
        return self.answers[method]


def _servicer(base, script, methods):
    def played(name):
        async def method(self, request, context):
            return await script.play(name, request, context)

        return method

    return type("Scripted", (base,), {name: played(name) for name in methods})()


class _Health(health_pb2_grpc.HealthServicer):
    def __init__(self, script):
        self.script = script

    async def Check(self, *_):  # noqa: N802  # the name in the contract
        serving = health_pb2.HealthCheckResponse.SERVING
        return health_pb2.HealthCheckResponse(
            status=serving if self.script.serving else health_pb2.HealthCheckResponse.NOT_SERVING
        )


async def start_planner(script):
    """A gRPC server with every service that the gateway calls; returns it and its port."""
    server = grpc.aio.server()
    planner_pb2_grpc.add_PlannerServicer_to_server(
        _servicer(planner_pb2_grpc.PlannerServicer, script, ("Plan", "Select", "Replay", "Diff")), server
    )
    context_pb2_grpc.add_ContextServicer_to_server(
        _servicer(context_pb2_grpc.ContextServicer, script, ("Build",)), server
    )
    memory = (
        *("Ingest", "PutNodes", "PutEdges", "PutClarifications"),
        *("GetSource", "ListSources", "EraseSource", "Query", "PutArtifacts", "Reembed", "IngestStream"),
    )
    memory_pb2_grpc.add_MemoryServicer_to_server(_servicer(memory_pb2_grpc.MemoryServicer, script, memory), server)
    traces_pb2_grpc.add_TracesServicer_to_server(
        _servicer(traces_pb2_grpc.TracesServicer, script, ("Get", "List", "Delete")), server
    )
    administration = (
        *("CreateKey", "ListKeys", "RevokeKey", "CreateTenant", "ListTenants", "DeleteTenant"),
        *("GetDeletion", "ListDeletions", "EraseSpace"),
    )
    administration_pb2_grpc.add_AdministrationServicer_to_server(
        _servicer(administration_pb2_grpc.AdministrationServicer, script, administration), server
    )
    health_pb2_grpc.add_HealthServicer_to_server(_Health(script), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, port


@contextmanager
def running(script, **settings) -> Iterator[str]:
    """The gateway's base URL, while it runs before a planner that plays *script*, or before the one in *settings*."""
    ready = threading.Event()
    address: list[str] = []
    servers: list[uvicorn.Server] = []
    faults: list[BaseException] = []

    async def main():
        planner, port = await start_planner(script)
        gateway = app.create(GatewaySettings(**{"planner": f"127.0.0.1:{port}", **settings}))
        server = uvicorn.Server(
            uvicorn.Config(gateway, port=0, log_config=None, http=Connection, ws="none", timeout_graceful_shutdown=1)
        )
        servers.append(server)
        serving = asyncio.create_task(server.serve())
        while not server.started and not serving.done():  # noqa: ASYNC110  # uvicorn offers no event
            await asyncio.sleep(0.005)
        address.append(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
        ready.set()
        await serving
        await planner.stop(None)

    def run():
        try:
            asyncio.run(main())
        except BaseException as error:  # noqa: BLE001  # shown by the test's own thread
            faults.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait(20)
    try:
        if faults:
            raise faults[0]
        yield address[0]
    finally:
        for server in servers:
            server.should_exit = True
        thread.join(20)
    if faults:
        raise faults[0]

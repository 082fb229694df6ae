"""Ask a process whether it serves: the standard gRPC health service."""

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc


def serving(address: str, *, timeout_s: float = 1.0) -> bool:
    """Whether the gRPC server at *address* (`host:port` or `unix:PATH`) answers SERVING within *timeout_s*."""
    # A proxy has no say between parts of one machine.
    options = (("grpc.enable_http_proxy", 0),)
    with grpc.insecure_channel(address, options=options) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=timeout_s)
        except grpc.RpcError:
            return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

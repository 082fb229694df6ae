"""
Ask a process whether it serves: the standard gRPC health service, or a readiness page over HTTP.

`python -m telha_runtime.health ADDRESS` ends with 0 if it does and with 1 if not, for containers and scripts.
"""

import sys
import urllib.error
import urllib.request

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


def ready(url: str, *, timeout_s: float = 1.0) -> bool:
    """Whether the page at *url* (`http://…`) answers 200 within *timeout_s*."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=timeout_s) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError, ValueError):
        return False


def main(arguments: list[str]) -> int:
    """Ask the one address in *arguments*, which may take four seconds to answer."""
    (address,) = arguments
    ask = ready if address.startswith("http://") else serving
    return 0 if ask(address, timeout_s=4.0) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

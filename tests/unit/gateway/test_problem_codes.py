import grpc
import grpc.aio
import pytest
from telha.error.v1.error_reason_pb2 import ErrorReason
from telha_gateway.problems import TITLES, of_rpc

OWN = {"METHOD_NOT_ALLOWED", "NOT_ACCEPTABLE", "UNSUPPORTED_MEDIA_TYPE", "REQUEST_TIMEOUT"}
"""Codes that only REST has."""


def test_the_gateway_knows_every_reason_of_the_contract():
    """A2: `code` is the reason that gRPC sends; a reason added to the contract needs its title here."""
    reasons = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()} - {"UNSPECIFIED"}  # noqa: SIM118
    assert reasons | OWN == set(TITLES)


@pytest.mark.parametrize(
    ("code", "status", "reason", "again"),
    [
        (grpc.StatusCode.UNAVAILABLE, 503, "UNAVAILABLE", True),
        (grpc.StatusCode.CANCELLED, 503, "UNAVAILABLE", True),
        (grpc.StatusCode.DEADLINE_EXCEEDED, 504, "DEADLINE_EXCEEDED", False),
        (grpc.StatusCode.UNKNOWN, 500, "INTERNAL", False),
    ],
)
def test_what_the_transport_says_of_a_planner(code: grpc.StatusCode, status: int, reason: str, again: bool) -> None:
    """A1, A2: a planner that is cut off in the middle of a call is no bug of ours, and may be asked again."""
    failure = of_rpc(grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata()), {})
    assert (failure.status, failure.code) == (status, reason)
    assert (failure.retry_after_ms is not None) == again

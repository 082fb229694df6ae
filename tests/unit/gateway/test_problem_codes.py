from telha.error.v1.error_reason_pb2 import ErrorReason
from telha_gateway.problems import TITLES

OWN = {"METHOD_NOT_ALLOWED", "NOT_ACCEPTABLE", "UNSUPPORTED_MEDIA_TYPE", "REQUEST_TIMEOUT"}
"""Codes that only REST has."""


def test_the_gateway_knows_every_reason_of_the_contract():
    """A2: `code` is the reason that gRPC sends; a reason added to the contract needs its title here."""
    reasons = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()} - {"UNSPECIFIED"}  # noqa: SIM118
    assert reasons | OWN == set(TITLES)

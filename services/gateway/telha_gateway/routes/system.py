"""The gateway about itself: is it alive, is it of use, what does it speak?"""

import msgspec

from telha_gateway.dto.shape import Given
from telha_gateway.exchange import Exchange
from telha_gateway.operations import Operation
from telha_gateway.problems import Failure, Refused

READY_TIMEOUT = 1.0
"""Seconds that the planner has to answer its health check."""

_WELCOME = (
    b"Telha memory planner, REST surface. Contract: /openapi.json\nTry: POST /v1/memory/context. See docs/rest.md\n"
)


class Health(Given):
    """`live` or `ready`."""

    status: str


async def _welcome(_: Exchange) -> bytes:
    return _WELCOME


async def _live(_: Exchange) -> msgspec.Struct:
    return Health(status="live")


async def _ready(exchange: Exchange) -> msgspec.Struct:
    if exchange.drain.announced:
        raise Refused(Failure(503, "UNAVAILABLE", "the gateway is stopping", retry_after_ms=1000))
    if not await exchange.upstream.ready(READY_TIMEOUT):
        raise Refused(Failure(503, "UNAVAILABLE", "the planner is not ready", retry_after_ms=1000))
    return Health(status="ready")


OPERATIONS = (
    Operation(
        method="GET",
        path="/",
        id="welcome",
        tag="System",
        summary="Where to read on",
        run=_welcome,
        secured=False,
        media_type="text/plain",
    ),
    Operation(
        method="GET",
        path="/healthz",
        id="live",
        tag="System",
        summary="Whether the gateway is alive",
        answer=Health,
        run=_live,
        secured=False,
    ),
    Operation(
        method="GET",
        path="/readyz",
        id="ready",
        tag="System",
        summary="Whether the planner behind the gateway takes calls",
        answer=Health,
        run=_ready,
        statuses=(503,),
        secured=False,
    ),
)

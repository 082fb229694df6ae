"""Where spans stand, and whether they are evidence: the JSON shapes that plans, pools and explanations share."""

from typing import Annotated

from msgspec import Meta
from telha.planner.v1 import plan_pb2

from telha_gateway.dto.shape import Count, Given, Int64, Micros, Sent, Uuid

CLASS_NAMES: dict[int, str] = {plan_pb2.SPAN_CLASS_TRUTH: "truth", plan_pb2.SPAN_CLASS_CACHE: "cache"}
UNKNOWN_CLASS = "unknown"
"""For a class that a newer planner may send."""

ClassField = Annotated[str, Meta(description="`truth` or `cache`; accept others.", examples=["truth"])]


class SpanCoordinate(Sent):
    """Where a span stands: bytes `[start, end)` of one version of one source."""

    source_id: Uuid
    source_version_tx: Int64
    start: Count
    end: Count


class SpanPlace(Given):
    """Where a span stands: bytes `[start, end)` of one version of one source."""

    source_id: Uuid
    source_version_tx: Micros
    start: int
    end: int


def span_message(span: SpanCoordinate) -> plan_pb2.SpanRef:
    """*span* on the wire."""
    return plan_pb2.SpanRef(
        source_id=span.source_id, source_version_tx=span.source_version_tx, start=span.start, end=span.end
    )


def place(message: plan_pb2.SpanRef) -> SpanPlace:
    """The JSON shape of where a span stands."""
    return SpanPlace(
        source_id=message.source_id,
        source_version_tx=message.source_version_tx,
        start=message.start,
        end=message.end,
    )

"""The JSON shapes of nodes, edges and clarifications."""

from typing import Annotated, Any

from msgspec import Meta
from telha.memory.v1 import memory_pb2

from telha_gateway.dto.coordinates import SpanCoordinate, span_message
from telha_gateway.dto.properties import struct_of
from telha_gateway.dto.shape import (
    PROSE_PATTERN,
    Float32,
    Given,
    Instant,
    Micros,
    Name,
    Replayed,
    Sent,
    Space,
    Uuid,
    told,
)
from telha_gateway.instants import instant

ValidFrom = Annotated[Instant, Meta(description="Since when it is true. Default: the commit.")]
ValidTo = Annotated[Instant, Meta(description="Until when, exclusive. Default: open.")]
_BATCH = Meta(extra_json_schema={"minItems": 1, "maxItems": 1000})


class NodeVector(Sent):
    """A vector of a node."""

    model: Name
    values: Annotated[list[Float32], told("1 to 4096 finite numbers, not all zero.", minItems=1, maxItems=4096)]


class Node(Sent, kw_only=True):
    """A node to write. Writing an existing node closes what it said before."""

    node_id: Uuid
    space: Space | None = None
    type: Name
    properties: Annotated[dict[str, Any], Meta(description="Any JSON object; numbers are float64.")] | None = None
    valid_from: ValidFrom | None = None
    valid_to: ValidTo | None = None
    provenance: (
        Annotated[
            list[SpanCoordinate],
            told("Spans of stored sources it rests on, at most 256.", maxItems=256, uniqueItems=True),
        ]
        | None
    ) = None
    vector: NodeVector | None = None


class PutNodesRequest(Sent):
    """Asks to write 1 to 1000 nodes in one transaction; no id twice."""

    nodes: Annotated[list[Node], _BATCH]


class Edge(Sent):
    """An edge to write. Writing an existing edge closes what it said before."""

    edge_id: Uuid
    from_node_id: Uuid
    to_node_id: Uuid
    type: Name
    confidence: (
        Annotated[float, told("How far expansion trusts it. Default 1.", exclusiveMinimum=0, maximum=1)] | None
    ) = None
    valid_from: ValidFrom | None = None
    valid_to: ValidTo | None = None


class PutEdgesRequest(Sent):
    """Asks to write 1 to 1000 edges in one transaction; no id twice."""

    edges: Annotated[list[Edge], _BATCH]


class Clarification(Sent):
    """A question about a node that somebody has to answer."""

    clarification_id: Uuid
    node_id: Uuid
    state: Annotated[str, told("What is known of the answer.", enum=["pending", "conflicted", "resolved"])]
    question: Annotated[str, told("1 to 4096 bytes, not blank.", minLength=1, maxLength=4096, pattern=PROSE_PATTERN)]


class PutClarificationsRequest(Sent):
    """Asks to write 1 to 1000 clarifications in one transaction; no id twice."""

    clarifications: Annotated[list[Clarification], _BATCH]


class Committed(Given):
    """Confirms a commit."""

    tx_time: Annotated[Micros, Meta(description="The commit, in microseconds since 1970 UTC.")]
    replayed: Replayed | None = None


Answered = memory_pb2.PutNodesResponse | memory_pb2.PutEdgesResponse | memory_pb2.PutClarificationsResponse


def committed(answer: Answered) -> Committed:
    """The JSON shape of a commit."""
    return Committed(tx_time=answer.tx_us, replayed=answer.replayed or None)


def nodes_message(body: PutNodesRequest, idempotency_key: str) -> memory_pb2.PutNodesRequest:
    """*body* on the wire."""
    return memory_pb2.PutNodesRequest(
        nodes=[_node_message(f"/nodes/{index}", node) for index, node in enumerate(body.nodes)],
        idempotency_key=idempotency_key,
    )


def edges_message(body: PutEdgesRequest, idempotency_key: str) -> memory_pb2.PutEdgesRequest:
    """*body* on the wire."""
    return memory_pb2.PutEdgesRequest(
        edges=[
            memory_pb2.Edge(
                edge_id=edge.edge_id,
                from_node_id=edge.from_node_id,
                to_node_id=edge.to_node_id,
                type=edge.type,
                confidence=edge.confidence,
                valid_from_us=_instant(edge.valid_from, f"/edges/{index}/validFrom"),
                valid_to_us=_instant(edge.valid_to, f"/edges/{index}/validTo"),
            )
            for index, edge in enumerate(body.edges)
        ],
        idempotency_key=idempotency_key,
    )


def clarifications_message(body: PutClarificationsRequest, idempotency_key: str) -> memory_pb2.PutClarificationsRequest:
    """*body* on the wire."""
    return memory_pb2.PutClarificationsRequest(
        clarifications=[
            memory_pb2.Clarification(
                clarification_id=clarification.clarification_id,
                node_id=clarification.node_id,
                state=clarification.state,
                question=clarification.question,
            )
            for clarification in body.clarifications
        ],
        idempotency_key=idempotency_key,
    )


def _node_message(pointer: str, node: Node) -> memory_pb2.Node:
    vector = node.vector
    return memory_pb2.Node(
        node_id=node.node_id,
        space=node.space or "",
        type=node.type,
        properties=None if node.properties is None else struct_of(node.properties, f"{pointer}/properties"),
        valid_from_us=_instant(node.valid_from, f"{pointer}/validFrom"),
        valid_to_us=_instant(node.valid_to, f"{pointer}/validTo"),
        provenance=[span_message(span) for span in node.provenance or ()],
        vector=None if vector is None else memory_pb2.NodeVector(model=vector.model, values=vector.values),
    )


def _instant(value: int | str | None, pointer: str) -> int | None:
    return None if value is None else instant(value, pointer)

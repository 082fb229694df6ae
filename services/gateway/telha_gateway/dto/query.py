"""The JSON shapes of structured queries: conditions, and nodes as found."""

from typing import Annotated, Any

from msgspec import Meta
from telha.memory.v1 import memory_pb2

from telha_gateway.dto import planning, plans
from telha_gateway.dto.context import PendingClarification
from telha_gateway.dto.plans import ReadWindow
from telha_gateway.dto.properties import object_of
from telha_gateway.dto.shape import Given, Micros, Name, PageSize, PageToken, Sent, Uuid, told


class QueryRequest(Sent, kw_only=True):
    """Asks for nodes of one type, by id."""

    find: Annotated[Name, Meta(description="The node type, for example `passage`; 1 to 128 bytes.")]
    where: planning.Where | None = None
    window: planning.Window | None = None
    spaces: planning.Spaces | None = None
    page_size: Annotated[PageSize, told("1 to 1000; more is refused. 0 and default: 100.", maximum=1000)] | None = None
    page_token: PageToken | None = None


class NodeSpan(Given):
    """A span that a node rests on."""

    source_id: Uuid
    source_version_tx: Micros
    start: int
    end: int


class FoundNode(Given, kw_only=True):
    """A node; without `validTo` it is still true."""

    node_id: Uuid
    type: str
    space: str
    properties: dict[str, Any]
    valid_from: Micros
    valid_to: Micros | None = None
    provenance: list[NodeSpan]
    pending_clarification: PendingClarification | None = None


class FoundNodes(Given, kw_only=True):
    """One page of nodes, by id; without `nextPageToken` it is the last."""

    nodes: list[FoundNode]
    next_page_token: str | None = None
    window: ReadWindow


def query_message(body: QueryRequest) -> memory_pb2.QueryRequest:
    """*body* on the wire."""
    return memory_pb2.QueryRequest(
        find=body.find,
        where=planning.where_message(body.where),
        window=planning.window_message(body.window),
        spaces=body.spaces,
        page_size=body.page_size or 0,
        page_token=body.page_token or "",
    )


def query_answer(message: memory_pb2.QueryResponse) -> FoundNodes:
    """The JSON shape of a page."""
    return FoundNodes(
        nodes=[_node(node) for node in message.nodes],
        next_page_token=message.next_page_token or None,
        window=plans.window(message.window),
    )


def _node(message: memory_pb2.FoundNode) -> FoundNode:
    pending = message.pending_clarification
    return FoundNode(
        node_id=message.node_id,
        type=message.type,
        space=message.space,
        properties=object_of(message.properties),
        valid_from=message.valid_from_us,
        valid_to=message.valid_to_us if message.HasField("valid_to_us") else None,
        provenance=[
            NodeSpan(span.source_id, span.source_version_tx, span.start, span.end) for span in message.provenance
        ],
        pending_clarification=(
            PendingClarification(pending.clarification_id, pending.state)
            if message.HasField("pending_clarification")
            else None
        ),
    )

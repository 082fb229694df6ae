"""`Memory.Query` to and from the core's types: conditions, pages, and nodes as found."""

import json

from telha.memory.v1 import memory_pb2

from telha_planner.answers import FoundNode, QueryAnswer
from telha_planner.core.request import QueryPosition, QueryRequest
from telha_planner.core.value import format_uuid

from . import page_token
from .translate_plan import read_window, window_message
from .translate_properties import read_conditions

_POSITION_BYTES = 34
_MOST_SEEN = 2**16 - 1


def read_query(message: memory_pb2.QueryRequest) -> tuple[QueryRequest, bytes]:
    """
    The request of Query, checked, and the filters that a page token is bound to.

    Raises:
        RequestInvalid: A field breaks a rule.
    """
    where = read_conditions("where", message.where)[0] if message.HasField("where") else None
    window = read_window(message.window)
    spaces = tuple(message.spaces)
    text = None if where is None else where.text
    filters = json.dumps([message.find, text, window.valid_time, window.tx_time, spaces]).encode()
    request = QueryRequest(
        find=message.find,
        where=where,
        window=window,
        spaces=spaces,
        page_size=message.page_size or None,
        after=_position(message.page_token, filters) if message.page_token else None,
    )
    return request, filters


def query_response(answer: QueryAnswer, after: QueryPosition | None, filters: bytes) -> memory_pb2.QueryResponse:
    """The page of nodes behind *after* on the wire, and the token of the next if there is one."""
    response = memory_pb2.QueryResponse(window=window_message(answer.window))
    for node in answer.nodes:
        _add(response, node)
    if answer.more:
        response.next_page_token = page_token.write(_written(answer, after), filters)
    return response


def _add(response: memory_pb2.QueryResponse, node: FoundNode) -> None:
    added = response.nodes.add(
        node_id=format_uuid(node.node_id), type=node.type, space=node.space, valid_from_us=node.valid_from
    )
    added.properties.update(node.properties)
    if node.valid_to is not None:
        added.valid_to_us = node.valid_to
    for source_id, version, start, end in node.provenance:
        added.provenance.add(source_id=format_uuid(source_id), source_version_tx=version, start=start, end=end)
    if node.caveat is not None:
        added.pending_clarification.clarification_id = format_uuid(node.caveat.clarification_id)
        added.pending_clarification.state = node.caveat.state


def _written(answer: QueryAnswer, after: QueryPosition | None) -> bytes:
    last = answer.nodes[-1].node_id
    seen = sum(node.node_id == last for node in answer.nodes)
    seen += after.seen if after is not None and after.node_id == last else 0
    instants = (answer.window.valid_time, answer.window.tx_time)
    moments = b"".join((instant or 0).to_bytes(8, "big", signed=True) for instant in instants)
    return last + moments + min(seen, _MOST_SEEN).to_bytes(2, "big")


def _position(token: str, filters: bytes) -> QueryPosition:
    raw = page_token.read(token, filters)
    if len(raw) != _POSITION_BYTES:
        raise page_token.invalid()
    valid_t, tx_t = (int.from_bytes(raw[at : at + 8], "big", signed=True) for at in (16, 24))
    return QueryPosition(raw[:16], valid_t, tx_t, int.from_bytes(raw[32:], "big"))

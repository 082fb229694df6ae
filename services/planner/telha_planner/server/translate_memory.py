"""
Memory messages to and from what the store keeps.

Rule: a fault is reported with the index of its item (`nodes[3].provenance[0].end`). What only the store can know
(duplicates, dangling ids, spans that do not exist) is checked in the write transaction.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from telha.memory.v1 import memory_pb2

from telha_planner.caller import Caller
from telha_planner.core.errors import DocumentTooLarge, RequestInvalid
from telha_planner.core.model import SpanClass
from telha_planner.core.request import INT64_MAX, INT64_MIN, OPEN_END, check_span
from telha_planner.core.value import check_name, check_range, check_text, check_vector, format_uuid, parse_uuid
from telha_planner.ingest.artifact import ArtifactInput
from telha_planner.ingest.document import DocumentHeader, DocumentInput
from telha_planner.memory.reads import StoredSource
from telha_planner.memory.records import (
    ClarificationRecord,
    Committed,
    EdgeRecord,
    ErasureReceipt,
    IngestedSource,
    NodeRecord,
    Reembedded,
    VectorRecord,
)

from . import page_token
from .translate_plan import CLASS_ON_THE_WIRE, read_span
from .translate_properties import read_properties
from .wire import decode

MAX_ITEMS = 1000
"""Most documents, nodes, edges or clarifications in one call."""
MAX_PROVENANCE = 256
"""Most spans that one node rests on."""
MAX_CLARIFICATION_BYTES = 4096
_REEMBED = b"reembed"
_NUMBER_BYTES = 8
STATES = ("pending", "conflicted", "resolved")

_OUTCOMES = {
    "created": memory_pb2.INGEST_OUTCOME_CREATED,
    "updated": memory_pb2.INGEST_OUTCOME_UPDATED,
    "unchanged": memory_pb2.INGEST_OUTCOME_UNCHANGED,
}

M = TypeVar("M")
R = TypeVar("R")


def read_documents(message: memory_pb2.IngestRequest, caller: Caller, largest: int) -> list[DocumentInput]:
    """
    The documents, each in a space that *caller* may write.

    Raises:
        DocumentTooLarge: One has more than *largest* bytes.
    """
    for index, document in enumerate(message.documents):
        if len(document.content) > largest:
            raise DocumentTooLarge.at(f"documents[{index}].content", largest)

    def read(document: memory_pb2.Document) -> DocumentInput:
        return DocumentInput(
            source_id=parse_uuid("source_id", document.source_id) if document.HasField("source_id") else None,
            name=document.name,
            uri=document.uri if document.HasField("uri") else None,
            space=caller.writable(document.space, "space"),
            media_type=document.media_type or None,
            content=document.content,
            valid_from=_set(document, "valid_from_us"),
        )

    return _each("documents", message.documents, read)


def read_part(raw: bytes, wanted: str) -> memory_pb2.IngestStreamRequest:
    """
    A message of a streamed document.

    Args:
        wanted: The part that it must hold, `header` or `chunk`.

    Raises:
        RequestInvalid: It holds another one, or none.
    """
    message = decode(memory_pb2.IngestStreamRequest, raw)
    if message.WhichOneof("part") != wanted:
        rule = {"header": "must come first", "chunk": "must be all that follows the header"}[wanted]
        raise RequestInvalid(field=wanted, rule=rule)
    return message


def read_header(header: memory_pb2.IngestStreamHeader, caller: Caller) -> DocumentHeader:
    """What is said of a streamed document, in a space that *caller* may write; a fault is below `header`."""
    try:
        return DocumentHeader(
            source_id=parse_uuid("source_id", header.source_id) if header.HasField("source_id") else None,
            name=header.name,
            uri=header.uri if header.HasField("uri") else None,
            space=caller.writable(header.space, "space"),
            media_type=header.media_type or None,
            valid_from=_set(header, "valid_from_us"),
        )
    except RequestInvalid as fault:
        raise fault.under("header") from None


def read_artifacts(message: memory_pb2.PutArtifactsRequest, caller: Caller) -> list[ArtifactInput]:
    """The artifacts, each in a space that *caller* may write."""

    def read(artifact: memory_pb2.Artifact) -> ArtifactInput:
        return ArtifactInput(
            artifact_id=parse_uuid("artifact_id", artifact.artifact_id),
            space=caller.writable(artifact.space, "space"),
            name=artifact.name,
            text=artifact.text,
            derived_from=tuple(
                parse_uuid(f"derived_from[{index}]", origin) for index, origin in enumerate(artifact.derived_from)
            ),
            valid_from=_set(artifact, "valid_from_us"),
        )

    return _each("artifacts", message.artifacts, read)


def read_nodes(message: memory_pb2.PutNodesRequest, caller: Caller) -> list[NodeRecord]:
    """The nodes, each in a space that *caller* may write."""

    def read(node: memory_pb2.Node) -> NodeRecord:
        node_id = parse_uuid("node_id", node.node_id)
        space = caller.writable(node.space, "space")
        check_name("space", space)
        check_name("type", node.type)
        if len(node.provenance) > MAX_PROVENANCE:
            raise RequestInvalid(field="provenance", rule=f"must name at most {MAX_PROVENANCE} spans")
        provenance = []
        for index, span in enumerate(node.provenance):
            provenance.append(read_span(f"provenance[{index}]", span))
            check_span(f"provenance[{index}]", provenance[-1])
        valid_from, valid_to = _validity(node)
        return NodeRecord(
            node_id=node_id,
            space=space,
            type=node.type,
            properties=read_properties("properties", node.properties),
            valid_from=valid_from,
            valid_to=valid_to,
            provenance=tuple(provenance),
            vector=_vector(node.vector) if node.HasField("vector") else None,
        )

    return _each("nodes", message.nodes, read)


def read_edges(message: memory_pb2.PutEdgesRequest, _: Caller) -> list[EdgeRecord]:
    """The edges."""

    def read(edge: memory_pb2.Edge) -> EdgeRecord:
        edge_id = parse_uuid("edge_id", edge.edge_id)
        from_node = parse_uuid("from_node_id", edge.from_node_id)
        to_node = parse_uuid("to_node_id", edge.to_node_id)
        check_name("type", edge.type)
        confidence = edge.confidence if edge.HasField("confidence") else 1.0
        if not 0 < confidence <= 1:
            raise RequestInvalid(field="confidence", rule="must be above 0 and at most 1")
        valid_from, valid_to = _validity(edge)
        return EdgeRecord(edge_id, from_node, to_node, edge.type, confidence, valid_from, valid_to)

    return _each("edges", message.edges, read)


def read_clarifications(message: memory_pb2.PutClarificationsRequest, _: Caller) -> list[ClarificationRecord]:
    """The clarifications."""

    def read(clarification: memory_pb2.Clarification) -> ClarificationRecord:
        if clarification.state not in STATES:
            raise RequestInvalid(field="state", rule=f"must be one of {', '.join(STATES)}")
        question = clarification.question
        check_text("question", question)
        if not question.strip():
            raise RequestInvalid(field="question", rule="must not be blank")
        if len(question.encode()) > MAX_CLARIFICATION_BYTES:
            raise RequestInvalid(field="question", rule=f"must be at most {MAX_CLARIFICATION_BYTES:,} bytes")
        return ClarificationRecord(
            clarification_id=parse_uuid("clarification_id", clarification.clarification_id),
            node_id=parse_uuid("node_id", clarification.node_id),
            state=clarification.state,
            question=question,
        )

    return _each("clarifications", message.clarifications, read)


def read_erasure(message: memory_pb2.EraseSourceRequest, _: Caller) -> bytes:
    """The id of the source to erase."""
    return parse_uuid("source_id", message.source_id)


def ingest_response(committed: Committed) -> memory_pb2.IngestResponse:
    """What became of each document."""
    documents = [_ingested(source) for source in committed.sources]
    return memory_pb2.IngestResponse(documents=documents, tx_us=committed.tx, replayed=committed.replayed)


def stream_response(committed: Committed) -> memory_pb2.IngestStreamResponse:
    """What became of a streamed document."""
    (source,) = committed.sources
    return memory_pb2.IngestStreamResponse(document=_ingested(source), tx_us=committed.tx, replayed=committed.replayed)


def _ingested(source: IngestedSource) -> memory_pb2.IngestedDocument:
    return memory_pb2.IngestedDocument(
        source_id=format_uuid(source.source_id),
        source_version_tx=source.version_tx,
        outcome=_OUTCOMES[source.outcome],
        spans=source.spans,
        nodes_opened=source.nodes_opened,
        nodes_closed=source.nodes_closed,
        nodes_kept=source.nodes_kept,
    )


def artifacts_response(committed: Committed) -> memory_pb2.PutArtifactsResponse:
    """What became of each artifact."""
    response = memory_pb2.PutArtifactsResponse(tx_us=committed.tx, replayed=committed.replayed)
    for artifact in committed.sources:
        response.artifacts.add(
            artifact_id=format_uuid(artifact.source_id),
            source_version_tx=artifact.version_tx,
            outcome=_OUTCOMES[artifact.outcome],
        )
    return response


def erase_response(receipt: ErasureReceipt) -> memory_pb2.EraseSourceResponse:
    """What an erasure removed."""
    return memory_pb2.EraseSourceResponse(
        source_id=format_uuid(receipt.source_id),
        tx_us=receipt.tx,
        versions=receipt.versions,
        spans=receipt.spans,
        nodes=receipt.nodes,
        edges=receipt.edges,
        vectors=receipt.vectors,
        artifacts=receipt.artifacts,
        replayed=receipt.replayed,
    )


def read_reembed(request: memory_pb2.ReembedRequest) -> int | None:
    """
    After which node version the next batch begins; None at the beginning.

    Raises:
        RequestInvalid: The cursor is none of ours.
    """
    if not request.cursor:
        return None
    try:
        position = page_token.read(request.cursor, _REEMBED)
    except RequestInvalid:
        position = b""
    if len(position) != _NUMBER_BYTES or int.from_bytes(position, "big") > INT64_MAX:
        raise RequestInvalid(field="cursor", rule="must be the next_cursor of the call before")
    return int.from_bytes(position, "big")


def reembed_response(done: Reembedded) -> memory_pb2.ReembedResponse:
    """How far a move to another model has come."""
    after = done.after
    return memory_pb2.ReembedResponse(
        model=done.model,
        embedded=done.embedded,
        left=done.left,
        next_cursor="" if after is None else page_token.write(after.to_bytes(_NUMBER_BYTES, "big"), _REEMBED),
        finished=after is None,
        tx_us=done.tx,
    )


def source_message(source: StoredSource) -> memory_pb2.Source:
    """One version of a source."""
    return memory_pb2.Source(
        source_id=format_uuid(source.source_id),
        name=source.name,
        uri=source.uri,
        space=source.space,
        source_version_tx=source.version_tx,
        length=source.length,
        content_hash=f"b3:{source.content_hash.hex()}",
        valid_from_us=source.valid_from,
        span_class=CLASS_ON_THE_WIRE[SpanClass(source.span_class)],
    )


def _each(field: str, items: Sequence[M], read: Callable[[M], R]) -> list[R]:
    if not 1 <= len(items) <= MAX_ITEMS:
        raise RequestInvalid(field=field, rule=f"must hold 1 to {MAX_ITEMS:,} items")
    records = []
    for index, item in enumerate(items):
        try:
            records.append(read(item))
        except RequestInvalid as fault:
            raise fault.under(f"{field}[{index}]") from None
    return records


def _set(message: Any, name: str) -> Any:  # noqa: ANN401 (a scalar of any message)
    return getattr(message, name) if message.HasField(name) else None


def _validity(message: memory_pb2.Node | memory_pb2.Edge) -> tuple[int | None, int | None]:
    valid_from, valid_to = _set(message, "valid_from_us"), _set(message, "valid_to_us")
    check_range("valid_from_us", valid_from, INT64_MIN, OPEN_END - 1)
    check_range("valid_to_us", valid_to, INT64_MIN, OPEN_END - 1)
    if valid_from is not None and valid_to is not None and valid_from >= valid_to:
        raise RequestInvalid(field="valid_to_us", rule="must be after valid_from_us")
    return valid_from, valid_to


def _vector(message: memory_pb2.NodeVector) -> VectorRecord:
    check_name("vector.model", message.model)
    values = tuple(message.values)
    check_vector("vector.values", values)
    return VectorRecord(message.model, values)

"""The JSON shapes of ingestion."""

import base64
import binascii
from typing import Annotated

from msgspec import Meta
from telha.memory.v1 import memory_pb2

from telha_gateway.dto.shape import (
    NAME_PATTERN,
    PROSE_PATTERN,
    Given,
    Instant,
    Micros,
    Replayed,
    Sent,
    Space,
    Uuid,
    told,
)
from telha_gateway.faults import RequestFault
from telha_gateway.instants import instant

MediaType = Annotated[
    str,
    Meta(min_length=1),
    told(
        "A conversation is `application/json` or `application/x-ndjson`. Default: by the ending of the name.",
        enum=["text/plain", "text/markdown", "text/html", "application/json", "application/x-ndjson"],
    ),
]

Outcome = Annotated[str, Meta(description="`created`, `updated` or `unchanged`; accept others.")]
OUTCOMES: dict[int, str] = {
    memory_pb2.INGEST_OUTCOME_CREATED: "created",
    memory_pb2.INGEST_OUTCOME_UPDATED: "updated",
    memory_pb2.INGEST_OUTCOME_UNCHANGED: "unchanged",
}


class Document(Sent, kw_only=True):
    """A document to ingest; exactly one of `text` and `contentBase64` holds it, in UTF-8."""

    source_id: Annotated[Uuid, Meta(description="Default: derived from tenant, space, and uri or name.")] | None = None
    name: Annotated[str, told("Display name, 1 to 1024 bytes.", minLength=1, maxLength=1024, pattern=NAME_PATTERN)]
    uri: (
        Annotated[str, told("Where it comes from, 1 to 2048 bytes.", minLength=1, maxLength=2048, pattern=NAME_PATTERN)]
        | None
    ) = None
    space: Space | None = None
    media_type: MediaType | None = None
    text: Annotated[str, told("The document itself; not blank.", minLength=1, pattern=PROSE_PATTERN)] | None = None
    content_base64: (
        Annotated[
            str,
            told(
                "The bytes of the document, with padding.",
                contentEncoding="base64",
                minLength=4,
                pattern=r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
            ),
        ]
        | None
    ) = None
    valid_from: Annotated[Instant, Meta(description="Since when it is true. Default: the commit.")] | None = None


class IngestRequest(Sent):
    """Asks to ingest 1 to 1000 documents in one transaction; no source twice."""

    documents: Annotated[list[Document], Meta(extra_json_schema={"minItems": 1, "maxItems": 1000})]


class IngestedDocument(Given):
    """What became of one document."""

    source_id: Uuid
    source_version_tx: Micros
    outcome: Outcome
    spans: int
    nodes_opened: int
    nodes_closed: int
    nodes_kept: int


class Ingested(Given):
    """What became of the documents, in the order of the request."""

    documents: list[IngestedDocument]
    tx_time: Annotated[Micros, Meta(description="The commit; the last one if nothing was written.")]
    replayed: Replayed | None = None


def ingest_message(body: IngestRequest, idempotency_key: str) -> memory_pb2.IngestRequest:
    """
    *body* on the wire.

    Raises:
        RequestFault: A document has no content, or two, or it is not base64; or its instant is none.
    """
    return memory_pb2.IngestRequest(
        documents=[_document_message(f"/documents/{index}", document) for index, document in enumerate(body.documents)],
        idempotency_key=idempotency_key,
    )


def ingest_answer(message: memory_pb2.IngestResponse) -> Ingested:
    """The JSON shape of an ingestion."""
    return Ingested(
        documents=[ingested(document) for document in message.documents],
        tx_time=message.tx_us,
        replayed=message.replayed or None,
    )


def ingested(document: memory_pb2.IngestedDocument) -> IngestedDocument:
    """The JSON shape of what became of one document."""
    return IngestedDocument(
        source_id=document.source_id,
        source_version_tx=document.source_version_tx,
        outcome=OUTCOMES.get(document.outcome, "unknown"),
        spans=document.spans,
        nodes_opened=document.nodes_opened,
        nodes_closed=document.nodes_closed,
        nodes_kept=document.nodes_kept,
    )


def content_renames(body: IngestRequest) -> dict[str, str]:
    """Where the content of each document stood in the request, for faults that the planner finds in it."""
    return {
        f"documents[{index}].content": f"documents[{index}].{'text' if document.text is not None else 'contentBase64'}"
        for index, document in enumerate(body.documents)
    }


def _document_message(pointer: str, document: Document) -> memory_pb2.Document:
    valid = document.valid_from
    return memory_pb2.Document(
        source_id=document.source_id,
        name=document.name,
        uri=document.uri,
        space=document.space or "",
        media_type=document.media_type or "",
        content=_content(pointer, document),
        valid_from_us=None if valid is None else instant(valid, f"{pointer}/validFrom"),
    )


def _content(pointer: str, document: Document) -> bytes:
    if document.text is not None:
        if document.content_base64 is not None:
            raise RequestFault(f"{pointer}/contentBase64", "must be absent beside text")
        return document.text.encode()
    if document.content_base64 is None:
        raise RequestFault(f"{pointer}/text", "or contentBase64 is required")
    try:
        return base64.b64decode(document.content_base64, validate=True)
    except (binascii.Error, ValueError):
        raise RequestFault(f"{pointer}/contentBase64", "must be base64 with padding") from None

"""The JSON shapes of ingestion."""

import base64
import binascii
from typing import Annotated

from msgspec import Meta
from telha.memory.v1 import memory_pb2

from telha_gateway.dto.shape import Given, Instant, Micros, Sent, Uuid
from telha_gateway.faults import RequestFault
from telha_gateway.instants import instant

_OUTCOMES: dict[int, str] = {
    memory_pb2.INGEST_OUTCOME_CREATED: "created",
    memory_pb2.INGEST_OUTCOME_UPDATED: "updated",
    memory_pb2.INGEST_OUTCOME_UNCHANGED: "unchanged",
}


class Document(Sent, kw_only=True):
    """A document to ingest; exactly one of `text` and `contentBase64` holds it, in UTF-8."""

    source_id: Annotated[Uuid, Meta(description="Default: derived from tenant, space, and uri or name.")] | None = None
    name: Annotated[str, Meta(description="Display name, 1 to 1024 bytes.")]
    uri: Annotated[str, Meta(description="Where it comes from, at most 2048 bytes.")] | None = None
    space: Annotated[str, Meta(description="Default: the key's only space, or `main`.")] | None = None
    media_type: (
        Annotated[
            str,
            Meta(
                description="`text/plain`, `text/markdown`, `text/html`, or a conversation as `application/json` or"
                " `application/x-ndjson`. Default: by the ending of the name."
            ),
        ]
        | None
    ) = None
    text: Annotated[str, Meta(description="The document itself.")] | None = None
    content_base64: (
        Annotated[
            str,
            Meta(description="The bytes of the document.", extra_json_schema={"contentEncoding": "base64"}),
        ]
        | None
    ) = None
    valid_from: Annotated[Instant, Meta(description="Since when it is true. Default: the commit.")] | None = None


class IngestRequest(Sent):
    """Asks to ingest 1 to 1000 documents in one transaction; no source twice."""

    documents: list[Document]


class IngestedDocument(Given):
    """What became of one document."""

    source_id: Uuid
    source_version_tx: Micros
    outcome: Annotated[str, Meta(description="`created`, `updated` or `unchanged`; accept others.")]
    spans: int
    nodes_opened: int
    nodes_closed: int
    nodes_kept: int


class Ingested(Given):
    """What became of the documents, in the order of the request."""

    documents: list[IngestedDocument]
    tx_time: Annotated[Micros, Meta(description="The commit; the last one if nothing was written.")]


def ingest_message(body: IngestRequest) -> memory_pb2.IngestRequest:
    """
    *body* on the wire.

    Raises:
        RequestFault: A document has no content, or two, or it is not base64; or its instant is none.
    """
    return memory_pb2.IngestRequest(
        documents=[_document_message(f"/documents/{index}", document) for index, document in enumerate(body.documents)]
    )


def ingest_answer(message: memory_pb2.IngestResponse) -> Ingested:
    """The JSON shape of an ingestion."""
    return Ingested(
        documents=[
            IngestedDocument(
                source_id=document.source_id,
                source_version_tx=document.source_version_tx,
                outcome=_OUTCOMES.get(document.outcome, "unknown"),
                spans=document.spans,
                nodes_opened=document.nodes_opened,
                nodes_closed=document.nodes_closed,
                nodes_kept=document.nodes_kept,
            )
            for document in message.documents
        ],
        tx_time=message.tx_us,
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

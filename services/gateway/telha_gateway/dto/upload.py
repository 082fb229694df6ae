"""The shapes of one document that is sent as it is: what is said of it beside its bytes, and what became of it."""

from typing import Annotated

from msgspec import Meta
from telha.memory.v1 import memory_pb2

from telha_gateway.dto.ingest import IngestedDocument, ingested
from telha_gateway.dto.shape import (
    NAME_PATTERN,
    Given,
    InstantParameter,
    Micros,
    Replayed,
    Sent,
    Space,
    Uuid,
    told,
)
from telha_gateway.instants import parameter_instant

BY_NAME = "application/octet-stream"
"""The media type that says nothing: the ending of the name decides."""
MEDIA_TYPES = ("text/plain", "text/markdown", "text/html", "application/json", "application/x-ndjson", BY_NAME)


class UploadParameters(Sent, kw_only=True):
    """What is said of the document; as in `Document`."""

    source_id: Annotated[Uuid, Meta(description="Default: derived from tenant, space, and uri or name.")] | None = None
    name: Annotated[str, told("Display name, 1 to 1024 bytes.", minLength=1, maxLength=1024, pattern=NAME_PATTERN)]
    uri: (
        Annotated[str, told("Where it comes from, 1 to 2048 bytes.", minLength=1, maxLength=2048, pattern=NAME_PATTERN)]
        | None
    ) = None
    space: Space | None = None
    valid_from: Annotated[InstantParameter, Meta(description="Since when it is true. Default: the commit.")] | None = (
        None
    )


class Uploaded(Given):
    """What became of the document."""

    document: IngestedDocument
    tx_time: Annotated[Micros, Meta(description="The commit; the last one if nothing was written.")]
    replayed: Replayed | None = None


def header_message(
    parameters: UploadParameters, media_type: str, content_bytes: int | None, idempotency_key: str
) -> memory_pb2.IngestStreamRequest:
    """All that is said of the document, on the wire."""
    valid = parameters.valid_from
    header = memory_pb2.IngestStreamHeader(
        source_id=parameters.source_id,
        name=parameters.name,
        uri=parameters.uri,
        space=parameters.space or "",
        media_type="" if media_type == BY_NAME else media_type,
        valid_from_us=None if valid is None else parameter_instant(valid, "/validFrom"),
        content_bytes=content_bytes,
        idempotency_key=idempotency_key,
    )
    return memory_pb2.IngestStreamRequest(header=header)


def upload_answer(message: memory_pb2.IngestStreamResponse) -> Uploaded:
    """The JSON shape of what became of it."""
    return Uploaded(document=ingested(message.document), tx_time=message.tx_us, replayed=message.replayed or None)

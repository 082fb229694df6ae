"""The JSON shapes of sources: read, listed, erased."""

from typing import Annotated, Any

from msgspec import Meta
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2

from telha_gateway.dto.coordinates import CLASS_NAMES, UNKNOWN_CLASS, ClassField
from telha_gateway.dto.planning import Spaces
from telha_gateway.dto.shape import (
    Count,
    Given,
    InstantParameter,
    Int64,
    Micros,
    PageSize,
    PageToken,
    Replayed,
    Sent,
    Uuid,
)
from telha_gateway.instants import parameter_instant


class SourceParameters(Sent):
    """How to read one source."""

    include_text: Annotated[bool, Meta(description="Send the canonical text too.")] | None = None
    version: Annotated[Int64, Meta(description="A version, by its commit. Default: the newest.")] | None = None
    text_start: Annotated[Count, Meta(description="First byte of the text to send; must begin a character.")] | None = (
        None
    )
    text_limit: (
        Annotated[Count, Meta(description="Most bytes of the text to send, whole characters, at least one. 0: all.")]
        | None
    ) = None
    valid_time: Annotated[InstantParameter, Meta(description="When it must be true. Default: now.")] | None = None
    tx_time: Annotated[InstantParameter, Meta(description="As of when memory is read. Default: the last commit.")] | (
        None
    ) = None


class SourceListParameters(Sent):
    """Which sources to list."""

    spaces: Spaces | None = None
    page_size: Annotated[PageSize, Meta(description="More than 1000: 1000. 0 and default: 100.")] | None = None
    page_token: PageToken | None = None


class Source(Given, kw_only=True):
    """A source as listed."""

    source_id: Uuid
    name: str
    uri: str | None = None
    space: str
    source_version_tx: Micros
    length: Annotated[int, Meta(description="Bytes of the canonical text.")]
    content_hash: Annotated[str, Meta(description="`b3:` and 64 hexadecimal digits over the canonical text.")]
    valid_from: Micros
    span_class: Annotated[ClassField, Meta(description="`truth`: a document; `cache`: a derived artifact.")]


class SourceDetail(Source):
    """One source, with its text if that was asked for."""

    text: str | None = None


class SourcePage(Given):
    """One page of sources, by id; without `nextPageToken` it is the last."""

    sources: list[Source]
    next_page_token: str | None = None


class ErasureReceipt(Given):
    """Says what was removed."""

    source_id: Uuid
    tx_time: Micros
    versions: int
    spans: int
    nodes: int
    edges: int
    vectors: int
    artifacts: Annotated[
        int, Meta(description="Derived artifacts, since they may tell what the source said; counted above too.")
    ]
    replayed: Replayed | None = None


def get_message(source_id: str, parameters: SourceParameters) -> memory_pb2.GetSourceRequest:
    """The request for one source on the wire."""
    valid, tx = parameters.valid_time, parameters.tx_time
    return memory_pb2.GetSourceRequest(
        source_id=source_id,
        source_version_tx=parameters.version,
        window=plan_pb2.Window(
            valid_time_us=None if valid is None else parameter_instant(valid, "/validTime"),
            tx_time_us=None if tx is None else parameter_instant(tx, "/txTime"),
        ),
        include_text=bool(parameters.include_text),
        text_start=parameters.text_start or 0,
        text_limit=parameters.text_limit or 0,
    )


def erase_message(source_id: str, idempotency_key: str) -> memory_pb2.EraseSourceRequest:
    """The request to erase on the wire."""
    return memory_pb2.EraseSourceRequest(source_id=source_id, idempotency_key=idempotency_key)


def list_message(parameters: SourceListParameters) -> memory_pb2.ListSourcesRequest:
    """The request for a page on the wire."""
    return memory_pb2.ListSourcesRequest(
        spaces=parameters.spaces, page_size=parameters.page_size or 0, page_token=parameters.page_token or ""
    )


def detail_answer(message: memory_pb2.GetSourceResponse) -> SourceDetail:
    """The JSON shape of one source."""
    return SourceDetail(**_told(message.source), text=message.text if message.HasField("text") else None)


def page_answer(message: memory_pb2.ListSourcesResponse) -> SourcePage:
    """The JSON shape of a page."""
    return SourcePage(
        sources=[Source(**_told(source)) for source in message.sources],
        next_page_token=message.next_page_token or None,
    )


def erasure_answer(message: memory_pb2.EraseSourceResponse) -> ErasureReceipt:
    """The JSON shape of a receipt."""
    return ErasureReceipt(
        source_id=message.source_id,
        tx_time=message.tx_us,
        versions=message.versions,
        spans=message.spans,
        nodes=message.nodes,
        edges=message.edges,
        vectors=message.vectors,
        artifacts=message.artifacts,
        replayed=message.replayed or None,
    )


def _told(source: memory_pb2.Source) -> dict[str, Any]:
    """What every source has, by the names of `Source`."""
    return {
        "source_id": source.source_id,
        "name": source.name,
        "uri": source.uri if source.HasField("uri") else None,
        "space": source.space,
        "source_version_tx": source.source_version_tx,
        "length": source.length,
        "content_hash": source.content_hash,
        "valid_from": source.valid_from_us,
        "span_class": CLASS_NAMES.get(source.span_class, UNKNOWN_CLASS),
    }

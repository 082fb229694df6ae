from google.protobuf import struct_pb2 as _struct_pb2
from telha.context.v1 import context_pb2 as _context_pb2
from telha.planner.v1 import plan_pb2 as _plan_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IngestOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INGEST_OUTCOME_UNSPECIFIED: _ClassVar[IngestOutcome]
    INGEST_OUTCOME_CREATED: _ClassVar[IngestOutcome]
    INGEST_OUTCOME_UPDATED: _ClassVar[IngestOutcome]
    INGEST_OUTCOME_UNCHANGED: _ClassVar[IngestOutcome]
INGEST_OUTCOME_UNSPECIFIED: IngestOutcome
INGEST_OUTCOME_CREATED: IngestOutcome
INGEST_OUTCOME_UPDATED: IngestOutcome
INGEST_OUTCOME_UNCHANGED: IngestOutcome

class Document(_message.Message):
    __slots__ = ("source_id", "name", "uri", "space", "media_type", "content", "valid_from_us")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_US_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    name: str
    uri: str
    space: str
    media_type: str
    content: bytes
    valid_from_us: int
    def __init__(self, source_id: _Optional[str] = ..., name: _Optional[str] = ..., uri: _Optional[str] = ..., space: _Optional[str] = ..., media_type: _Optional[str] = ..., content: _Optional[bytes] = ..., valid_from_us: _Optional[int] = ...) -> None: ...

class IngestRequest(_message.Message):
    __slots__ = ("documents", "idempotency_key")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    idempotency_key: str
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class IngestedDocument(_message.Message):
    __slots__ = ("source_id", "source_version_tx", "outcome", "spans", "nodes_opened", "nodes_closed", "nodes_kept")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VERSION_TX_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    NODES_OPENED_FIELD_NUMBER: _ClassVar[int]
    NODES_CLOSED_FIELD_NUMBER: _ClassVar[int]
    NODES_KEPT_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    source_version_tx: int
    outcome: IngestOutcome
    spans: int
    nodes_opened: int
    nodes_closed: int
    nodes_kept: int
    def __init__(self, source_id: _Optional[str] = ..., source_version_tx: _Optional[int] = ..., outcome: _Optional[_Union[IngestOutcome, str]] = ..., spans: _Optional[int] = ..., nodes_opened: _Optional[int] = ..., nodes_closed: _Optional[int] = ..., nodes_kept: _Optional[int] = ...) -> None: ...

class IngestResponse(_message.Message):
    __slots__ = ("documents", "tx_us", "replayed")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    TX_US_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[IngestedDocument]
    tx_us: int
    replayed: bool
    def __init__(self, documents: _Optional[_Iterable[_Union[IngestedDocument, _Mapping]]] = ..., tx_us: _Optional[int] = ..., replayed: _Optional[bool] = ...) -> None: ...

class IngestStreamHeader(_message.Message):
    __slots__ = ("source_id", "name", "uri", "space", "media_type", "valid_from_us", "content_bytes", "idempotency_key")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_US_FIELD_NUMBER: _ClassVar[int]
    CONTENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    name: str
    uri: str
    space: str
    media_type: str
    valid_from_us: int
    content_bytes: int
    idempotency_key: str
    def __init__(self, source_id: _Optional[str] = ..., name: _Optional[str] = ..., uri: _Optional[str] = ..., space: _Optional[str] = ..., media_type: _Optional[str] = ..., valid_from_us: _Optional[int] = ..., content_bytes: _Optional[int] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class IngestStreamRequest(_message.Message):
    __slots__ = ("header", "chunk")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    header: IngestStreamHeader
    chunk: bytes
    def __init__(self, header: _Optional[_Union[IngestStreamHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class IngestStreamResponse(_message.Message):
    __slots__ = ("document", "tx_us", "replayed")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    TX_US_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    document: IngestedDocument
    tx_us: int
    replayed: bool
    def __init__(self, document: _Optional[_Union[IngestedDocument, _Mapping]] = ..., tx_us: _Optional[int] = ..., replayed: _Optional[bool] = ...) -> None: ...

class NodeVector(_message.Message):
    __slots__ = ("model", "values")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    model: str
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, model: _Optional[str] = ..., values: _Optional[_Iterable[float]] = ...) -> None: ...

class Node(_message.Message):
    __slots__ = ("node_id", "space", "type", "properties", "valid_from_us", "valid_to_us", "provenance", "vector")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_US_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_US_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    space: str
    type: str
    properties: _struct_pb2.Struct
    valid_from_us: int
    valid_to_us: int
    provenance: _containers.RepeatedCompositeFieldContainer[_plan_pb2.SpanRef]
    vector: NodeVector
    def __init__(self, node_id: _Optional[str] = ..., space: _Optional[str] = ..., type: _Optional[str] = ..., properties: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., valid_from_us: _Optional[int] = ..., valid_to_us: _Optional[int] = ..., provenance: _Optional[_Iterable[_Union[_plan_pb2.SpanRef, _Mapping]]] = ..., vector: _Optional[_Union[NodeVector, _Mapping]] = ...) -> None: ...

class PutNodesRequest(_message.Message):
    __slots__ = ("nodes", "idempotency_key")
    NODES_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[Node]
    idempotency_key: str
    def __init__(self, nodes: _Optional[_Iterable[_Union[Node, _Mapping]]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class PutNodesResponse(_message.Message):
    __slots__ = ("tx_us", "replayed")
    TX_US_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    tx_us: int
    replayed: bool
    def __init__(self, tx_us: _Optional[int] = ..., replayed: _Optional[bool] = ...) -> None: ...

class Edge(_message.Message):
    __slots__ = ("edge_id", "from_node_id", "to_node_id", "type", "confidence", "valid_from_us", "valid_to_us")
    EDGE_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    TO_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_US_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_US_FIELD_NUMBER: _ClassVar[int]
    edge_id: str
    from_node_id: str
    to_node_id: str
    type: str
    confidence: float
    valid_from_us: int
    valid_to_us: int
    def __init__(self, edge_id: _Optional[str] = ..., from_node_id: _Optional[str] = ..., to_node_id: _Optional[str] = ..., type: _Optional[str] = ..., confidence: _Optional[float] = ..., valid_from_us: _Optional[int] = ..., valid_to_us: _Optional[int] = ...) -> None: ...

class PutEdgesRequest(_message.Message):
    __slots__ = ("edges", "idempotency_key")
    EDGES_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    edges: _containers.RepeatedCompositeFieldContainer[Edge]
    idempotency_key: str
    def __init__(self, edges: _Optional[_Iterable[_Union[Edge, _Mapping]]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class PutEdgesResponse(_message.Message):
    __slots__ = ("tx_us", "replayed")
    TX_US_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    tx_us: int
    replayed: bool
    def __init__(self, tx_us: _Optional[int] = ..., replayed: _Optional[bool] = ...) -> None: ...

class Clarification(_message.Message):
    __slots__ = ("clarification_id", "node_id", "state", "question")
    CLARIFICATION_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    clarification_id: str
    node_id: str
    state: str
    question: str
    def __init__(self, clarification_id: _Optional[str] = ..., node_id: _Optional[str] = ..., state: _Optional[str] = ..., question: _Optional[str] = ...) -> None: ...

class PutClarificationsRequest(_message.Message):
    __slots__ = ("clarifications", "idempotency_key")
    CLARIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    clarifications: _containers.RepeatedCompositeFieldContainer[Clarification]
    idempotency_key: str
    def __init__(self, clarifications: _Optional[_Iterable[_Union[Clarification, _Mapping]]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class PutClarificationsResponse(_message.Message):
    __slots__ = ("tx_us", "replayed")
    TX_US_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    tx_us: int
    replayed: bool
    def __init__(self, tx_us: _Optional[int] = ..., replayed: _Optional[bool] = ...) -> None: ...

class Artifact(_message.Message):
    __slots__ = ("artifact_id", "space", "name", "text", "derived_from", "valid_from_us")
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_US_FIELD_NUMBER: _ClassVar[int]
    artifact_id: str
    space: str
    name: str
    text: str
    derived_from: _containers.RepeatedScalarFieldContainer[str]
    valid_from_us: int
    def __init__(self, artifact_id: _Optional[str] = ..., space: _Optional[str] = ..., name: _Optional[str] = ..., text: _Optional[str] = ..., derived_from: _Optional[_Iterable[str]] = ..., valid_from_us: _Optional[int] = ...) -> None: ...

class PutArtifactsRequest(_message.Message):
    __slots__ = ("artifacts", "idempotency_key")
    ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    artifacts: _containers.RepeatedCompositeFieldContainer[Artifact]
    idempotency_key: str
    def __init__(self, artifacts: _Optional[_Iterable[_Union[Artifact, _Mapping]]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class WrittenArtifact(_message.Message):
    __slots__ = ("artifact_id", "source_version_tx", "outcome")
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VERSION_TX_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    artifact_id: str
    source_version_tx: int
    outcome: IngestOutcome
    def __init__(self, artifact_id: _Optional[str] = ..., source_version_tx: _Optional[int] = ..., outcome: _Optional[_Union[IngestOutcome, str]] = ...) -> None: ...

class PutArtifactsResponse(_message.Message):
    __slots__ = ("artifacts", "tx_us", "replayed")
    ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    TX_US_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    artifacts: _containers.RepeatedCompositeFieldContainer[WrittenArtifact]
    tx_us: int
    replayed: bool
    def __init__(self, artifacts: _Optional[_Iterable[_Union[WrittenArtifact, _Mapping]]] = ..., tx_us: _Optional[int] = ..., replayed: _Optional[bool] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("source_id", "name", "uri", "space", "source_version_tx", "length", "content_hash", "valid_from_us", "span_class")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VERSION_TX_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_US_FIELD_NUMBER: _ClassVar[int]
    SPAN_CLASS_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    name: str
    uri: str
    space: str
    source_version_tx: int
    length: int
    content_hash: str
    valid_from_us: int
    span_class: _plan_pb2.SpanClass
    def __init__(self, source_id: _Optional[str] = ..., name: _Optional[str] = ..., uri: _Optional[str] = ..., space: _Optional[str] = ..., source_version_tx: _Optional[int] = ..., length: _Optional[int] = ..., content_hash: _Optional[str] = ..., valid_from_us: _Optional[int] = ..., span_class: _Optional[_Union[_plan_pb2.SpanClass, str]] = ...) -> None: ...

class GetSourceRequest(_message.Message):
    __slots__ = ("source_id", "source_version_tx", "window", "include_text", "text_start", "text_limit")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VERSION_TX_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_TEXT_FIELD_NUMBER: _ClassVar[int]
    TEXT_START_FIELD_NUMBER: _ClassVar[int]
    TEXT_LIMIT_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    source_version_tx: int
    window: _plan_pb2.Window
    include_text: bool
    text_start: int
    text_limit: int
    def __init__(self, source_id: _Optional[str] = ..., source_version_tx: _Optional[int] = ..., window: _Optional[_Union[_plan_pb2.Window, _Mapping]] = ..., include_text: _Optional[bool] = ..., text_start: _Optional[int] = ..., text_limit: _Optional[int] = ...) -> None: ...

class GetSourceResponse(_message.Message):
    __slots__ = ("source", "text")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    source: Source
    text: str
    def __init__(self, source: _Optional[_Union[Source, _Mapping]] = ..., text: _Optional[str] = ...) -> None: ...

class ListSourcesRequest(_message.Message):
    __slots__ = ("spaces", "page_size", "page_token")
    SPACES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    spaces: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    def __init__(self, spaces: _Optional[_Iterable[str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSourcesResponse(_message.Message):
    __slots__ = ("sources", "next_page_token")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sources: _containers.RepeatedCompositeFieldContainer[Source]
    next_page_token: str
    def __init__(self, sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class EraseSourceRequest(_message.Message):
    __slots__ = ("source_id", "idempotency_key")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    idempotency_key: str
    def __init__(self, source_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class EraseSourceResponse(_message.Message):
    __slots__ = ("source_id", "tx_us", "versions", "spans", "nodes", "edges", "vectors", "replayed", "artifacts")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    TX_US_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    EDGES_FIELD_NUMBER: _ClassVar[int]
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    tx_us: int
    versions: int
    spans: int
    nodes: int
    edges: int
    vectors: int
    replayed: bool
    artifacts: int
    def __init__(self, source_id: _Optional[str] = ..., tx_us: _Optional[int] = ..., versions: _Optional[int] = ..., spans: _Optional[int] = ..., nodes: _Optional[int] = ..., edges: _Optional[int] = ..., vectors: _Optional[int] = ..., replayed: _Optional[bool] = ..., artifacts: _Optional[int] = ...) -> None: ...

class QueryRequest(_message.Message):
    __slots__ = ("find", "where", "window", "spaces", "page_size", "page_token")
    FIND_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    SPACES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    find: str
    where: _struct_pb2.Struct
    window: _plan_pb2.Window
    spaces: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    def __init__(self, find: _Optional[str] = ..., where: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., window: _Optional[_Union[_plan_pb2.Window, _Mapping]] = ..., spaces: _Optional[_Iterable[str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class FoundNode(_message.Message):
    __slots__ = ("node_id", "type", "space", "properties", "valid_from_us", "valid_to_us", "provenance", "pending_clarification")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_US_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_US_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    PENDING_CLARIFICATION_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    type: str
    space: str
    properties: _struct_pb2.Struct
    valid_from_us: int
    valid_to_us: int
    provenance: _containers.RepeatedCompositeFieldContainer[_plan_pb2.SpanRef]
    pending_clarification: _context_pb2.PendingClarification
    def __init__(self, node_id: _Optional[str] = ..., type: _Optional[str] = ..., space: _Optional[str] = ..., properties: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., valid_from_us: _Optional[int] = ..., valid_to_us: _Optional[int] = ..., provenance: _Optional[_Iterable[_Union[_plan_pb2.SpanRef, _Mapping]]] = ..., pending_clarification: _Optional[_Union[_context_pb2.PendingClarification, _Mapping]] = ...) -> None: ...

class QueryResponse(_message.Message):
    __slots__ = ("nodes", "next_page_token", "window")
    NODES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[FoundNode]
    next_page_token: str
    window: _plan_pb2.Window
    def __init__(self, nodes: _Optional[_Iterable[_Union[FoundNode, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., window: _Optional[_Union[_plan_pb2.Window, _Mapping]] = ...) -> None: ...

class ReembedRequest(_message.Message):
    __slots__ = ("cursor",)
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    cursor: str
    def __init__(self, cursor: _Optional[str] = ...) -> None: ...

class ReembedResponse(_message.Message):
    __slots__ = ("model", "embedded", "left", "next_cursor", "finished", "tx_us")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    TX_US_FIELD_NUMBER: _ClassVar[int]
    model: str
    embedded: int
    left: int
    next_cursor: str
    finished: bool
    tx_us: int
    def __init__(self, model: _Optional[str] = ..., embedded: _Optional[int] = ..., left: _Optional[int] = ..., next_cursor: _Optional[str] = ..., finished: _Optional[bool] = ..., tx_us: _Optional[int] = ...) -> None: ...

"""Calls, prepared: the message to send, where it goes, how its answer reads, and whether it may be repeated."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from google.protobuf import struct_pb2
from google.protobuf.message import Message
from telha.context.v1 import context_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2, planner_pb2

from . import responses
from .errors import invalid
from .explaining import fill_explain, put_span
from .fields import extend, micros, named, put, utf8
from .inputs import Artifact, Clarification, Document, Edge, Fragment, Instant, Node
from .options import ContextOptions, PlanOptions, ReadOptions, SelectOptions, check
from .results import (
    Committed,
    Context,
    Erasure,
    Ingestion,
    Page,
    Plan,
    QueryPage,
    Reembedding,
    Source,
    SourceText,
    WrittenArtifacts,
)
from .uploads import STREAM_ABOVE, Content, PreparedUpload

T = TypeVar("T")

TEXT_PIECE = 1 << 20
"""Bytes of a source's text that are asked for at once, below the least limit that a server is likely to have."""

_MAX_EXACT = 2**53 - 1
_LEGS = {
    "structured": plan_pb2.LEG_STRUCTURED,
    "semantic": plan_pb2.LEG_SEMANTIC,
    "lexical": plan_pb2.LEG_LEXICAL,
}
_EXCLUDED = "exclude.trace_ids"
_CLASSES = {"truth": plan_pb2.SPAN_CLASS_TRUTH, "cache": plan_pb2.SPAN_CLASS_CACHE}


@dataclass(frozen=True, slots=True)
class Prepared(Generic[T]):
    """
    One call, ready to be sent by either client.

    Attributes:
        method: Full gRPC path.
        read: Makes the result from the answer's bytes.
        repeatable: The call writes nothing, or has an idempotency key: it may be repeated after any failure that says
            so.
        timeout: Seconds, or None for the client's.
    """

    method: str
    message: Message
    read: Callable[[bytes], T]
    repeatable: bool
    timeout: float | None = None


def plan(question: str | None, options: PlanOptions) -> Prepared[Plan]:
    """`Planner.Plan`."""
    check(options, PlanOptions)
    message = planner_pb2.PlanRequest()
    _fill_read(message, question, options)
    put(message, "allow_ungrounded", options.get("allow_ungrounded"))
    return Prepared("/telha.planner.v1.Planner/Plan", message, responses.plan, True, options.get("timeout"))


def context(question: str | None, options: ContextOptions) -> Prepared[Context]:
    """`Context.Build`."""
    check(options, ContextOptions)
    message = context_pb2.BuildRequest()
    _fill_read(message, question, options)
    for name in ("open_questions", "scores", "stats", "prompt"):
        put(message.include, name, options.get(name))
    return Prepared("/telha.context.v1.Context/Build", message, responses.context, True, options.get("timeout"))


def select(pool: Iterable[Fragment], options: SelectOptions) -> Prepared[Plan]:
    """`Planner.Select`."""
    check(options, SelectOptions)
    message = planner_pb2.SelectRequest()
    put(message, "question", options.get("question"))
    _fill_limits(message, options)
    put(message, "allow_ungrounded", options.get("allow_ungrounded"))
    for index, fragment in enumerate(pool):
        added, place = message.pool.add(), f"pool[{index}]"
        put_span(added.span, fragment.span, f"{place}.span")
        put(added, "span_class", named(_CLASSES, fragment.span_class, f"{place}.class"), place)
        for name in ("kind", "text", "tokens", "score"):
            put(added, name, getattr(fragment, name), place)
    return Prepared("/telha.planner.v1.Planner/Select", message, responses.select, True, options.get("timeout"))


def ingest(
    documents: Iterable[Document | str | Path], space: str | None, key: str | None, timeout: float | None
) -> Prepared[Ingestion]:
    """`Memory.Ingest`; a string or path is a file to read."""
    message = memory_pb2.IngestRequest()
    for index, given in enumerate(documents):
        document = given if isinstance(given, Document) else Document.from_path(given)
        added, place = message.documents.add(), f"documents[{index}]"
        content = document.content
        if isinstance(content, Path):
            content = content.read_bytes()
        put(added, "content", content if isinstance(content, bytes) else utf8(content, f"{place}.content"), place)
        put(added, "space", space if document.space is None else document.space, place)
        for name in ("source_id", "name", "uri", "media_type"):
            put(added, name, getattr(document, name), place)
        put(added, "valid_from_us", micros(document.valid_from, f"{place}.valid_from_us"), place)
    return _write("Ingest", message, responses.ingestion, key, timeout)


def upload(
    given: Document | str | Path | BinaryIO, space: str | None, key: str | None, timeout: float | None
) -> PreparedUpload[Ingestion]:
    """`Memory.IngestStream` of a document, a file by path, or what remains of an open file with a name."""
    if isinstance(given, Document):
        document = given
        content = _content(document)
    elif isinstance(given, str | Path):
        content = Content.of_path(Path(given))
        document = Document(name=Path(given).as_posix(), content=b"", uri=Path(given).resolve().as_uri())
    else:
        content = Content.of_file(given)
        document = Document(name=str(getattr(given, "name", "")), content=b"")
    header = memory_pb2.IngestStreamHeader()
    put(header, "space", space if document.space is None else document.space, "header")
    for name in ("source_id", "name", "uri", "media_type"):
        put(header, name, getattr(document, name), "header")
    put(header, "valid_from_us", micros(document.valid_from, "header.valid_from_us"), "header")
    put(header, "content_bytes", content.size, "header")
    put(header, "idempotency_key", _checked(key), "header")
    return PreparedUpload(f"{_MEMORY}/IngestStream", header, content, responses.streamed, bool(key), timeout)


def is_large(documents: Sequence[Document | str | Path]) -> bool:
    """Whether *documents* are one, too large to be sure that a message can hold it."""
    if len(documents) != 1:
        return False
    (given,) = documents
    content = given.content if isinstance(given, Document) else Path(given)
    return (content.stat().st_size if isinstance(content, Path) else len(content)) > STREAM_ABOVE


def _content(document: Document) -> Content:
    content = document.content
    if isinstance(content, Path):
        return Content.of_path(content)
    return Content.of_bytes(content if isinstance(content, bytes) else utf8(content, "chunk"))


def put_artifacts(artifacts: Iterable[Artifact], key: str | None, timeout: float | None) -> Prepared[WrittenArtifacts]:
    """`Memory.PutArtifacts`."""
    message = memory_pb2.PutArtifactsRequest()
    for index, artifact in enumerate(artifacts):
        added, place = message.artifacts.add(), f"artifacts[{index}]"
        for name in ("artifact_id", "space", "name", "text"):
            put(added, name, getattr(artifact, name), place)
        extend(added.derived_from, artifact.derived_from, f"{place}.derived_from")
        put(added, "valid_from_us", micros(artifact.valid_from, f"{place}.valid_from_us"), place)
    return _write("PutArtifacts", message, responses.artifacts, key, timeout)


def put_nodes(nodes: Iterable[Node], key: str | None, timeout: float | None) -> Prepared[Committed]:
    """`Memory.PutNodes`."""
    message = memory_pb2.PutNodesRequest()
    for index, node in enumerate(nodes):
        added, place = message.nodes.add(), f"nodes[{index}]"
        for name in ("node_id", "space", "type"):
            put(added, name, getattr(node, name), place)
        if node.properties is not None:
            _put_object(added.properties, node.properties, f"{place}.properties")
        _put_validity(added, node, place)
        for number, span in enumerate(node.provenance):
            put_span(added.provenance.add(), span, f"{place}.provenance[{number}]")
        if node.vector is not None:
            put(added.vector, "model", node.vector.model, f"{place}.vector")
            extend(added.vector.values, node.vector.values, f"{place}.vector.values")
    return _write("PutNodes", message, responses.committed(memory_pb2.PutNodesResponse), key, timeout)


def put_edges(edges: Iterable[Edge], key: str | None, timeout: float | None) -> Prepared[Committed]:
    """`Memory.PutEdges`."""
    message = memory_pb2.PutEdgesRequest()
    for index, edge in enumerate(edges):
        added, place = message.edges.add(), f"edges[{index}]"
        for name in ("edge_id", "from_node_id", "to_node_id", "type", "confidence"):
            put(added, name, getattr(edge, name), place)
        _put_validity(added, edge, place)
    return _write("PutEdges", message, responses.committed(memory_pb2.PutEdgesResponse), key, timeout)


def put_clarifications(
    clarifications: Iterable[Clarification], key: str | None, timeout: float | None
) -> Prepared[Committed]:
    """`Memory.PutClarifications`."""
    message = memory_pb2.PutClarificationsRequest()
    for index, clarification in enumerate(clarifications):
        added = message.clarifications.add()
        for name in ("clarification_id", "node_id", "state", "question"):
            put(added, name, getattr(clarification, name), f"clarifications[{index}]")
    read = responses.committed(memory_pb2.PutClarificationsResponse)
    return _write("PutClarifications", message, read, key, timeout)


def source(
    source_id: str,
    version: int | None,
    valid_time: Instant | None,
    tx_time: Instant | None,
    include_text: bool,
    timeout: float | None,
    text_start: int = 0,
) -> Prepared[SourceText]:
    """`Memory.GetSource`; of the text, a piece from byte *text_start* on."""
    message = memory_pb2.GetSourceRequest()
    put(message, "source_id", source_id)
    put(message, "source_version_tx", version)
    put(message, "include_text", include_text)
    if include_text:
        put(message, "text_start", text_start)
        put(message, "text_limit", TEXT_PIECE)
    _put_window(message, valid_time, tx_time)
    return Prepared(f"{_MEMORY}/GetSource", message, responses.source, True, timeout)


def sources(spaces: Sequence[str], page_size: int, page_token: str, timeout: float | None) -> Prepared[Page[Source]]:
    """`Memory.ListSources`."""
    message = memory_pb2.ListSourcesRequest()
    extend(message.spaces, spaces, "spaces")
    put(message, "page_size", page_size)
    put(message, "page_token", page_token)
    return Prepared(f"{_MEMORY}/ListSources", message, responses.sources, True, timeout)


def erase_source(source_id: str, key: str | None, timeout: float | None) -> Prepared[Erasure]:
    """`Memory.EraseSource`."""
    message = memory_pb2.EraseSourceRequest()
    put(message, "source_id", source_id)
    return _write("EraseSource", message, responses.erasure, key, timeout)


def reembed(cursor: str, timeout: float | None) -> Prepared[Reembedding]:
    """`Memory.Reembed`; repeating it does no harm, since what has a vector is left alone."""
    message = memory_pb2.ReembedRequest()
    put(message, "cursor", cursor)
    return Prepared(f"{_MEMORY}/Reembed", message, responses.reembedding, True, timeout)


def query(
    find: str,
    where: Mapping[str, Any] | None,
    valid_time: Instant | None,
    tx_time: Instant | None,
    spaces: Sequence[str],
    page_size: int,
    page_token: str,
    timeout: float | None,
) -> Prepared[QueryPage]:
    """`Memory.Query`."""
    message = memory_pb2.QueryRequest()
    put(message, "find", find)
    if where is not None:
        _put_object(message.where, where, "where")
    _put_window(message, valid_time, tx_time)
    extend(message.spaces, spaces, "spaces")
    put(message, "page_size", page_size)
    put(message, "page_token", page_token)
    return Prepared(f"{_MEMORY}/Query", message, responses.query, True, timeout)


_MEMORY = "/telha.memory.v1.Memory"


def _write(
    method: str,
    message: Any,  # noqa: ANN401 (every message that writes)
    read: Callable[[bytes], T],
    key: str | None,
    timeout: float | None,
) -> Prepared[T]:
    """A write, which may be repeated only under an idempotency key."""
    put(message, "idempotency_key", _checked(key))
    return Prepared(f"{_MEMORY}/{method}", message, read, bool(key), timeout)


def _fill_read(message: Any, question: str | None, options: ReadOptions) -> None:  # noqa: ANN401 (two messages alike)
    put(message, "question", question)
    find, find_limit, where = options.get("find"), options.get("find_limit"), options.get("where")
    if find is not None or find_limit is not None or where is not None:
        message.query.SetInParent()
        put(message.query, "find", find, "query")
        put(message.query, "limit", find_limit, "query")
        if where is not None:
            _put_object(message.query.where, where, "query.where")
    vector = options.get("vector")
    if vector is not None:
        message.vector.SetInParent()
        extend(message.vector.values, vector, "vector.values")
        put(message.vector, "model", options.get("vector_model"), "vector")
    put(message, "expand_depth", options.get("expand_depth"))
    put(message, "min_similarity", options.get("min_similarity"))
    _put_window(message, options.get("valid_time"), options.get("tx_time"))
    _fill_limits(message, options)
    extend(message.spaces, options.get("spaces", ()), "spaces")
    for index, leg in enumerate(options.get("legs", ())):
        message.legs.append(named(_LEGS, leg, f"legs[{index}]"))
    if earlier := options.get("exclude"):
        extend(message.exclude.trace_ids, [_trace_of(answer) for answer in earlier], _EXCLUDED)


def _trace_of(answer: str | Plan | Context) -> str:
    if isinstance(answer, str):
        return answer
    if not answer.trace_id:
        raise invalid(_EXCLUDED, "must name traces; an answer that left none cannot be excluded")
    return answer.trace_id


def _fill_limits(message: Any, options: Mapping[str, Any]) -> None:  # noqa: ANN401 (three messages alike)
    put(message.budget, "max_tokens", options.get("max_tokens"), "budget")
    put(message.budget, "max_spans", options.get("max_spans"), "budget")
    for name in ("model", "max_frac_per_source", "span_overhead_tokens"):
        put(message, name, options.get(name))
    fill_explain(message, options)
    wanted = options.get("suggest", False)
    if wanted is not False and wanted is not None:
        message.suggest.SetInParent()
        put(message.suggest, "weight_share", None if wanted is True else wanted, "suggest")


def _put_window(message: Any, valid_time: Instant | None, tx_time: Instant | None) -> None:  # noqa: ANN401 (as above)
    put(message.window, "valid_time_us", micros(valid_time, "window.valid_time_us"), "window")
    put(message.window, "tx_time_us", micros(tx_time, "window.tx_time_us"), "window")


def _put_validity(message: Message, given: Node | Edge, place: str) -> None:
    put(message, "valid_from_us", micros(given.valid_from, f"{place}.valid_from_us"), place)
    put(message, "valid_to_us", micros(given.valid_to, f"{place}.valid_to_us"), place)


def _put_object(message: struct_pb2.Struct, value: Mapping[str, Any], field: str) -> None:
    message.SetInParent()
    try:
        if not _exact(value):
            raise invalid(field, "must hold integers within ±(2^53 - 1), or strings")
        message.update(value)
    except RecursionError:
        raise invalid(field, "must not be nested so deep") from None
    except (ValueError, AttributeError, UnicodeEncodeError):
        raise invalid(field, "must be a JSON object") from None


def _exact(value: object) -> bool:
    """Whether every integer in *value* survives as the double that the wire makes of it."""
    if isinstance(value, Mapping):
        return all(map(_exact, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_exact, value))
    return not isinstance(value, int) or abs(value) <= _MAX_EXACT


def _checked(key: str | None) -> str | None:
    """*key*, unless it is empty: on the wire that would be no key, and whoever gives one relies on it."""
    if key == "":
        raise invalid("idempotency_key", "must be 1 to 255 visible ASCII characters")
    return key

"""
Nodes, edges, clarifications and artifacts from JSON lines, for `telha ingest --as records` and `--as artifacts`.

A record line is `{"nodes": […]}`, `{"edges": […]}`, `{"clarifications": […]}` or `{"artifacts": […]}`, as REST takes
them; an artifact line is one artifact. camelCase, no unknown fields; instants as RFC 3339 or microseconds.

Rule 1: every line is read before the first is sent. Rule 2: a line is one transaction, and lines go in order, so an
edge stands below its nodes. Rule 3: sending lines again changes nothing, so a file that failed is mended and sent
whole.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import msgspec
from telha_client import Artifact, Clarification, Edge, InvalidRequest, Node, NodeVector, NotFound, Span

from . import instants
from .problems import Problem, UsageInvalid
from .remember import Keys

if TYPE_CHECKING:
    from .calls import Service

_HINT = 'a line is {"nodes": […]}, {"edges": […]}, {"clarifications": […]} or {"artifacts": […]}; see docs/ingestion.md'
_ARTIFACT_HINT = 'a line is {"artifactId": …, "name": …, "text": …, "derivedFrom": […]}; see docs/ingestion.md'

_T = TypeVar("_T")


class _Strict(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Refuses what it does not know."""


class _Span(_Strict):
    source_id: str
    source_version_tx: int
    start: int
    end: int


class _Vector(_Strict):
    model: str
    values: list[float]


class _Node(_Strict):
    node_id: str
    type: str
    space: str | None = None
    properties: dict[str, Any] | None = None
    valid_from: str | int | None = None
    valid_to: str | int | None = None
    provenance: list[_Span] = []
    vector: _Vector | None = None


class _Edge(_Strict):
    edge_id: str
    from_node_id: str
    to_node_id: str
    type: str
    confidence: float | None = None
    valid_from: str | int | None = None
    valid_to: str | int | None = None


class _Clarification(_Strict):
    clarification_id: str
    node_id: str
    state: Literal["pending", "conflicted", "resolved"]
    question: str


class _Artifact(_Strict):
    artifact_id: str
    name: str
    text: str
    derived_from: list[str]
    space: str | None = None
    valid_from: str | int | None = None


class _Line(_Strict):
    nodes: list[_Node] | None = None
    edges: list[_Edge] | None = None
    clarifications: list[_Clarification] | None = None
    artifacts: list[_Artifact] | None = None


class Batch(NamedTuple):
    """The records of one line; *place* names it."""

    place: str
    kind: Literal["nodes", "edges", "clarifications", "artifacts"]
    records: Sequence[Node] | Sequence[Edge] | Sequence[Clarification] | Sequence[Artifact]


def read(paths: Sequence[Path], space: str | None, *, artifacts: bool = False) -> list[Batch]:
    """
    The lines of the files *paths*; *space* is that of nodes and artifacts which name none.

    Args:
        artifacts: Each line is one artifact.

    Raises:
        UsageInvalid: A file cannot be read.
        Problem: A line has another shape; names file, line and field.
    """
    return [batch for path in paths for batch in _lines(path, space, artifacts=artifacts)]


def write(service: "Service", batches: Sequence[Batch], keys: Keys) -> dict[str, Any]:
    """
    Write *batches* in order, a transaction each, and say what was written.

    Raises:
        Problem: The server refuses one; those before it are written.
    """
    told = []
    for batch in batches:
        try:
            tx = service.put(batch.kind, batch.records, keys.next())
        except (InvalidRequest, NotFound) as fault:
            hint = "the lines before it are written; sending them again changes nothing"
            raise Problem(fault.reason or fault.code, f"{batch.place}: {fault.message}", hint=hint) from None
        told.append({"line": batch.place, batch.kind: len(batch.records), "txTime": tx})
    return {"records": told}


def _lines(path: Path, space: str | None, *, artifacts: bool) -> Iterator[Batch]:
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as fault:
        raise UsageInvalid(str(path), f"cannot be read: {fault.strerror}") from None
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            yield (_artifact_line if artifacts else _batch)(f"{path} line {number}", line, space)


def _artifact_line(place: str, written: bytes, space: str | None) -> Batch:
    artifact = _decoded(place, written, _Artifact, _ARTIFACT_HINT)
    return Batch(place, "artifacts", _converted(place, lambda: [_artifact("", artifact, space)]))


def _batch(place: str, written: bytes, space: str | None) -> Batch:
    line = _decoded(place, written, _Line, _HINT)
    stated = [name for name in line.__struct_fields__ if getattr(line, name) is not None]
    if len(stated) != 1:
        raise Problem("INVALID_REQUEST", f"{place}: must hold exactly one kind of record", hint=_HINT)
    if line.nodes is not None:
        nodes = line.nodes
        return Batch(
            place,
            "nodes",
            _converted(place, lambda: [_node(f"nodes[{i}]", node, space) for i, node in enumerate(nodes)]),
        )
    if line.edges is not None:
        edges = line.edges
        return Batch(
            place, "edges", _converted(place, lambda: [_edge(f"edges[{i}]", edge) for i, edge in enumerate(edges)])
        )
    if line.artifacts is not None:
        made = line.artifacts
        return Batch(
            place,
            "artifacts",
            _converted(place, lambda: [_artifact(f"artifacts[{i}].", each, space) for i, each in enumerate(made)]),
        )
    found = [Clarification(**msgspec.structs.asdict(each)) for each in line.clarifications or ()]
    return Batch(place, "clarifications", found)


def _decoded(place: str, written: bytes, shape: type[_T], hint: str) -> _T:
    try:
        return msgspec.json.decode(written, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise Problem("INVALID_REQUEST", f"{place}: {str(fault)[:200]}", hint=hint) from None


def _converted(place: str, convert: Callable[[], list[_T]]) -> list[_T]:
    try:
        return convert()
    except UsageInvalid as fault:
        raise Problem("INVALID_REQUEST", f"{place}: {fault}", extra=fault.extra) from None


def _artifact(field: str, artifact: _Artifact, space: str | None) -> Artifact:
    return Artifact(
        artifact_id=artifact.artifact_id,
        name=artifact.name,
        text=artifact.text,
        derived_from=artifact.derived_from,
        space=artifact.space or space,
        valid_from=_instant(f"{field}validFrom", artifact.valid_from),
    )


def _node(field: str, node: _Node, space: str | None) -> Node:
    return Node(
        node_id=node.node_id,
        type=node.type,
        properties=node.properties,
        space=node.space or space,
        valid_from=_instant(f"{field}.validFrom", node.valid_from),
        valid_to=_instant(f"{field}.validTo", node.valid_to),
        provenance=[Span(*msgspec.structs.astuple(span)) for span in node.provenance],
        vector=None if node.vector is None else NodeVector(node.vector.model, node.vector.values),
    )


def _edge(field: str, edge: _Edge) -> Edge:
    return Edge(
        edge_id=edge.edge_id,
        from_node_id=edge.from_node_id,
        to_node_id=edge.to_node_id,
        type=edge.type,
        confidence=edge.confidence,
        valid_from=_instant(f"{field}.validFrom", edge.valid_from),
        valid_to=_instant(f"{field}.validTo", edge.valid_to),
    )


def _instant(field: str, written: str | int | None) -> int | None:
    if isinstance(written, int):
        return instants.number(field, written)
    return None if written is None else instants.parse(field, written)

"""What callers send, as small frozen dataclasses; instants are µs since 1970 UTC or aware datetimes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

Instant = int | datetime
SpanClass = Literal["truth", "cache"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """
    One verbatim span of one version of one source; sorts in canonical order.

    Attributes:
        source_id: Lower-case UUID.
        source_version_tx: Commit that wrote the version, µs.
        start: First byte in the UTF-8 text.
        end: First byte after.
    """

    source_id: str
    source_version_tx: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class WhyNot:
    """
    What to ask "why is it not in the plan?" of: a source or a section of it, or a span; the one or the other.

        WhyNot("handbook.md")    WhyNot("handbook.md", section="Refunds")    WhyNot(span=item_span)

    Attributes:
        source: Id or display name of a source, 1 to 1024 bytes.
        section: Title of a section of it, or the last titles of its path joined by ` > `, in any case, at most 1024
            bytes; None is the whole source.
        span: The candidates and nodes that rest on bytes of this span.
    """

    source: str | None = None
    section: str | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """
    One span of a pool for `select`.

    Attributes:
        text: Needed to count tokens, and to score by a question.
        tokens: Exact tokens; they win over counting the text.
        score: Evidence weight, finite and at least 0; not beside a question.
    """

    span: Span
    kind: str = "body"
    span_class: SpanClass = "truth"
    text: str | None = None
    tokens: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """
    A document to ingest.

    Attributes:
        name: Display name.
        content: The text, its UTF-8 bytes, or the file to read them from when they are sent.
        uri: Where it comes from; with the space it makes the source's id, unless *source_id* is given.
        space: Where it goes; None is the key's only space, or `main`.
        media_type: `text/plain`, `text/markdown`, `text/html`, `application/json` or `application/x-ndjson` (the last
            two are conversations); None is decided by the name.
        valid_from: Since when it is true; None is the commit.
    """

    name: str
    content: str | bytes | Path
    uri: str | None = None
    space: str | None = None
    media_type: str | None = None
    source_id: str | None = None
    valid_from: Instant | None = None

    @classmethod
    def from_path(cls, path: str | Path, *, space: str | None = None, valid_from: Instant | None = None) -> "Document":
        """The file at *path*, named as given; raises `OSError` if it cannot be read."""
        file = Path(path)
        uri = file.resolve().as_uri()
        return cls(name=file.as_posix(), content=file.read_bytes(), uri=uri, space=space, valid_from=valid_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """
    A derived artifact to write: a text that was made from sources, such as a summary.

    Attributes:
        artifact_id: Lower-case UUID, the artifact's id as a source.
        text: At most 65,536 bytes of UTF-8.
        derived_from: Ids of the sources it was made from, 1 to 256; erasing one erases the artifact.
        space: Where it goes; None is the key's only space, or `main`.
        valid_from: Since when it is true; None is the commit.
    """

    artifact_id: str
    name: str
    text: str
    derived_from: Sequence[str]
    space: str | None = None
    valid_from: Instant | None = None


@dataclass(frozen=True, slots=True)
class NodeVector:
    """A vector of a node, and the model that made it."""

    model: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """
    A node to write; writing an existing one closes what it said before.

    Attributes:
        provenance: Spans of stored sources that the node rests on.
        valid_from, valid_to: When it is true; None is the commit, and open.
    """

    node_id: str
    type: str
    properties: Mapping[str, Any] | None = None
    space: str | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    provenance: Sequence[Span] = ()
    vector: NodeVector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """
    An edge to write.

    Attributes:
        confidence: How far expansion trusts it, in (0, 1]; None is 1.
    """

    edge_id: str
    from_node_id: str
    to_node_id: str
    type: str
    confidence: float | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarification:
    """A question about a node that somebody has to answer."""

    clarification_id: str
    node_id: str
    state: Literal["pending", "conflicted", "resolved"]
    question: str

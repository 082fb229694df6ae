"""
A document in, its record out: spans, nodes, edges, counts and terms, all a function of the document alone.

    document ─contains→ section ─contains→ section, passage, window
    window ─contains→ passage ─next→ passage ─links→ section

A section is its heading's only node. A passage is one base span; in a conversation its type is `turn`. A window is up
to three of them. The names of source and sections stand before the text in what is indexed, never in the span. A link
to a fragment of the same document is an edge; other links are kept as the passage's property `links`. A passage that
somebody says is moreover stored with the ids of the speaker's name, a window with those of its passages
(`models/speakers.py`).

Rule 1: equal documents give equal records, byte for byte. Rule 2: a passage's node says nothing of its position, so
that inserting a paragraph changes no other node.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from telha_planner.memory.records import DocumentRecord, PassageEdge, PassageNode, SpanRecord, Terms
from telha_planner.models import speakers
from telha_planner.models.analysis import ANALYSIS_VERSION, term_counts
from telha_planner.models.tokenizers import token_counts

from . import conversation, html, identity, markdown
from .blocks import Block, Turn, byte_offsets, cut, paragraphs
from .document import (
    HTML,
    JSON,
    JSON_LINES,
    MARKDOWN,
    MAX_BASE_SPANS,
    DocumentInput,
    TooManySpans,
    canonical_text,
)
from .links import fragment, slugs
from .windows import windows

WINDOW_KIND = "section"
"""Kind of the spans that lie over base spans."""

INGEST_VERSION = 3
"""Raised when the same document would give another record; re-ingesting then writes a new version."""

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))

Counts = Mapping[int, int]
Properties = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Content:
    """
    What a format makes of a document.

    Attributes:
        text: The canonical text, of which *blocks* are slices.
        stated: What it says of the whole document: `title`, `lang`.
        began: Since when it is true by its own word, µs, or None.
        is_made: The text was made from the document, so that it does not tell all of what the blocks say.
    """

    text: str
    blocks: Iterable[Block]
    stated: Mapping[str, str] = field(default_factory=dict)
    began: int | None = None
    is_made: bool = False


def parse(document: DocumentInput, tenant_name: str, most_spans: int = MAX_BASE_SPANS) -> DocumentRecord:
    """
    The record of *document*.

    Args:
        tenant_name: Enters the id of a source that states none.
        most_spans: Base spans that it may have.

    Raises:
        RequestInvalid: The content does not fit its media type.
        TooManySpans: It has more.
    """
    media_type = document.resolved_media_type
    content = _read(canonical_text(document.content), media_type, most_spans)
    blocks = tuple(islice(cut(content.text, content.blocks), most_spans + 1))
    if len(blocks) > most_spans:
        raise TooManySpans
    source = document.source_id or identity.source_id(tenant_name, document.space, document.name, document.uri)
    graph = _Graph(source, document, content.stated, content.text, blocks)
    graph.build(media_type)
    encoded = content.text.encode()
    versions = f"{INGEST_VERSION}.{ANALYSIS_VERSION}"
    inputs: list[str | bytes] = [versions, document.name, document.uri or "", media_type, document.space, encoded]
    if content.is_made:
        inputs.append(_JSON.encode([content.stated, blocks]))
    return DocumentRecord(
        source_id=source,
        space=document.space,
        name=document.name,
        uri=document.uri,
        media_type=media_type,
        text=encoded,
        content_hash=identity.content_hash(encoded),
        input_hash=identity.content_hash(identity.delimited(inputs)),
        valid_from=content.began if document.valid_from is None else document.valid_from,
        spans=tuple(graph.spans),
        nodes=tuple(graph.nodes),
        edges=tuple(graph.edges.values()),
    )


def _read(text: str, media_type: str, most_spans: int) -> _Content:
    if media_type == HTML:
        page = html.parse(text, most_spans)
        return _Content(page.text, page.blocks, _said(title=page.title, lang=page.language), is_made=True)
    if media_type in (JSON, JSON_LINES):
        talk = conversation.parse(text, media_type, most_spans)
        return _Content(talk.text, talk.blocks, began=talk.began, is_made=True)
    if media_type == MARKDOWN:
        parsed = markdown.parse(text, most_spans)
        return _Content(text, parsed.blocks, _said(title=parsed.title))
    return _Content(text, paragraphs(text))


def _said(**stated: str | None) -> dict[str, str]:
    return {name: value for name, value in stated.items() if value}


@dataclass(frozen=True, slots=True)
class _Section:
    """An open section; the document itself is the one of level 0."""

    node: bytes
    level: int
    path: tuple[str, ...]
    number: int
    context: Counts
    preface: str
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage, as its windows need it."""

    node: bytes
    block: int
    section: _Section
    terms: Counts
    digest: bytes


@dataclass
class _Graph:
    """Builds nodes and edges over *blocks*."""

    source: bytes
    document: DocumentInput
    stated: Mapping[str, str]
    text: str
    blocks: Sequence[Block]
    spans: list[SpanRecord] = field(default_factory=list)
    nodes: list[PassageNode] = field(default_factory=list)
    edges: dict[bytes, PassageEdge] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._seen: dict[bytes, int] = {}
        self._passages: list[_Passage] = []
        self._sections: list[_Section] = []
        positions = [position for block in self.blocks for position in (block.start, block.end)]
        offsets = byte_offsets(self.text, positions)
        self._bytes = list(zip(offsets[::2], offsets[1::2], strict=True))

    def build(self, media_type: str) -> None:
        """Fill spans, nodes and edges."""
        stack = [self._root(media_type)]
        for index, block in enumerate(self.blocks):
            text = self.text[block.start : block.end]
            self.spans.append(SpanRecord(*self._bytes[index], block.kind, token_counts(text)))
            if block.kind == "heading":
                while stack[-1].level >= block.level:
                    stack.pop()
                stack.append(self._section(index, block, text, stack[-1]))
            else:
                self._passage(index, block, text, stack[-1])
        for left, right in zip(self._passages, self._passages[1:], strict=False):
            self._edge(left.node, "next", right.node)
        for first, last in self._windows():
            self._window(self._passages[first:last])
        self._links()

    def _root(self, media_type: str) -> _Section:
        properties: Properties = {"name": self.document.name, "mediaType": media_type, **self.stated}
        title = next((block.title for block in self.blocks if block.level == 1), "")
        if title:
            properties.setdefault("title", title)
        # Without terms: a document has no span of its own, so finding it by its name would give no evidence.
        node = self._node("document", ("document",), (), properties, Terms.of({}))
        preface = _lines(self.document.name, self.stated.get("title"))
        return _Section(node, 0, (), 0, term_counts(preface), preface)

    def _section(self, index: int, block: Block, text: str, parent: _Section) -> _Section:
        path = (*parent.path, block.title)
        properties: Properties = {"title": block.title, "level": block.level, "path": list(parent.path)}
        counted = term_counts(text)
        terms = Terms.of(_sum(parent.context, counted))
        node = self._node("section", ("section", identity.delimited(path)), (index,), properties, terms)
        self._edge(parent.node, "contains", node)
        context = _sum(parent.context, term_counts(block.title))
        preface = _lines(parent.preface, block.title)
        section = _Section(node, block.level, path, len(self._sections) + 1, context, preface, block.anchors)
        self._sections.append(section)
        return section

    def _passage(self, index: int, block: Block, text: str, section: _Section) -> None:
        digest = identity.content_hash(text.encode())
        properties: Properties = {"kind": block.kind, "path": list(section.path)}
        if block.role:
            properties["role"] = block.role
        leaving = sorted(link for link in block.links if fragment(link) is None)
        if leaving:
            properties["links"] = leaving
        counted = term_counts(text)
        context = _sum(section.context, term_counts(block.context)) if block.context else section.context
        node_type = "passage"
        place: list[str | bytes] = ["passage", block.kind, digest, identity.delimited(section.path)]
        if block.turn is not None:
            node_type = "turn"
            place += ["turn", block.turn.speaker, str(block.turn.time)]
            properties |= _turn_properties(block.turn)
        preface = _lines(section.preface, block.context)
        terms = Terms.of(_sum(context, counted), _speaker_ids(block))
        node = self._node(node_type, place, (index,), properties, terms, _time(block), preface)
        self._edge(section.node, "contains", node)
        self._passages.append(_Passage(node, index, section, counted, digest))

    def _windows(self) -> Iterator[tuple[int, int]]:
        groups = [(passage.section.number, self.blocks[passage.block].table) for passage in self._passages]
        lengths = [end - start for start, end in (self._bytes[passage.block] for passage in self._passages)]
        return windows(lengths, groups, [passage.digest for passage in self._passages])

    def _window(self, passages: Sequence[_Passage]) -> None:
        first, last, section = passages[0].block, passages[-1].block, passages[0].section
        text = self.text[self.blocks[first].start : self.blocks[last].end]
        span = SpanRecord(self._bytes[first][0], self._bytes[last][1], WINDOW_KIND, token_counts(text))
        self.spans.append(span)
        parts = [section.context, *(passage.terms for passage in passages)]
        blocks = self.blocks[first : last + 1]
        # A table's head, or the dates of turns: each once.
        contexts = [*dict.fromkeys(block.context for block in blocks if block.context)]
        spoken = speakers.together([_speaker_ids(block) for block in blocks])
        terms = Terms.of(_sum(*parts, *map(term_counts, contexts)), spoken)
        preface = _lines(section.preface, *contexts)
        digests = b"".join(passage.digest for passage in passages)
        place: list[str | bytes] = ["window", digests, identity.delimited(section.path)]
        times = [time for block in blocks if (time := _time(block)) is not None]
        place += [str(time) for time in times]
        # True once the last of it is said.
        said = max(times, default=None)
        node = self._node("window", place, (len(self.spans) - 1,), {"path": list(section.path)}, terms, said, preface)
        self._edge(section.node, "contains", node)
        for passage in passages:
            self._edge(node, "contains", passage.node)

    def _links(self) -> None:
        targets = slugs([section.path[-1] for section in self._sections]) | {
            str(fragment(f"#{anchor}")): index
            for index, section in reversed([*enumerate(self._sections)])
            for anchor in section.anchors
        }
        for passage in self._passages:
            for link in self.blocks[passage.block].links:
                name = fragment(link)
                if name is not None and name in targets:
                    self._edge(passage.node, "links", self._sections[targets[name]].node)

    def _node(
        self,
        node_type: str,
        place: Sequence[str | bytes],
        spans: tuple[int, ...],
        properties: Properties,
        terms: Terms,
        valid_from: int | None = None,
        preface: str | None = None,
    ) -> bytes:
        """Add a node; *place* and how often it was met before make its id."""
        key = identity.delimited(place)
        occurrence = self._seen.get(key, 0)
        self._seen[key] = occurrence + 1
        node = identity.uuid5(self.source, (key, str(occurrence)))
        written = _canonical_json(properties)
        self.nodes.append(PassageNode(node, node_type, spans, written, terms, valid_from, preface))
        return node

    def _edge(self, from_node: bytes, edge_type: str, to_node: bytes) -> None:
        edge = identity.edge_id(self.source, from_node, edge_type, to_node)
        self.edges[edge] = PassageEdge(edge, from_node, to_node, edge_type)


def _lines(*parts: str | None) -> str:
    return "\n".join(filter(None, parts))


def _time(block: Block) -> int | None:
    return block.turn.time if block.turn else None


def _speaker_ids(block: Block) -> Counts:
    speaker = block.turn.speaker if block.turn else block.speaker
    return speakers.name_ids(speaker) if speaker else {}


def _turn_properties(turn: Turn) -> Properties:
    written = None if turn.time is None else conversation.written_time(turn.time)
    return {"speaker": turn.speaker} | ({"time": written} if written else {})


def _canonical_json(properties: Properties) -> str:
    """RFC 8785 by the standard library: equal for ASCII keys, strings and small integers, and five times faster."""
    return _JSON.encode(properties)


def _sum(first: Counts, *others: Counts) -> Counts:
    total = dict(first)
    get = total.get
    for other in others:
        for term, count in other.items():
            total[term] = get(term, 0) + count
    return total

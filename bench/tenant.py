"""
A synthetic tenant, written straight into the tables.

Documents hold passages of two spans each, windows of three passages and a section, joined by `next` and `contains`
edges; words follow Zipf's law. 100,000 spans make about 50,000 nodes. Writing takes some seconds, and what is measured
is reading.
"""

import random
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from telha_planner.core.request import OPEN_END
from telha_planner.memory import tables
from telha_planner.memory.bulk import bulk_insert
from telha_planner.memory.store import Store
from telha_planner.models.analysis import term_id

TENANT = 1
TX = 1_780_272_000_000_000
DIMENSIONS = 512
VOCABULARY = 60_000
PASSAGES = 24
"""Passages per document; each has two spans, and each three in a row have a window."""

_SPANS_PER_DOCUMENT = 2 * PASSAGES + 2 * (PASSAGES // 3)
_BATCH = 50
_TEXT = (b"The tram crosses the old bridge at night. " * 200)[: 200 * PASSAGES]


@dataclass(frozen=True, slots=True)
class Synthetic:
    """The tenant, and what to ask it."""

    store: Store
    questions: list[str]
    vectors: list[np.ndarray]
    nodes: int


def build(folder: Path, spans: int, *, vectors: bool = True, spaces: int = 1, seed: int = 5) -> Synthetic:
    """Write a tenant of about *spans* spans over *spaces* spaces."""
    store = Store.open(f"sqlite:///{folder}/memory.db", busy_timeout_ms=10_000)
    writer = _Writer(seed, vectors, spaces)
    documents = max(1, spans // _SPANS_PER_DOCUMENT)
    for first in range(0, documents, _BATCH):
        for index in range(first, min(documents, first + _BATCH)):
            writer.document(index)
        writer.flush(store)
    writer.finish(store)
    dice = random.Random(seed)
    questions = [
        " ".join([*(f"w{dice.randrange(60)}" for _ in range(4)), *(f"w{dice.randrange(9000)}" for _ in range(6))])
        for _ in range(40)
    ]
    asked = [np.asarray(writer.topic(dice.randrange(documents)), np.float32) for _ in range(40)]
    return Synthetic(store, questions, asked, writer.node_count)


class _Writer:
    def __init__(self, seed: int, vectors: bool, spaces: int) -> None:
        self.dice = np.random.default_rng(seed)
        self.ids = np.array([term_id(f"w{rank}") for rank in range(VOCABULARY)], np.uint64)
        share = 1.0 / np.arange(1, VOCABULARY + 1)
        self.cumulative = np.cumsum(share / share.sum())
        self.topics = self.dice.normal(size=(200, DIMENSIONS)).astype(np.float32)
        self.has_vectors = vectors
        self.next_no = 1
        self.node_count = 0
        self.rows: dict[str, list[tuple[object, ...]]] = {}
        self.spaces = [self.number() for _ in range(spaces)]
        for index, number in enumerate(self.spaces):
            self.add(tables.space, number, "main" if index == 0 else f"space {index}")
        self.add(tables.vector_model, self.number(), "bench", DIMENSIONS, 0.1)
        self.add(tables.active_model, self.number(), "bench", TX)

    def number(self) -> int:
        self.next_no += 1
        return self.next_no - 1

    def add(self, table: sa.Table, *row: object) -> None:
        self.rows.setdefault(table.name, []).append((TENANT, *row))

    def uid(self) -> bytes:
        return UUID(bytes=self.dice.bytes(16)).bytes

    def topic(self, index: int) -> np.ndarray:
        return self.topics[index % len(self.topics)] + 0.6 * self.dice.normal(size=DIMENSIONS).astype(np.float32)

    def document(self, index: int) -> None:
        space = self.spaces[index % len(self.spaces)]
        source = self.number()
        self.add(tables.source, source, self.uid(), space, 0)
        text = (f"document {index}", None, "text/plain", bytes(32), bytes(32), len(_TEXT), _TEXT)
        self.add(tables.source_version, source, TX, self.number(), OPEN_END, TX, *text)
        section = self.node(index, source, space, "section", np.empty(0, np.int64), [])
        words = [self.words() for _ in range(PASSAGES)]
        nodes = []
        for place, word in enumerate(words):
            spans = [self.span(source, 200 * place + 100 * half, 100, "paragraph") for half in (0, 1)]
            nodes.append(self.node(index, source, space, "passage", word, spans))
            self.edge(source, section, nodes[-1], "contains")
            if place:
                self.edge(source, nodes[-2], nodes[-1], "next")
        for place in range(0, PASSAGES - 2, 3):
            halves = (
                self.span(source, 200 * place, 301, "section"),
                self.span(source, 200 * place + 302, 298, "section"),
            )
            window = self.node(index, source, space, "window", np.concatenate(words[place : place + 3]), list(halves))
            for node in nodes[place : place + 3]:
                self.edge(source, window, node, "contains")

    def words(self) -> np.ndarray:
        return np.searchsorted(self.cumulative, self.dice.random(int(self.dice.integers(15, 60))))

    def span(self, source: int, start: int, length: int, kind: str) -> int:
        number = self.number()
        tokens = int(self.dice.integers(10, 60)) if kind == "paragraph" else 90
        self.add(tables.span, number, source, TX, start, start + length, kind, length, 0, tokens, tokens)
        return number

    def node(self, index: int, source: int, space: int, node_type: str, words: np.ndarray, spans: list[int]) -> int:
        number, version = self.number(), self.number()
        self.node_count += 1
        self.add(tables.node, number, self.uid(), space, source)
        terms, counts = np.unique(self.ids[words], return_counts=True)
        packed = (terms.astype("<u8").tobytes(), counts.astype("<u4").tobytes(), len(words))
        self.add(
            tables.node_version, version, number, TX, OPEN_END, TX, OPEN_END, node_type, "{}", bytes(32), *packed, None
        )
        for span in spans:
            self.add(tables.node_span, self.number(), version, span, TX, OPEN_END)
        if self.has_vectors and node_type != "section":
            values = self.topic(index).astype("<f4").tobytes()
            self.add(tables.vector, self.number(), number, "bench", TX, values, TX, OPEN_END, None)
        return number

    def edge(self, source: int, tail: int, head: int, edge_type: str) -> None:
        self.add(tables.edge, self.number(), self.uid(), tail, head, edge_type, 1.0, source, TX, OPEN_END, TX, OPEN_END)

    def flush(self, store: Store) -> None:
        with store.writing(TENANT) as connection:
            for name, rows in self.rows.items():
                bulk_insert(connection, tables.metadata.tables[name], rows)
        self.rows = {}

    def finish(self, store: Store) -> None:
        with store.writing(TENANT) as connection:
            connection.execute(sa.insert(tables.tenant).values(tenant=TENANT, name="bench"))
            clock = {"tenant": TENANT, "last_tx": TX, "next_no": self.next_no, "erased_tx": 0}
            connection.execute(sa.insert(tables.clock).values(**clock))

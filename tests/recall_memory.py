"""
A small memory written straight into the tables, with every freedom that the schema leaves.

It goes past the writer on purpose: recall has to cope with whatever the tables may hold (spans of missing versions,
missing kinds, hubs, overlapping windows), and a test may need it at an exact instant.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from telha_planner.columns.tenant import Columns
from telha_planner.core.request import OPEN_END, Leg
from telha_planner.memory import tables
from telha_planner.memory.bulk import bulk_insert
from telha_planner.memory.store import Store
from telha_planner.models.analysis import term_counts
from telha_planner.models.counts import Terms
from telha_planner.models.speakers import name_ids, together
from telha_planner.recall.detail import RecallDetail
from telha_planner.recall.parts import parts_of
from telha_planner.recall.ports import Recalled, RecallQuery, Scoring
from telha_planner.recall.recall import recall

SECOND = 1_000_000
START = 1_780_272_000_000_000
ROOT = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
ALL_LEGS = frozenset(Leg)


def uid(*names: object) -> bytes:
    """The same 16 bytes for the same names."""
    return uuid.uuid5(ROOT, "/".join(str(name) for name in names)).bytes


def _opened(place: Path | str) -> Store:
    url = place if isinstance(place, str) else f"sqlite:///{place}/memory.db"
    return Store.open(url, busy_timeout_ms=10_000)


class Memory:
    """
    One tenant's tables; `commit` gives each block its own transaction time.

    They are in the store at an address, or in a SQLite file in a folder.
    """

    def __init__(self, place: Path | str, tenant: int = 1) -> None:
        self.store = _opened(place)
        self.tenant = tenant
        self.tx = 0
        self._no = 1
        with self.store.writing(self.tenant) as connection:
            connection.execute(sa.insert(tables.tenant).values(tenant=tenant, name=f"tenant {tenant}"))
            connection.execute(sa.insert(tables.clock).values(tenant=tenant, last_tx=0, next_no=1, erased_tx=0))
        self._spaces: dict[str, int] = {}
        self._sources: dict[bytes, int] = {}
        self._nodes: dict[bytes, int] = {}

    @classmethod
    def existing(cls, place: Path | str, tenant: int = 1) -> "Memory":
        """A memory that was written before, to read from."""
        memory = object.__new__(cls)
        memory.store = _opened(place)
        memory.tenant = tenant
        with memory.store.reading(tenant) as connection:
            clock = tables.clock
            memory.tx = connection.execute(sa.select(clock.c.last_tx).where(clock.c.tenant == tenant)).scalar_one()
        return memory

    def close(self) -> None:
        self.store.close()

    @contextmanager
    def commit(self, at: int | None = None, *, erased: bool = False) -> Iterator["Commit"]:
        """A write transaction; its tx is *at*, or the next whole second after the one before."""
        tx = max(at or (self.tx // SECOND + 1) * SECOND, START)
        with self.store.writing(self.tenant) as connection:
            yield Commit(self, connection, tx)
            values: dict[str, int] = {"last_tx": tx, "next_no": self._no}
            if erased:
                values["erased_tx"] = tx
            connection.execute(sa.update(tables.clock).where(tables.clock.c.tenant == self.tenant).values(**values))
        self.tx = tx

    def number(self) -> int:
        self._no += 1
        return self._no - 1


class Commit:
    """What one transaction writes."""

    def __init__(self, memory: Memory, connection: sa.Connection, tx: int) -> None:
        self.memory = memory
        self.connection = connection
        self.tx = tx

    def insert(self, table: sa.Table, *row: Any) -> None:
        bulk_insert(self.connection, table, [(self.memory.tenant, *row)])

    def close(self, table: sa.Table, **where: Any) -> None:
        """End every open row of *table* that matches."""
        conditions = [table.c[name] == value for name, value in where.items()]
        open_rows = (table.c.tenant == self.memory.tenant, table.c.tx_to == OPEN_END)
        self.connection.execute(sa.update(table).where(*open_rows, *conditions).values(tx_to=self.tx))

    def space(self, name: str) -> int:
        memory = self.memory
        if name not in memory._spaces:
            memory._spaces[name] = memory.number()
            self.insert(tables.space, memory._spaces[name], name)
        return memory._spaces[name]

    def source(self, source_id: bytes, space: str = "main", span_class: int = 0) -> int:
        memory = self.memory
        if source_id not in memory._sources:
            memory._sources[source_id] = memory.number()
            self.insert(tables.source, memory._sources[source_id], source_id, self.space(space), span_class)
        return memory._sources[source_id]

    def source_version(self, source_no: int, length: int, name: str = "a source") -> None:
        row = (self.tx, self.memory.number(), OPEN_END, self.tx, name, None, "text/plain", bytes(32), bytes(32))
        self.insert(tables.source_version, source_no, *row, length, b"x" * length)

    def span(
        self,
        source_no: int,
        start: int,
        end: int,
        kind: str | None = "paragraph",
        tokens: int = 5,
        tx: int | None = None,
    ) -> int:
        number = self.memory.number()
        counts = (end - start, 0, tokens, tokens + 1)
        self.insert(tables.span, number, source_no, self.tx if tx is None else tx, start, end, kind, *counts)
        return number

    def node(self, node_id: bytes, space: str = "main", source_no: int | None = None) -> int:
        memory = self.memory
        if node_id not in memory._nodes:
            memory._nodes[node_id] = memory.number()
            self.insert(tables.node, memory._nodes[node_id], node_id, self.space(space), source_no)
        return memory._nodes[node_id]

    def version(
        self,
        node_no: int,
        text: str = "",
        node_type: str = "passage",
        spans: Sequence[int] = (),
        valid_from: int | None = None,
        valid_to: int = OPEN_END,
        speaker: Mapping[int, int] | None = None,
    ) -> int:
        """A new version of a node; the one before is closed. *speaker* is what `speakers.name_ids` gives."""
        self.close(tables.node_version, node_no=node_no)
        number = self.memory.number()
        terms = Terms.of(term_counts(text), speaker or {})
        begin = self.tx if valid_from is None else valid_from
        row = (number, node_no, self.tx, OPEN_END, begin, valid_to, node_type, "{}", bytes(32))
        self.insert(tables.node_version, *row, terms.ids, terms.counts, terms.total, None)
        for span in spans:
            self.insert(tables.node_span, self.memory.number(), number, span, self.tx, OPEN_END)
        return number

    def edge(
        self,
        tail: int,
        head: int,
        edge_type: str = "links",
        *,
        confidence: float = 1.0,
        source_no: int | None = None,
        edge_id: bytes | None = None,
        valid_from: int | None = None,
        valid_to: int = OPEN_END,
    ) -> int:
        number = self.memory.number()
        begin = self.tx if valid_from is None else valid_from
        identity = edge_id or uid("edge", tail, edge_type, head)
        ends = (tail, head, edge_type, confidence, source_no, begin, valid_to)
        self.insert(tables.edge, number, identity, *ends, self.tx, OPEN_END)
        return number

    def clarification(self, name: str, node_no: int, state: str = "pending") -> None:
        self.close(tables.clarification, clarification_id=uid(name))
        row = (self.memory.number(), uid(name), node_no, state, f"{name}?", self.tx, OPEN_END)
        self.insert(tables.clarification, *row)

    def model(self, name: str, dimensions: int, baseline: float = 0.0) -> None:
        self.insert(tables.vector_model, self.memory.number(), name, dimensions, baseline)
        self.insert(tables.active_model, self.memory.number(), name, self.tx)

    def vector(self, node_no: int, values: Sequence[float], model: str = "m", valid_from: int | None = None) -> None:
        begin = self.tx if valid_from is None else valid_from
        self.close(tables.vector, node_no=node_no, model=model, valid_from=begin)
        packed = np.asarray(values, "<f4").tobytes()
        self.insert(tables.vector, self.memory.number(), node_no, model, begin, packed, self.tx, OPEN_END, None)

    def document(
        self,
        name: str,
        passages: Sequence[str],
        space: str = "main",
        span_class: int = 0,
        speakers: Sequence[str] | None = None,
    ) -> list[int]:
        """
        A document with passages, sliding windows of two, and `next` edges; what it held before is closed.

        *speakers* says who says each of the passages.

        Returns:
            Numbers of the passage nodes.
        """
        source_no = self.source(uid(space, name), space, span_class)
        for table in (tables.edge, tables.source_version):
            self.close(table, source_no=source_no)
        node = tables.node.c
        owned = sa.select(node.node_no).where(node.tenant == self.memory.tenant, node.source_no == source_no)
        for (node_no,) in self.connection.execute(owned).all():
            self.close(tables.node_version, node_no=node_no)
        lengths = [len(passage.encode()) for passage in passages]
        starts = [sum(lengths[:index]) + 2 * index for index in range(len(passages))]
        self.source_version(source_no, max(1, sum(lengths) + 2 * len(passages)), name)
        spoken = [name_ids(speaker) for speaker in speakers or [""] * len(passages)]
        nodes = []
        for index, (passage, start, length) in enumerate(zip(passages, starts, lengths, strict=True)):
            span = self.span(source_no, start, start + length, tokens=1 + length // 4)
            node = self.node(uid(space, name, passage[:8], index), space, source_no)
            self.version(node, passage, spans=[span], speaker=spoken[index])
            nodes.append(node)
        for index in range(len(passages) - 1):
            end = starts[index + 1] + lengths[index + 1]
            span = self.span(source_no, starts[index], end, "section", tokens=2 + (end - starts[index]) // 4)
            window = self.node(uid(space, name, "window", passages[index][:8], index), space, source_no)
            text, both = " ".join(passages[index : index + 2]), together(spoken[index : index + 2])
            self.version(window, text, "window", [span], speaker=both)
            self.edge(nodes[index], nodes[index + 1], "next", source_no=source_no)
            self.edge(window, nodes[index], "contains", source_no=source_no)
        return nodes


def a_query(memory: Memory, **changes: Any) -> RecallQuery:
    """A query of everything now, with *changes*."""
    values: dict[str, Any] = {
        "valid_t": max(memory.tx, START),
        "tx_t": memory.tx,
        "spaces": ("main",),
        "question": None,
        "find": None,
        "find_limit": 64,
        "vector": None,
        "vector_model": None,
        "expand_depth": 1,
        "top_k": 64,
        "legs": ALL_LEGS,
        "skipped": None,
        "encoding": "o200k_base",
        "largest_window": 10_000,
        "scoring": Scoring(),
    }
    values.update(changes)
    if values["vector"] is not None:
        values["vector"] = np.asarray(values["vector"], np.float32)
    return RecallQuery(**values)


def recalled(memory: Memory, columns: Columns | None = None, **changes: Any) -> Recalled:
    """Recall as the pipeline would call it, over *columns* or fresh ones."""
    held = columns or Columns(memory.store, 1 << 30)
    return recall(held.at(memory.tenant, memory.tx), a_query(memory, **changes))


def facts(found: Recalled, *, numbers: bool = True) -> dict[str, object]:
    """Everything in *found* with exact bits; *numbers* includes those that are internal to the store."""
    internal = ("source_no", "node_no", "span_no")
    columns = (
        "source_hi", "source_lo", "version", "start", "end", "kind", "span_class", "tokens", "score", "valid_from",
        "valid_to", *(internal if numbers else ()),
    )  # fmt: skip
    exact = {name: (getattr(found, name).dtype.str, getattr(found, name).tobytes()) for name in columns}
    return {**exact, "kinds": found.kinds, "stats": found.stats}


def parts_told(detail: RecallDetail) -> list[tuple[object, ...]]:
    """What *detail* says of each node, by node id, with exact bits."""
    parts = parts_of(detail, np.arange(len(detail.nodes)))
    rest = zip(detail.fate.tolist(), detail.nodes.rank.tolist(), strict=True)
    return sorted((repr(part), fate, rank) for part, (fate, rank) in zip(parts, rest, strict=True))


def erase(memory: Memory, source_id: bytes) -> None:
    """Remove a source with all its nodes, as the writer does."""
    source_no = memory._sources.pop(source_id)
    tenant = memory.tenant
    with memory.commit(erased=True) as commit:
        node = tables.node
        nodes = sa.select(node.c.node_no).where(node.c.tenant == tenant, node.c.source_no == source_no)
        for table in (tables.node_version, tables.vector):
            commit.connection.execute(sa.delete(table).where(table.c.tenant == tenant, table.c.node_no.in_(nodes)))
        for table in (tables.edge, tables.span, tables.source_version, tables.node, tables.source):
            commit.connection.execute(sa.delete(table).where(table.c.tenant == tenant, table.c.source_no == source_no))
        link = tables.node_span
        spans = sa.select(tables.span.c.span_no).where(tables.span.c.tenant == tenant)
        commit.connection.execute(sa.delete(link).where(link.c.tenant == tenant, link.c.span_no.not_in(spans)))

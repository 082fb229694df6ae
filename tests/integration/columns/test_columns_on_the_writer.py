"""Columns over a memory that the real ingestion and the real writer made: tailed, fresh and by the book are one."""

import random

import pytest
from ingest_builders import record_of
from memory_builders import JUNE, a_tenant, a_writer, uid
from recall_memory import a_query, facts
from recall_oracle import Oracle
from recall_oracle_told import Row
from telha_planner.columns.ids import whole
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.tenant import Columns
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord, VectorRecord
from telha_planner.memory.store import Store
from telha_planner.recall.ports import Recalled
from telha_planner.recall.recall import recall

SECOND = 1_000_000
LINES = [
    "The harbour opens at six.",
    "A tram leaves every ten minutes.",
    "面包店四点开始烤面包。",
    "المخبز يفتح مبكرا",
    "Bakers 👩‍🍳 start at four.",
    "See [the opening times](#harbour).",
]


class Book:
    """A tenant's memory through the writer, one call per commit, and the instants of its commits."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.tenant, _ = a_tenant(self.store)
        self.writer, self.clock = a_writer(self.store)
        self.dice = random.Random(seed)
        self.documents: dict[str, bytes] = {}
        self.passages: list[bytes] = []
        self.notes: list[bytes] = []
        self.times: list[int] = []

    @property
    def tx(self) -> int:
        return self.times[-1]

    def step(self) -> None:
        change = self.dice.choice([self._document, self._document, self._note, self._note, self._edge, self._question])
        self.clock.time += SECOND
        self.times.append(change() if self.passages else self._document())

    def _document(self) -> int:
        name = f"page {self.dice.randint(0, 3)}.md"
        lines = [self.dice.choice(LINES) for _ in range(self.dice.randint(1, 6))]
        record = record_of("# Harbour\n\n" + "\n\n".join(lines), name, space=self.dice.choice(["main", "other"]))
        if self.documents.setdefault(name, record.source_id) != record.source_id:
            record = record_of("# Harbour\n\n" + "\n\n".join(lines), f"{name}.{record.space}", space=record.space)
        self.passages += [node.node_id for node in record.nodes]
        return self.writer.write_documents(self.tenant, [record]).tx

    def _note(self) -> int:
        dice = self.dice
        name = uid(f"note {dice.randint(0, 5)}")
        vector = VectorRecord(dice.choice(["m", "m", "n"]), tuple(dice.gauss(0, 1) for _ in range(4)))
        spans = []
        rows = Oracle(self.store, self.tenant).rows
        main = {row.space_no for row in rows["space"] if row.name == "main"}
        sources = {row.source_no: row.source_id for row in rows["source"] if row.space_no in main}
        quotable = [span for span in rows["span"] if span.source_no in sources]
        if quotable and dice.random() < 0.7:
            span = dice.choice(quotable)
            spans.append(SpanRef(sources[span.source_no], span.version_tx, span.start, span.end))
        begin = dice.choice([None, JUNE, JUNE + 30 * SECOND])
        record = NodeRecord(
            name,
            "main",
            "note",
            f'{{"n":{dice.randint(0, 2)}}}',
            begin,
            None,
            tuple(spans),
            dice.choice([vector, None]),
        )
        self.notes.append(name)
        return self.writer.put_nodes(self.tenant, [record]).tx

    def _edge(self) -> int:
        ends = [self.dice.choice(self.passages[-4:] + self.notes[-4:]) for _ in range(2)]
        record = EdgeRecord(uid(f"edge {self.dice.random()}"), *ends, "about", self.dice.choice([1.0, 0.4]))
        try:
            return self.writer.put_edges(self.tenant, [record]).tx
        except RequestInvalid:  # an end was closed meanwhile, or lies in another space
            return self.tx

    def _question(self) -> int:
        name = uid(f"doubt {self.dice.randint(0, 3)}")
        record = ClarificationRecord(name, self.dice.choice(self.passages[-3:]), "pending", "since when?")
        try:
            return self.writer.put_clarifications(self.tenant, [record]).tx
        except RequestInvalid:
            return self.tx

    def queries(self) -> list[dict]:
        dice = self.dice
        made = []
        for _ in range(4):
            tx_t = dice.choice([self.tx, dice.choice(self.times)])
            made.append(
                {
                    "tx_t": tx_t,
                    "valid_t": dice.choice([max(tx_t, self.clock.time), JUNE + 40 * SECOND, JUNE + 2 * SECOND]),
                    "spaces": dice.choice([None, ("main",), ("other",)]),
                    "question": dice.choice([None, "when does the harbour open", "面包几点", "متى المخبز"]),
                    "vector": dice.choice([None, [1.0, -0.5, 0.25, 2.0]]),
                    "find": dice.choice(["note", "passage", "section"]),
                    "expand_depth": dice.randint(0, 2),
                }
            )
        return made


def rows_of(found: Recalled, snapshot: Snapshot) -> list[Row]:
    ids, sources = snapshot.node_ids(found.node_no), whole(found.source_hi, found.source_lo)
    numbers = zip(found.version.tolist(), found.start.tolist(), found.end.tolist(), found.kind.tolist(), strict=True)
    rest = zip(found.span_class.tolist(), found.tokens.tolist(), found.score.tolist(), strict=True)
    return [
        Row(ids[index], sources[index], version, start, end, found.kinds[kind], span_class, tokens, score)
        for index, ((version, start, end, kind), (span_class, tokens, score)) in enumerate(
            zip(numbers, rest, strict=True)
        )
    ]


@pytest.mark.parametrize("seed", range(6))
def test_tailed_fresh_and_by_the_book_are_one(store, seed):
    """R1–R4, M1, M5, M7: over real documents, nodes, edges, vectors and clarifications, through an erasure."""
    book = Book(store, seed)
    tailed = Columns(book.store, 1 << 30)
    remembered: list[tuple[dict, object]] = []
    rows = 0
    for index in range(14):
        book.step()
        if index == 9:
            book.clock.time += SECOND
            book.writer.erase_source(book.tenant, next(iter(book.documents.values())))
            book.times = [book.clock.time]
            book.documents.clear()
            remembered.clear()
        oracle = Oracle(book.store, book.tenant)
        snapshot = tailed.at(book.tenant, book.tx)
        fresh = Columns(book.store, 1 << 30).at(book.tenant, book.tx)
        for changes in book.queries():
            query = a_query(book, **changes)
            found = recall(snapshot, query)
            assert facts(found) == facts(recall(fresh, query))
            told = oracle(query)
            assert rows_of(found, snapshot) == told.rows
            assert (found.stats.nodes, found.stats.nodes_without_spans) == (told.nodes, told.nodes_without_spans)
            remembered.append((changes, facts(found)))
            rows += len(found)
        for changes, before in remembered:
            assert facts(recall(snapshot, a_query(book, **changes))) == before
    assert rows > 50

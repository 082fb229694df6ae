"""Vectors made from texts: what gets one, what is copied, and how a tenant moves to another model."""

from typing import Any

import pytest
import sqlalchemy as sa
from counting_embedder import DIMENSIONS, CountingEmbedder
from memory_builders import FIRST_TENANT, JUNE, HandClock, a_tenant, dump, uid
from telha_planner.core.errors import Unavailable, VectorLegUnavailable
from telha_planner.core.model import SpanRef
from telha_planner.core.request import OPEN_END
from telha_planner.ingest.document import DocumentInput
from telha_planner.ingest.embedding import Embedding
from telha_planner.ingest.parse import parse
from telha_planner.memory import reembedding, tables
from telha_planner.memory.embedded import Unprepared, hash_of
from telha_planner.memory.records import Committed, DocumentRecord, NodeRecord, VectorRecord
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer

TRAMS = (
    "# Trams 電車\n\nThe last tram leaves at ten.\n\n## Fares\n\nA ticket costs two crowns. 👩‍👩‍👧\n\nשלום to all.\n"
)


class Memory:
    """A writer with an embedder, on the store at hand."""

    def __init__(self, store: Store, embedder: CountingEmbedder | None = None) -> None:
        self.store = store
        self.embedder = embedder or CountingEmbedder()
        self.clock = HandClock()
        self.writer = Writer(store, self.clock)
        self.embedding = Embedding(self.embedder, store)
        self.tenant, _ = a_tenant(store)

    def using(self, embedder: CountingEmbedder | None) -> "Memory":
        """The same memory with another embedder, as after a change of the configuration."""
        other = object.__new__(Memory)
        other.__dict__.update(self.__dict__, embedder=embedder, embedding=Embedding(embedder, self.store))
        return other

    def ingest(self, *documents: DocumentRecord, every: bool = False) -> Committed:
        embedded = self.embedding.of_documents(self.tenant, documents, every=every)
        return self.writer.write_documents(self.tenant, documents, embedded)

    def put(self, *records: NodeRecord) -> Committed:
        return self.writer.put_nodes(self.tenant, records, self.embedding.of_nodes(self.tenant, records))

    def reembed(self) -> list[Any]:
        calls: list[Any] = []
        after = None
        while not calls or after is not None:
            calls.append(self.embedding.next_batch(self.tenant, after, self.writer))
            after = calls[-1].after
        return calls

    def rows(self, table: sa.Table) -> list[Any]:
        with self.store.reading(FIRST_TENANT) as connection:
            return list(connection.execute(sa.select(table).order_by(*table.primary_key)))

    def standing(self, model: str | None = None) -> list[Any]:
        model = model or self.embedder.model.name
        return [row for row in self.rows(tables.vector) if row.tx_to == OPEN_END and row.model == model]

    def lacking(self, model: str) -> int:
        with self.store.reading(FIRST_TENANT) as connection:
            return reembedding.count_lacking(connection, FIRST_TENANT, model)

    def active(self) -> list[tuple[str, int]]:
        return [(row.model, row.tx_from) for row in self.rows(tables.active_model)]


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory(store)


def a_text(text: str = TRAMS, name: str = "trams.md", space: str = "main") -> DocumentRecord:
    return parse(DocumentInput(None, name, None, space, None, text.encode(), None), "acme")


def types_with_vectors(memory: Memory) -> set[str]:
    with_vectors = {row.node_no for row in memory.standing()}
    return {row.type for row in memory.rows(tables.node_version) if row.node_no in with_vectors}


def test_what_is_embedded_is_the_text_under_the_names_of_source_and_sections(memory: Memory) -> None:
    """M2: passages and windows get a vector each, made from what the lexical index holds; headings get none."""
    memory.ingest(a_text())
    prefaces = ["trams.md\nTrams 電車", "trams.md\nTrams 電車\nFares"]
    assert f"{prefaces[0]}\nThe last tram leaves at ten." in memory.embedder.asked
    assert f"{prefaces[1]}\nA ticket costs two crowns. 👩‍👩‍👧" in memory.embedder.asked
    assert types_with_vectors(memory) == {"passage", "window"}
    assert {bytes(row.text_hash) for row in memory.standing()} == set(map(hash_of, memory.embedder.asked))
    assert [(row.model, row.dimensions, row.baseline) for row in memory.rows(tables.vector_model)] == [
        ("words/1", DIMENSIONS, 0.0)
    ]
    assert memory.active() == [("words/1", JUNE)]


def test_the_first_commit_with_vectors_may_hold_several_documents(memory: Memory) -> None:
    """M2, M8: the model is added once for all documents of a commit."""
    memory.ingest(a_text(name="one.md"), a_text(name="two.md"))
    assert [row.model for row in memory.rows(tables.vector_model)] == ["words/1"]
    assert memory.active() == [("words/1", JUNE)]


def test_a_text_is_embedded_once(memory: Memory) -> None:
    """M2: what has not changed embeds nothing; an equal text elsewhere is copied, to the bit."""
    memory.ingest(a_text())
    first = len(memory.embedder.asked)
    assert memory.ingest(a_text()).sources[0].outcome == "unchanged"
    memory.ingest(a_text(space="elsewhere"))
    assert len(memory.embedder.asked) == first
    copies: dict[bytes, set[bytes]] = {}
    for row in memory.standing():
        copies.setdefault(bytes(row.text_hash), set()).add(bytes(row[5]))
    assert len(copies) == first
    assert all(len(values) == 1 for values in copies.values())
    assert len(memory.standing()) == 2 * first


def test_a_changed_document_embeds_what_is_new(memory: Memory) -> None:
    """M2: passages that stay keep their vectors."""
    memory.ingest(a_text("One thing.\n\nAnother thing.\n", "a.txt"))
    del memory.embedder.asked[:]
    memory.ingest(a_text("One thing.\n\nAnother thing.\n\nA third thing.\n", "a.txt"))
    assert "a.txt\nA third thing." in memory.embedder.asked
    assert "a.txt\nOne thing." not in memory.embedder.asked
    assert memory.lacking("words/1") == 0


def test_an_embedder_that_fails_leaves_nothing_half_written(memory: Memory) -> None:
    """M2: without vectors nothing is written, and the caller may try again."""
    memory.ingest(a_text())
    before = dump(memory.store)
    memory.embedder.failing = "the endpoint answered 503"
    with pytest.raises(Unavailable, match="the embedder is not available"):
        memory.ingest(a_text("Something new.\n", "new.txt"))
    with pytest.raises(Unavailable, match="the embedder is not available"):
        memory.put(a_note(memory))
    assert dump(memory.store) == before
    assert memory.ingest(a_text()).sources[0].outcome == "unchanged"
    memory.embedder.failing = None
    assert memory.ingest(a_text("Something new.\n", "new.txt")).sources[0].outcome == "created"


def a_note(memory: Memory, vector: VectorRecord | None = None, properties: str = "{}") -> NodeRecord:
    source = a_text()
    start = source.text.index(b"The last tram")
    provenance = (SpanRef(source.source_id, JUNE, start, start + 28),)
    return NodeRecord(uid("note"), "main", "fact", properties, provenance=provenance, vector=vector)


def test_nodes_written_by_api_are_embedded_by_what_they_rest_on(memory: Memory) -> None:
    """M3: a node without a vector of its own gets one of its spans; with one, that one counts."""
    memory.ingest(a_text())
    memory.put(a_note(memory))
    assert memory.embedder.asked[-1] == "trams.md\nThe last tram leaves at ten."
    made = memory.standing()[-1]
    assert bytes(made.text_hash) == hash_of(memory.embedder.asked[-1])
    asked, last = len(memory.embedder.asked), memory.put(a_note(memory)).tx
    assert memory.put(a_note(memory)).tx == last
    own = VectorRecord("words/1", tuple(float(value) for value in range(DIMENSIONS)))
    memory.put(a_note(memory, own))
    assert memory.standing()[-1].text_hash is None
    memory.put(a_note(memory))
    assert memory.standing()[-1].text_hash is None, "stating the same again does not take the caller's vector away"
    memory.put(NodeRecord(uid("loose"), "main", "fact", "{}"))
    assert len(memory.embedder.asked) == asked


def test_a_document_that_another_writer_changed_meanwhile_is_embedded_after_all(memory: Memory) -> None:
    """M2: what was passed over as unchanged is looked at again, instead of being written without vectors."""
    memory.ingest(a_text())
    embedded = memory.embedding.of_documents(memory.tenant, [a_text()], every=False)
    memory.ingest(a_text("Something else.\n"))
    with pytest.raises(Unprepared):
        memory.writer.write_documents(memory.tenant, [a_text()], embedded)
    assert memory.ingest(a_text(), every=True).sources[0].outcome == "updated"
    assert memory.lacking("words/1") == 0


def _words(memory: Memory, count: int) -> None:
    for number in range(count):
        memory.ingest(a_text(f"Passage {number} of many.\n\nAnd one more, {number}.\n", f"{number}.txt"))


def test_a_tenant_moves_to_another_model_batch_by_batch(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """M8: vectors of the new model come beside the old ones; one commit, the last, makes it active."""
    monkeypatch.setattr("telha_planner.ingest.embedding.BATCH", 3)
    _words(memory, 4)
    memory.put(a_note_on(memory))
    old = memory.standing()
    after = memory.using(CountingEmbedder("words/2", 32, 0.25))
    calls = after.reembed()
    assert calls[0].left == len(old)
    assert [call.embedded for call in calls[:-1]] == [3] * (len(old) // 3) + [len(old) % 3] * bool(len(old) % 3)
    assert all(call.tx is None for call in calls[:-1])
    assert after.active() == [("words/1", JUNE), ("words/2", calls[-1].tx)]
    assert [row[:] for row in memory.standing("words/1")] == [row[:] for row in old]
    assert {row.text_hash for row in after.standing()} == {row.text_hash for row in old}
    assert {(row.node_no, row.valid_from) for row in after.standing()} == {(row.node_no, row.valid_from) for row in old}
    assert after.lacking("words/2") == 0
    again = after.reembed()
    assert [(call.embedded, call.after, call.tx) for call in again] == [(0, None, calls[-1].tx)]


def a_note_on(memory: Memory) -> NodeRecord:
    source = a_text("Passage 0 of many.\n\nAnd one more, 0.\n", "0.txt")
    return NodeRecord(
        uid("n"), "main", "fact", "{}", provenance=(SpanRef(source.source_id, JUNE, 0, 9),), valid_from=JUNE - 5
    )


def test_a_move_that_was_interrupted_goes_on(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """M8: nothing is remembered but what is stored, and nothing is embedded twice."""
    monkeypatch.setattr("telha_planner.ingest.embedding.BATCH", 2)
    _words(memory, 3)
    after = memory.using(CountingEmbedder("words/2", 32))
    first = after.embedding.next_batch(after.tenant, None, after.writer)
    assert (first.embedded, first.after is not None) == (2, True)
    after.embedder.failing = "gone"
    with pytest.raises(Unavailable):
        after.embedding.next_batch(after.tenant, first.after, after.writer)
    after.embedder.failing = None
    del after.embedder.asked[:]
    after.reembed()
    assert len(after.embedder.asked) == len(memory.standing("words/1")) - 2
    assert after.active()[-1][0] == "words/2"


def test_what_comes_in_during_a_move_has_a_vector_when_the_model_becomes_active(memory: Memory) -> None:
    """M8: a document written by a planner that still has the old model is caught up with before the end."""
    _words(memory, 2)
    after = memory.using(CountingEmbedder("words/2", 32))
    batch = after.embedding.next_batch(after.tenant, None, after.writer)
    memory.ingest(a_text("Late, by the old planner.\n", "late.txt"))
    after.ingest(a_text("Late, by the new planner.\n", "new.txt"))
    batches = [after.embedding.next_batch(after.tenant, batch.after, after.writer)]
    while batches[-1].after is not None:
        assert after.active()[-1][0] == "words/1"
        batches.append(after.embedding.next_batch(after.tenant, batches[-1].after, after.writer))
    assert after.active()[-1][0] == "words/2"
    assert after.lacking("words/2") == 0
    assert "late.txt\nLate, by the old planner." in after.embedder.asked


def test_a_caller_s_own_vectors_of_the_model_count(memory: Memory) -> None:
    """M8: a node that its caller gave a vector of the new model is not embedded."""
    plain = memory.using(None)
    plain.ingest(a_text())
    plain.put(a_note(memory, VectorRecord("mine", (1.0, 2.0))))
    assert memory.active() == [("mine", JUNE + 1)]
    mine = memory.using(CountingEmbedder("mine", 2))
    mine.reembed()
    note = [row for row in mine.standing("mine") if row.text_hash is None]
    assert len(note) == 1
    assert mine.lacking("mine") == 0
    assert mine.active() == [("mine", JUNE + 1)]


def test_a_name_that_stands_for_vectors_of_another_length_is_refused(memory: Memory) -> None:
    """M8: the caller's vectors of a name and the embedder's are never mixed when they differ in length."""
    memory.using(None).put(NodeRecord(uid("n"), "main", "fact", "{}", vector=VectorRecord("words/1", (1.0, 2.0))))
    with pytest.raises(VectorLegUnavailable, match="with 2 values, not 64"):
        memory.ingest(a_text())
    memory.using(None).ingest(a_text())
    with pytest.raises(VectorLegUnavailable, match="with 2 values, not 64"):
        memory.reembed()


def test_versions_written_before_prefaces_were_stored_are_embedded_under_their_path(memory: Memory) -> None:
    """M6, M8: a store of the first schema has none; name and section path stand in for it."""
    memory.using(None).ingest(a_text())
    with memory.store.writing(FIRST_TENANT) as connection:
        connection.execute(sa.update(tables.node_version).values(preface=None))
    memory.reembed()
    assert "trams.md\nTrams 電車\nFares\nA ticket costs two crowns. 👩‍👩‍👧" in memory.embedder.asked
    assert memory.lacking("words/1") == 0


def test_a_tenant_without_an_embedder_cannot_move(memory: Memory) -> None:
    """M8: there is no model to move to."""
    with pytest.raises(VectorLegUnavailable, match="no embedder is configured"):
        memory.using(None).reembed()


def test_an_empty_tenant_is_moved_at_once(memory: Memory) -> None:
    """M8: there is nothing to embed."""
    (done,) = memory.reembed()
    assert (done.embedded, done.left, done.tx) == (0, 0, JUNE)
    assert memory.active() == [("words/1", JUNE)]


def test_words_that_say_something_new_without_an_embedder_lose_their_old_vectors(memory: Memory) -> None:
    """M1: a vector belongs to what a node said; a planner without an embedder must not leave it in force."""
    memory.ingest(a_text("# A\n\nSame words.\n", "a.md"))
    renamed = parse(
        DocumentInput(
            a_text("# A\n\nSame words.\n", "a.md").source_id, "b.md", None, "main", None, b"# A\n\nSame words.\n", None
        ),
        "acme",
    )
    assert memory.using(None).ingest(renamed).sources[0].nodes_opened > 0
    assert memory.standing() == []
    memory.reembed()
    assert memory.embedder.asked[-1] == "b.md\nA\nSame words."

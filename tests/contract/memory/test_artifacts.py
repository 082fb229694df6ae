"""M3, R7: derived artifacts on the store: versions, what they derive from, and their erasure."""

from dataclasses import replace

import pytest
import sqlalchemy as sa
from artifact_builders import an_artifact
from counting_embedder import CountingEmbedder
from memory_builders import SEPTEMBER, a_document, a_tenant, a_writer, dump, rows_of, uid, visible
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.core.request import OPEN_END, Window
from telha_planner.ingest import identity
from telha_planner.ingest.embedding import Embedding
from telha_planner.memory import tables
from telha_planner.memory.reads import Sources
from telha_planner.memory.records import EdgeRecord, NodeRecord
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer


class Book:
    """A tenant with two documents, and one of another space."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tenant, _ = a_tenant(store)
        self.writer, self.clock = a_writer(store)
        documents = [a_document("a", ["alpha one"]), a_document("b", ["beta two"]), a_document("c", ["c"], space="own")]
        self.writer.write_documents(self.tenant, documents)
        self.a, self.b, self.foreign = (document.source_id for document in documents)
        self.documents = documents

    def put(self, *artifacts: object) -> list[tuple[str, int]]:
        done = self.writer.put_artifacts(self.tenant, artifacts)  # type: ignore[arg-type]  # records, from builders
        return [(source.outcome, source.version_tx) for source in done.sources]

    def rows(self) -> dict[str, list[tuple[object, ...]]]:
        return rows_of(self.store, self.tenant)


@pytest.fixture
def book(store: Store) -> Book:
    return Book(store)


def test_an_artifact_is_one_span_of_a_source_of_its_own(book: Book) -> None:
    """R7: own UUID and version, 0..len, class cache, kind body; listed as such."""
    text = "Both say 你好 🧑‍🚀.\r\nשלום"
    ((outcome, version),) = book.put(an_artifact("summary", text, [book.a, book.b]))
    assert outcome == "created"
    found = Sources(book.store).get(book.tenant, None, uid("summary"), None, Window())
    assert found is not None
    canonical = text.replace("\r\n", "\n")
    assert (found.span_class, found.version_tx, found.length) == (1, version, len(canonical.encode()))
    assert Sources(book.store).text(book.tenant, found) == canonical
    (span,) = [row for row in book.rows()["span"] if row[1] == found.source_no]
    assert span[2:6] == (version, 0, found.length, "body")
    classes = {source.name: source.span_class for source in Sources(book.store).page(book.tenant, None, None, 9)}
    assert classes == {"a": 0, "b": 0, "c": 0, "summary": 1}


def test_the_same_artifact_writes_nothing_a_changed_one_a_version(book: Book) -> None:
    """M3, M1: equal text, name and origins are no news; anything else is a new version, and the old one stays."""
    ((_, first),) = book.put(an_artifact("summary", "short", [book.a, book.b]))
    before = book.rows()
    assert book.put(an_artifact("summary", "short", [book.b, book.a])) == [("unchanged", first)]
    assert book.rows() == before
    ((outcome, second),) = book.put(an_artifact("summary", "longer", [book.a]))
    assert (outcome, second > first) == ("updated", True)
    sources = Sources(book.store)
    old = sources.get(book.tenant, None, uid("summary"), None, Window(tx_time=first))
    assert old is not None
    assert sources.text(book.tenant, old) == "short"
    texts = [shown for _, shown in visible(book.store, book.tenant, SEPTEMBER, OPEN_END - 1).values()]
    assert sorted(texts) == [("alpha one",), ("beta two",), ("c",), ("longer",)]


def test_a_bad_item_leaves_no_byte_behind(book: Book) -> None:
    """M3: a batch is written whole or not at all, and its fault is named with its place."""
    before = book.rows()
    good = an_artifact("good", "x", [book.a])
    for bad, field in [
        (an_artifact("bad", "x", [book.a, uid("absent")]), "derived_from[1]"),
        (an_artifact("bad", "x", [book.foreign]), "derived_from[0]"),
        (an_artifact("bad", "x", [book.a], space="own"), "derived_from[0]"),
        (an_artifact("bad", "x", [uid("bad")]), "derived_from[0]"),
        (an_artifact("bad", "x", [uid("good")]), "derived_from[0]"),
        (good, "artifact_id"),
    ]:
        with pytest.raises(RequestInvalid) as refusal:
            book.put(good, bad)
        assert refusal.value.field == f"artifacts[1].{field}"
        assert book.rows() == before


def test_documents_and_artifacts_do_not_take_each_others_ids(book: Book) -> None:
    """M3: neither overwrites the other; in another space the id is free."""
    book.put(an_artifact("summary", "short", [book.a]))
    before = book.rows()
    taken = replace(an_artifact("other", "x", [book.a]).document, source_id=book.b)
    with pytest.raises(RequestInvalid, match=r"artifacts\[0\].artifact_id must not name a document"):
        book.put(replace(an_artifact("other", "x", [book.a]), document=taken))
    with pytest.raises(RequestInvalid, match=r"documents\[0\].source_id must not name a derived artifact"):
        book.writer.write_documents(book.tenant, [a_document("x", ["y"], source_id=uid("summary"))])
    assert book.rows() == before
    book.put(an_artifact("summary", "short", [book.foreign], space="own"))
    assert len(book.rows()["derivation"]) == 2


def test_erasing_a_source_erases_what_was_made_of_it(book: Book) -> None:
    """M5: artifacts go with any source that any of their versions derives from, and so do artifacts of artifacts."""
    book.put(an_artifact("first", "telltale one", [book.a, book.b]), an_artifact("kept", "of b alone", [book.b]))
    book.put(an_artifact("first", "telltale two", [book.b]))
    book.put(an_artifact("second", "telltale three", [uid("first")]))
    book.put(an_artifact("first", "telltale four", [book.b, uid("second")]))
    second = Sources(book.store).get(book.tenant, None, uid("second"), None, Window())
    assert second is not None
    rests = SpanRef(uid("second"), second.version_tx, 0, 1)
    book.writer.put_nodes(book.tenant, [NodeRecord(uid("n"), "main", "fact", "{}", provenance=(rests,))])
    receipt = book.writer.erase_source(book.tenant, book.a)
    assert (receipt.artifacts, receipt.versions, receipt.spans, receipt.nodes) == (2, 5, 6, 4)
    assert "telltale" not in str(dump(book.store))
    names = [source.name for source in Sources(book.store).page(book.tenant, None, None, 9)]
    assert sorted(names) == ["b", "c", "kept"]
    erased = {row[1]: row[0] for row in book.rows()["erasure"]}
    assert erased == dict.fromkeys([book.a, uid("first"), uid("second")], receipt.tx)
    assert len(book.rows()["derivation"]) == 1
    assert book.writer.erase_source(book.tenant, book.b).artifacts == 1
    assert book.rows()["derivation"] == []


def test_an_artifact_can_be_erased_alone(book: Book) -> None:
    """M5: what it was made from stays."""
    book.put(an_artifact("first", "one", [book.a]))
    receipt = book.writer.erase_source(book.tenant, uid("first"))
    assert (receipt.artifacts, receipt.nodes, receipt.versions) == (0, 1, 1)
    assert book.rows()["derivation"] == []
    assert book.put(an_artifact("first", "one", [book.a]))[0][0] == "created"


def test_a_new_version_of_a_source_leaves_the_artifact(book: Book) -> None:
    """R7: whether it is still right only its maker can say."""
    ((_, version),) = book.put(an_artifact("first", "one", [book.a]))
    book.writer.write_documents(book.tenant, [a_document("a", ["alpha changed"])])
    found = Sources(book.store).get(book.tenant, None, uid("first"), None, Window())
    assert found is not None
    assert found.version_tx == version


def test_an_edge_written_by_api_keeps_its_id(store: Store) -> None:
    """M3: a document whose derived edge has the id of a written edge is refused, and the other way round."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    document = a_document("a", ["alpha one", "beta two"])
    nodes = [NodeRecord(uid(name), "main", "fact", "{}") for name in "nm"]
    writer.put_nodes(tenant, nodes)
    written = EdgeRecord(document.edges[0].edge_id, uid("n"), uid("m"), "near")
    _refused_both_ways(writer, tenant, document, written)


def _refused_both_ways(writer: Writer, tenant: int, document, written: EdgeRecord) -> None:
    other = a_document("other", ["x"])
    writer.put_edges(tenant, [written])
    with pytest.raises(RequestInvalid, match=r"documents\[1\].source_id must not derive ids that other edges"):
        writer.write_documents(tenant, [other, document])
    writer.write_documents(tenant, [other])
    later = a_document("later", ["alpha one", "beta two"])
    writer.write_documents(tenant, [later])
    with pytest.raises(RequestInvalid, match=r"edges\[0\].edge_id must not name an edge that ingestion made"):
        writer.put_edges(tenant, [replace(written, edge_id=later.edges[0].edge_id)])
    assert writer.write_documents(tenant, [later]).sources[0].outcome == "unchanged"


def test_an_artifact_is_embedded_like_a_passage(book: Book) -> None:
    """R1, R7: name and text get a vector on the artifact's node, so that the semantic leg finds it; once for each."""
    embedder = CountingEmbedder()
    embedding = Embedding(embedder, book.store)

    def put(text: str) -> str:
        artifact = an_artifact("summary", text, [book.a])
        embedded = embedding.of_documents(book.tenant, [artifact.document], every=False)
        return book.writer.put_artifacts(book.tenant, [artifact], embedded).sources[0].outcome

    assert [put("short"), put("short"), put("longer")] == ["created", "unchanged", "updated"]
    assert embedder.asked == ["summary\nshort", "summary\nlonger"]
    (node,) = [row for row in book.rows()["node"] if row[1] == identity.uuid5(uid("summary"), ("artifact",))]
    with book.store.reading(book.tenant) as connection:
        made = connection.execute(sa.select(tables.vector.c.node_no).where(tables.vector.c.tenant == book.tenant))
        assert made.scalars().all() == [node[0]] * 2
    assert book.writer.erase_source(book.tenant, book.a).vectors == 2

"""An id names one thing in each space: what bears it in another one neither shows nor stands in the way."""

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from artifact_builders import an_artifact
from memory_builders import HandClock, a_document, a_tenant, a_writer, rows_of, uid
from telha_planner.core.errors import NotFound
from telha_planner.core.model import SpanRef
from telha_planner.core.request import Window
from telha_planner.memory import tables
from telha_planner.memory.cited_texts import texts_to_embed
from telha_planner.memory.reads import Sources
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer

SHARED = uid("an id that both spaces know")
Write = Callable[[Writer, int, str], Any]


def document(space: str, source_id: bytes = SHARED) -> Any:
    return a_document("a", ["alpha 秘密", f"of {space}"], space=space, source_id=source_id)


def node(space: str, node_id: bytes = SHARED) -> NodeRecord:
    return NodeRecord(node_id, space, "fact", f'{{"of":"{space}"}}')


def fill(writer: Writer, tenant: int, space: str, shared: bytes = SHARED, artifact: str = "digest") -> None:
    """Whatever can be given an id, in *space*, all with the same."""
    writer.write_documents(tenant, [document(space, shared)])
    writer.put_nodes(tenant, [node(space, shared)])
    writer.put_edges(tenant, [EdgeRecord(shared, shared, shared, space)], spaces=(space,))
    writer.put_clarifications(tenant, [ClarificationRecord(shared, shared, "pending", space)], spaces=(space,))
    writer.put_artifacts(tenant, [an_artifact(artifact, space, [shared], space=space)])


@pytest.fixture
def spaces(store: Store) -> tuple[Writer, HandClock, int]:
    """A tenant whose spaces `b` and `main` hold the same ids; `b` was first."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    for space in ("b", "main"):
        fill(writer, tenant, space)
        clock.time += 1_000_000
    return writer, clock, tenant


def counts(store: Store, tenant: int) -> dict[str, int]:
    return {name: len(rows) for name, rows in rows_of(store, tenant).items()}


def test_the_same_writes_in_two_spaces_are_two_of_each(store: Store, spaces: tuple[Writer, HandClock, int]) -> None:
    """M7: none is refused, replaced or joined to the other; said again, nothing is written."""
    writer, _, tenant = spaces
    before = counts(store, tenant)
    per_space = ("source", "source_version", "node", "node_version", "edge", "clarification", "derivation", "space")
    assert all(before[table] % 2 == 0 and before[table] for table in per_space)
    for space in ("b", "main"):
        fill(writer, tenant, space)
    assert counts(store, tenant) == before


WRITES: dict[str, Write] = {
    "document": lambda writer, tenant, space: writer.write_documents(tenant, [document(space)]),
    "artifact": lambda writer, tenant, space: writer.put_artifacts(
        tenant, [an_artifact("digest", "x", [uid(f"{space}/own")], space=space)]
    ),
    "node": lambda writer, tenant, space: writer.put_nodes(tenant, [node(space)]),
    "node of a document": lambda writer, tenant, space: writer.put_nodes(
        tenant, [NodeRecord(document("main").nodes[0].node_id, space, "fact", "{}")]
    ),
    "edge": lambda writer, tenant, space: writer.put_edges(
        tenant, [EdgeRecord(SHARED, uid("own"), uid("own"), "t")], spaces=(space,)
    ),
    "edge of a document": lambda writer, tenant, space: writer.put_edges(
        tenant, [EdgeRecord(document("main").edges[0].edge_id, uid("own"), uid("own"), "t")], spaces=(space,)
    ),
    "clarification": lambda writer, tenant, space: writer.put_clarifications(
        tenant, [ClarificationRecord(SHARED, uid("own"), "pending", "x")], spaces=(space,)
    ),
}


@pytest.mark.parametrize("write", WRITES)
def test_an_id_that_is_taken_elsewhere_is_answered_as_a_free_one(store: Store, write: str) -> None:
    """A6, M7: the same outcome and the same rows for both, by the same statements; what was there stays as it was."""
    seen: list[Any] = []
    for name, taken in (("acme", True), ("beta", False)):
        tenant, _ = a_tenant(store, name)
        writer, clock = a_writer(store)
        writer.write_documents(tenant, [a_document("own", ["own"], space="private")])
        writer.write_documents(tenant, [a_document("own", ["own"], space="main")])
        writer.put_nodes(tenant, [NodeRecord(uid("own"), "private", "fact", "{}")])
        fill(writer, tenant, "main", *(() if taken else (uid("another"), "another digest")))
        clock.time += 1_000_000
        before = rows_of(store, tenant)
        statements: list[str] = []

        def note(_c: Any, _cursor: Any, statement: str, *_: Any, said: list[str] = statements) -> None:
            said.append(statement)

        sa.event.listen(sa.Engine, "before_cursor_execute", note)
        try:
            done = WRITES[write](writer, tenant, "private")
        finally:
            sa.event.remove(sa.Engine, "before_cursor_execute", note)
        after = rows_of(store, tenant)
        assert all(row in after[table] for table in before if table != "clock" for row in before[table])
        added = {table: len(after[table]) - len(before[table]) for table in before}
        outcomes = [(source.source_id, source.outcome, source.nodes_opened) for source in done.sources]
        seen.append((outcomes, added, statements))
    assert seen[0] == seen[1]


def test_reads_mean_main_first_and_then_what_was_first(store: Store, spaces: tuple[Writer, HandClock, int]) -> None:
    """M7: a key that sees both gets one answer to one id, always the same; a limited one gets its own."""
    writer, clock, tenant = spaces
    fill(writer, tenant, "c")
    clock.time += 1
    reads = Sources(store)
    for asked, meant in ((None, "main"), (("b",), "b"), (("c", "b"), "b"), (("c",), "c"), (("b", "main"), "main")):
        found = reads.get(tenant, asked, SHARED, None, Window())
        assert found is not None
        assert found.space == meant
    pages, after = [], None
    while page := reads.page(tenant, None, after, 1):
        pages += [(source.source_id, source.space) for source in page]
        after = (page[-1].source_id, page[-1].source_no)
    assert sorted(pages) == sorted((each, space) for each in (SHARED, uid("digest")) for space in ("b", "c", "main"))
    writer.put_edges(tenant, [EdgeRecord(uid("new"), SHARED, SHARED, "t")])
    writer.put_clarifications(tenant, [ClarificationRecord(uid("new"), SHARED, "pending", "?")])
    homes = {
        row.node_no: row.name
        for row in _read(
            store,
            tenant,
            sa.select(tables.node.c.node_no, tables.space.c.name).join(
                tables.space, tables.space.c.space_no == tables.node.c.space_no
            ),
        )
    }
    new = sa.select(tables.edge.c.from_node_no).where(tables.edge.c.edge_id == uid("new"))
    assert homes[_read(store, tenant, new)[0].from_node_no] == "main"
    asked_of = sa.select(tables.clarification.c.node_no).where(tables.clarification.c.clarification_id == uid("new"))
    assert homes[_read(store, tenant, asked_of)[0].node_no] == "main"


def test_an_erasure_reaches_what_its_key_sees(store: Store, spaces: tuple[Writer, HandClock, int]) -> None:
    """M5, M7: a limited key erases its own and leaves the other; one that sees both leaves nothing of that id."""
    writer, clock, tenant = spaces
    assert writer.erase_source(tenant, SHARED, spaces=("b",)).versions == 2  # its artifact too
    found = Sources(store).get(tenant, None, SHARED, None, Window())
    assert found is not None
    assert found.space == "main"
    with pytest.raises(NotFound):
        writer.erase_source(tenant, SHARED, spaces=("b",))
    clock.time += 1
    fill(writer, tenant, "b")
    receipt = writer.erase_source(tenant, SHARED)
    assert (receipt.versions, receipt.artifacts) == (4, 2)
    assert counts(store, tenant)["source"] == 0


def test_nothing_is_read_of_another_space_to_make_vectors_of(store: Store) -> None:
    """A6: a refused node never had the text that it cites read, nor sent to an embedder."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    done = writer.write_documents(tenant, [document("main")])
    span = SpanRef(SHARED, done.tx, 0, 5)
    for space, expected in (("main", 1), ("private", 0)):
        record = NodeRecord(uid("n"), space, "fact", "{}", provenance=(span,))
        assert len(texts_to_embed(store, tenant, [record])) == expected


def _read(store: Store, tenant: int, statement: "sa.Select[Any]") -> list[Any]:
    with store.reading(tenant) as connection:
        return list(connection.execute(statement))

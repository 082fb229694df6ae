"""Erasure: the rows, and the bytes of the files."""

import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from memory_builders import DAY, FIRST_TENANT, a_document, a_tenant, a_writer, opened, uid
from telha_planner.core.errors import NotFound
from telha_planner.core.model import SpanRef
from telha_planner.memory import clock as clocks
from telha_planner.memory import tables
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord, VectorRecord
from telha_planner.memory.store import Store
from telha_planner.models.analysis import term_counts, term_id

SECRET = "zanzibarquokka"


def _count(store: Store, table: sa.Table) -> int:
    with store.reading(FIRST_TENANT) as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def _fill(store: Store) -> tuple[int, bytes, dict[str, int]]:
    """A source with a secret in two versions, another beside it, and nodes that rest on one or both."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    other = a_document("open", [f"word{number} lives on" for number in range(40)])
    done = writer.write_documents(tenant, [other])
    counts = {table.name: _count(store, table) for table in tables.metadata.tables.values()}
    doomed = a_document("private", [f"para{number} {SECRET} {'x' * 200}" for number in range(40)])
    first = writer.write_documents(tenant, [doomed])
    clock.time += DAY
    writer.write_documents(tenant, [a_document("private", [f"{SECRET} alone", f"changed {SECRET}"])])
    inside = SpanRef(doomed.source_id, first.tx, 0, 20)
    outside = SpanRef(other.source_id, done.tx, 0, 5)
    vector = VectorRecord("m", (1.0, 2.0))
    writer.put_nodes(
        tenant,
        [
            NodeRecord(uid("only"), "main", "fact", f'{{"x":"{SECRET}"}}', provenance=(inside,), vector=vector),
            NodeRecord(uid("both"), "main", "fact", "{}", provenance=(inside, outside), vector=vector),
            NodeRecord(uid("free"), "main", "fact", "{}", provenance=(outside,), vector=vector),
        ],
    )
    writer.put_edges(
        tenant,
        [
            EdgeRecord(uid("e1"), uid("only"), uid("free"), "about"),
            EdgeRecord(uid("e2"), uid("both"), uid("free"), "about"),
            EdgeRecord(uid("e3"), uid("free"), doomed.nodes[0].node_id, "about"),
        ],
    )
    writer.put_clarifications(
        tenant,
        [
            ClarificationRecord(uid("q1"), uid("only"), "pending", f"is it {SECRET}?"),
            ClarificationRecord(uid("q2"), uid("free"), "pending", "what is it?"),
        ],
    )
    return tenant, doomed.source_id, counts


def test_erasure_removes_all_that_rests_on_the_source(store: Store) -> None:
    """M5: text, spans, vectors, nodes, edges and clarifications go; a receipt says how many."""
    tenant, source_id, before = _fill(store)
    writer, _ = a_writer(store)
    receipt = writer.erase_source(tenant, source_id)
    assert (receipt.versions, receipt.nodes, receipt.vectors) == (2, 40 + 2 + 1, 2)
    assert receipt.spans == 40 + 2 + 1
    assert receipt.edges == 39 + 39 + 1 + 2
    after = {table.name: _count(store, table) for table in tables.metadata.tables.values()}
    expected = before | {
        "node": before["node"] + 2,
        "node_version": before["node_version"] + 2,
        "node_span": before["node_span"] + 2,
        "span": before["span"] + 1,
        "edge": before["edge"] + 1,
        "clarification": 1,
        "node_vector": 1,
        "vector_model": 1,
        "active_model": 1,
        "erasure": 1,
    }
    assert after == expected
    with store.reading(tenant) as connection:
        assert clocks.erased_tx(connection, tenant) == clocks.last_tx(connection, tenant) == receipt.tx
        ids = connection.execute(sa.select(tables.node_version.c.term_ids)).scalars().all()
    assert not [blob for blob in ids if term_id(SECRET).to_bytes(8, "little") in blob]
    assert term_id(SECRET) in term_counts(SECRET)


def test_the_files_hold_no_byte_of_it(tmp_path: Path) -> None:
    """M5: neither the database nor its log keep what was erased, while the store stays open."""
    store = opened(tmp_path / "live")
    tenant, source_id, _ = _fill(store)
    files = sorted((tmp_path / "live").iterdir())
    assert any(SECRET.encode() in file.read_bytes() for file in files)
    writer, _ = a_writer(store)
    writer.erase_source(tenant, source_id)
    shutil.copytree(tmp_path / "live", tmp_path / "copy")
    for file in (tmp_path / "copy").iterdir():
        assert SECRET.encode() not in file.read_bytes(), file.name
        assert term_id(SECRET).to_bytes(8, "little") not in file.read_bytes(), file.name
    store.close()


def test_an_erased_source_is_gone_and_may_come_back(store: Store) -> None:
    """M5: erasing twice finds nothing; ingesting again makes a new source."""
    tenant, source_id, _ = _fill(store)
    writer, clock = a_writer(store)
    first = writer.erase_source(tenant, source_id)
    with pytest.raises(NotFound, match="source"):
        writer.erase_source(tenant, source_id)
    with pytest.raises(NotFound):
        writer.erase_source(tenant, uid("never"))
    clock.time += 9 * DAY
    again = writer.write_documents(tenant, [a_document("private", ["para0 again"])])
    assert (again.sources[0].outcome, again.sources[0].source_id) == ("created", source_id)
    assert again.tx > first.tx


def test_another_tenant_loses_nothing(store: Store) -> None:
    """A6: the same source id in two tenants is two sources."""
    tenant, source_id, _ = _fill(store)
    beta, _ = a_tenant(store, "beta")
    writer, _ = a_writer(store)
    writer.write_documents(beta, [a_document("private", ["mine"], source_id=source_id)])
    writer.erase_source(tenant, source_id)
    assert writer.erase_source(beta, source_id).versions == 1

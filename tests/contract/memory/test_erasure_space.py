"""Erasure of a space: its rows and bytes go, its neighbours keep theirs."""

import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from memory_builders import DAY, a_document, a_tenant, a_writer, opened, rows_of, uid
from telha_planner.core.errors import NotFound
from telha_planner.core.model import SpanRef
from telha_planner.memory import clock as clocks
from telha_planner.memory import tables
from telha_planner.memory.erasure_space import NO_SOURCE
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord, VectorRecord
from telha_planner.memory.store import Store

SECRET = "zanzibarquokka"


def _write(store: Store, tenant: int, space: str, word: str) -> list[bytes]:
    """Two sources, one in two versions, with nodes, edges, clarifications and vectors beside them."""
    writer, clock = a_writer(store)
    documents = [a_document(name, [f"{name}{n} {word} {'x' * 99}" for n in range(9)], space=space) for name in "ab"]
    done = writer.write_documents(tenant, documents)
    clock.time += DAY
    writer.write_documents(tenant, [a_document("a", [f"a0 {word}", f"new {word}"], space=space)])
    spans = [SpanRef(document.source_id, done.tx, 0, 9) for document in documents]
    one, two, free = (uid(f"{space}/{name}") for name in ("one", "two", "free"))
    writer.put_nodes(
        tenant,
        [
            NodeRecord(
                one, space, "fact", f'{{"x":"{word}"}}', provenance=(spans[0],), vector=VectorRecord("m", (1.0,))
            ),
            NodeRecord(two, space, "fact", "{}", provenance=tuple(spans), vector=VectorRecord("m", (2.0,))),
            NodeRecord(free, space, "fact", f'{{"y":"{word}"}}'),
        ],
    )
    ends = [(one, two), (two, free), (free, documents[0].nodes[0].node_id)]
    writer.put_edges(tenant, [EdgeRecord(uid(f"{space}/{n}"), *pair, "about") for n, pair in enumerate(ends)])
    questions = [(one, f"is it {word}?"), (documents[1].nodes[0].node_id, f"{word}?")]
    writer.put_clarifications(
        tenant,
        [ClarificationRecord(uid(f"{space}/q{n}"), node, "pending", text) for n, (node, text) in enumerate(questions)],
    )
    return [document.source_id for document in documents]


def test_all_of_a_space_goes_and_nothing_else(store: Store) -> None:
    """M5, M7: rows of every table; what the tenant holds besides is as if the space had never been."""
    tenant, _ = a_tenant(store)
    _write(store, tenant, "main", "open")
    before = rows_of(store, tenant)
    ids = _write(store, tenant, "private", SECRET)
    full = rows_of(store, tenant)
    writer, _ = a_writer(store)
    receipt = writer.erase_space(tenant, "private")
    after = rows_of(store, tenant)
    changed = {"clock", "erasure"}
    assert {name: rows for name, rows in after.items() if name not in changed} == {
        name: rows for name, rows in before.items() if name not in changed
    }
    erased = [(receipt.tx, source_id, "private") for source_id in sorted([*ids, NO_SOURCE])]
    assert sorted(after["erasure"]) == erased
    removed = receipt.removed
    lost = {name: len(full[name]) - len(before[name]) for name in full}
    assert (removed.sources, removed.versions, removed.spans, removed.nodes) == tuple(
        lost[name] for name in ("source", "source_version", "span", "node")
    )
    assert (removed.edges, removed.clarifications, removed.vectors) == tuple(
        lost[name] for name in ("edge", "clarification", tables.vector.name)
    )
    assert min(removed.sources, removed.edges, removed.clarifications, removed.vectors) >= 2
    with store.reading(tenant) as connection:
        assert clocks.erased_tx(connection, tenant) == clocks.last_tx(connection, tenant) == receipt.tx


def test_the_files_hold_no_byte_of_it(tmp_path: Path) -> None:
    """M5: neither the database nor its log, while the store stays open."""
    store = opened(tmp_path / "live")
    tenant, _ = a_tenant(store)
    _write(store, tenant, "private", SECRET)
    assert any(SECRET.encode() in file.read_bytes() for file in (tmp_path / "live").iterdir())
    writer, _ = a_writer(store)
    writer.erase_space(tenant, "private")
    shutil.copytree(tmp_path / "live", tmp_path / "copy")
    for file in (tmp_path / "copy").iterdir():
        assert SECRET.encode() not in file.read_bytes(), file.name
    store.close()


def test_an_erased_space_is_gone_and_may_come_back(store: Store) -> None:
    """M5: erasing twice finds nothing; the same documents may be ingested again."""
    tenant, _ = a_tenant(store)
    ids = _write(store, tenant, "private", "words")
    writer, clock = a_writer(store)
    writer.erase_space(tenant, "private")
    for name in ("private", "never"):
        with pytest.raises(NotFound, match="space"):
            writer.erase_space(tenant, name)
    clock.time += 9 * DAY
    again = writer.write_documents(tenant, [a_document("a", ["a0 again"], space="private")])
    assert (again.sources[0].outcome, again.sources[0].source_id) == ("created", ids[0])


def test_another_tenant_loses_nothing(store: Store) -> None:
    """A6: a space of the same name is another space."""
    tenant, _ = a_tenant(store)
    beta, _ = a_tenant(store, "beta")
    for number in (tenant, beta):
        _write(store, number, "private", "words")
    before = rows_of(store, beta)
    a_writer(store)[0].erase_space(tenant, "private")
    assert rows_of(store, beta) == before
    with store.reading(tenant) as connection:
        here = sa.select(sa.func.count()).select_from(tables.node).where(tables.node.c.tenant == tenant)
        assert connection.execute(here).scalar_one() == 0

"""Nodes, edges and clarifications written by API."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from memory_builders import DAY, FIRST_TENANT, JUNE, SEPTEMBER, a_document, a_tenant, a_writer, dump, uid
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.core.request import OPEN_END
from telha_planner.memory import tables
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord, Terms, VectorRecord
from telha_planner.memory.store import Store
from telha_planner.models.analysis import term_counts

TEXT = ["café 二 👩‍👩‍👧 שלום", "second"]
SOURCE = a_document("notes", TEXT)
LENGTH = len(SOURCE.text)


def span(start: int, end: int, version: int = JUNE, source_id: bytes = SOURCE.source_id) -> SpanRef:
    return SpanRef(source_id, version, start, end)


def a_node(name: str, **changed: Any) -> NodeRecord:
    return NodeRecord(**({"node_id": uid(name), "space": "main", "type": "fact", "properties": "{}"} | changed))


def an_edge(name: str, one: str, other: str, **changed: Any) -> EdgeRecord:
    return EdgeRecord(edge_id=uid(name), from_node=uid(one), to_node=uid(other), type="knows", **changed)


def a_question(name: str, node: str, state: str = "pending", question: str = "which one?") -> ClarificationRecord:
    return ClarificationRecord(uid(name), uid(node), state, question)


def rows(store: Store, table: sa.Table) -> list[Any]:
    with store.reading(FIRST_TENANT) as connection:
        return list(connection.execute(sa.select(table).order_by(*table.primary_key)))


def seen_at(store: Store, name: str, valid_t: int, tx_t: int) -> list[str]:
    node, version = tables.node.c, tables.node_version.c
    statement = (
        sa.select(version.properties)
        .select_from(tables.node_version)
        .join(tables.node, sa.and_(node.tenant == version.tenant, node.node_no == version.node_no))
        .where(node.node_id == uid(name), version.tx_from <= tx_t, version.tx_to > tx_t)
        .where(version.valid_from <= valid_t, version.valid_to > valid_t)
    )
    with store.reading(FIRST_TENANT) as connection:
        return list(connection.execute(statement).scalars())


def refused(call: Any, *arguments: Any) -> str:
    with pytest.raises(RequestInvalid) as error:
        call(*arguments)
    return error.value.field


def test_a_node_rests_on_spans_and_is_indexed_by_them(store: Store) -> None:
    """M3: nodes written by API with provenance; terms from the source's name and the spans' texts."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(tenant, [SOURCE])
    clock.time = SEPTEMBER
    ledger = SOURCE.spans[1]
    record = a_node("n", provenance=(span(0, 5), span(ledger.start, ledger.end)))
    assert writer.put_nodes(tenant, [record]).tx == SEPTEMBER
    version = rows(store, tables.node_version)[-1]
    expected = Terms.of(term_counts("notes\ncafé\nsecond"))
    assert (version.term_ids, version.term_counts, version.term_total) == tuple(expected)
    assert (version.valid_from, version.valid_to) == (SEPTEMBER, OPEN_END)
    spans = rows(store, tables.span)
    assert len(spans) == 3
    assert (spans[-1].kind, spans[-1].start, spans[-1].end, spans[-1].other_chars) == (None, 0, 5, 1)
    links = [link.span_no for link in rows(store, tables.node_span) if link.version_no == version.version_no]
    assert links == [spans[-1].span_no, spans[1].span_no]


def test_the_same_nodes_again_write_nothing(store: Store) -> None:
    """M3: stating the same is no commit, whether the valid time is repeated or left out."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(tenant, [SOURCE])
    batch = [
        a_node("a", provenance=(span(0, 5),), vector=VectorRecord("m", (1.0, 2.0))),
        a_node("b", valid_from=JUNE - DAY, valid_to=SEPTEMBER),
    ]
    tx = writer.put_nodes(tenant, batch).tx
    before = dump(store)
    clock.time += DAY
    assert writer.put_nodes(tenant, batch).tx == tx
    assert dump(store) == before


def test_a_new_statement_takes_the_place_of_the_old_one_from_its_start(store: Store) -> None:
    """M1: bitemporal: what was true before stays true, what was known before stays known."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.put_nodes(tenant, [a_node("n", properties='{"v":1}', valid_from=JUNE - 9 * DAY)])
    clock.time = SEPTEMBER
    writer.put_nodes(tenant, [a_node("n", properties='{"v":2}', valid_from=JUNE)])
    assert seen_at(store, "n", JUNE, SEPTEMBER) == ['{"v":2}']
    assert seen_at(store, "n", JUNE - 1, SEPTEMBER) == ['{"v":1}']
    assert seen_at(store, "n", JUNE, SEPTEMBER - 1) == ['{"v":1}']
    clock.time += DAY
    writer.put_nodes(tenant, [a_node("n", properties='{"v":2}', valid_from=JUNE, valid_to=JUNE + DAY)])
    assert seen_at(store, "n", JUNE + DAY, clock.time) == []
    assert seen_at(store, "n", JUNE, clock.time) == ['{"v":2}']
    assert seen_at(store, "n", JUNE - 1, clock.time) == ['{"v":1}']


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"provenance": (span(0, 4),)}, ".provenance[0].end"),
        ({"provenance": (span(0, 5), span(4, 5))}, ".provenance[1].start"),
        ({"provenance": (span(0, LENGTH + 1),)}, ".provenance[0].end"),
        ({"provenance": (span(5, 5),)}, ".provenance[0].end"),
        ({"provenance": (span(5, 2),)}, ".provenance[0].end"),
        ({"provenance": (span(0, 5), span(0, 5))}, ".provenance[1]"),
        ({"provenance": (span(0, 5, version=JUNE + 1),)}, ".provenance[0]"),
        ({"provenance": (span(0, 5, source_id=uid("nowhere")),)}, ".provenance[0]"),
        ({"provenance": (span(0, 5),), "space": "other"}, ".provenance[0]"),
        ({"valid_from": JUNE, "valid_to": JUNE}, ".valid_to_us"),
        ({"valid_to": JUNE}, ".valid_to_us"),
        ({"vector": VectorRecord("m", (1.0, 2.0, 3.0))}, ".vector.values"),
        ({"vector": VectorRecord("m", (1e300, 2.0))}, ".vector.values"),
        ({"node_id": SOURCE.nodes[0].node_id}, ".node_id"),
        ({"node_id": uid("good 0")}, ".node_id"),
    ],
)
def test_a_bad_node_refuses_the_batch_with_its_index(store: Store, bad: dict[str, Any], field: str) -> None:
    """M3: atomic; the field path names the item; nothing is written."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(tenant, [SOURCE])
    writer.put_nodes(tenant, [a_node("known", vector=VectorRecord("m", (1.0, 2.0)))])
    clock.time = SEPTEMBER
    before = dump(store)
    good = [a_node(f"good {index}", provenance=(span(0, 5),)) for index in range(3)]
    assert refused(writer.put_nodes, tenant, [*good, a_node("bad", **bad)]) == f"nodes[3]{field}"
    assert dump(store) == before


def test_a_foreign_span_and_an_absent_one_get_the_same_answer(store: Store) -> None:
    """M7: an error does not tell what lies in another space."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    writer.write_documents(tenant, [SOURCE])
    answers = []
    for source_id in (SOURCE.source_id, uid("absent")):
        with pytest.raises(RequestInvalid) as error:
            writer.put_nodes(tenant, [a_node("n", space="other", provenance=(span(0, 5, source_id=source_id),))])
        answers.append(str(error.value))
    assert answers[0] == answers[1]


def test_an_ingested_document_cannot_take_over_a_written_node(store: Store) -> None:
    """M2: ingestion and API never share a node."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    writer.put_nodes(tenant, [replace(a_node("x"), node_id=SOURCE.nodes[1].node_id)])
    assert refused(writer.write_documents, tenant, [SOURCE]) == "documents[0].source_id"


def test_vectors_are_kept_by_model_and_valid_start(store: Store) -> None:
    """M1, M8: the first vector fixes a model's dimensions; the first model is the active one."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)

    def put(version: int, vector: VectorRecord | None, valid_from: int | None = None) -> None:
        record = a_node("n", properties=f'{{"v":{version}}}', vector=vector, valid_from=valid_from)
        writer.put_nodes(tenant, [record])
        clock.time += DAY

    def standing() -> list[tuple[str, int, list[float]]]:
        return [
            (row.model, row.valid_from, np.frombuffer(row[5], "<f4").tolist())
            for row in rows(store, tables.vector)
            if row.tx_to == OPEN_END
        ]

    put(1, VectorRecord("m", (1.0, 0.5)))
    put(1, VectorRecord("other", (1.0, 0.5, 0.25)))
    assert standing() == [("m", JUNE, [1.0, 0.5]), ("other", JUNE, [1.0, 0.5, 0.25])]
    models = [(row.model, row.dimensions) for row in rows(store, tables.vector_model)]
    assert models == [("m", 2), ("other", 3)]
    assert [(row.model, row.tx_from) for row in rows(store, tables.active_model)] == [("m", JUNE)]
    put(1, VectorRecord("m", (3.0, 0.5)))
    assert standing()[-1] == ("m", JUNE, [3.0, 0.5])
    put(2, VectorRecord("m", (4.0, 0.5)))
    assert standing() == [("m", JUNE, [3.0, 0.5]), ("m", JUNE + 3 * DAY, [4.0, 0.5])]
    put(2, None)
    assert len(standing()) == 2
    put(3, None)
    assert standing() == []


def test_edges_join_nodes_of_one_space(store: Store) -> None:
    """M3: edges by API; endpoints exist, in one space; atomic."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(tenant, [a_document("d", ["alpha", "beta"])])
    writer.put_nodes(tenant, [a_node("a"), a_node("b"), a_node("c", space="other"), a_node("e", space="other")])
    tx = writer.put_edges(tenant, [an_edge("ab", "a", "b", confidence=0.5), an_edge("ce", "c", "e")]).tx
    before = dump(store)
    clock.time = SEPTEMBER
    assert writer.put_edges(tenant, [an_edge("ab", "a", "b", confidence=0.5)]).tx == tx
    derived = EdgeRecord(a_document("d", ["alpha", "beta"]).edges[0].edge_id, uid("a"), uid("b"), "next")
    for bad, field in (
        (an_edge("x", "nobody", "b"), "from_node_id"),
        (an_edge("x", "a", "nobody"), "to_node_id"),
        (an_edge("x", "a", "c"), "to_node_id"),
        (an_edge("ok", "a", "b"), "edge_id"),
        (derived, "edge_id"),
        (an_edge("x", "a", "b", valid_from=5, valid_to=4), "valid_to_us"),
    ):
        assert refused(writer.put_edges, tenant, [an_edge("ok", "b", "a"), bad]) == f"edges[1].{field}"
    assert dump(store) == before
    writer.put_edges(tenant, [an_edge("ab", "a", "b", confidence=0.25)])
    versions = [row for row in rows(store, tables.edge) if row.edge_id == uid("ab")]
    assert [(row.confidence, row.valid_from, row.valid_to, row.tx_to) for row in versions] == [
        (0.5, tx, OPEN_END, SEPTEMBER),
        (0.25, SEPTEMBER, OPEN_END, OPEN_END),
        (0.5, tx, SEPTEMBER, OPEN_END),
    ]


def test_an_edge_needs_nodes_that_memory_still_speaks_of(store: Store) -> None:
    """M3: a node whose every version ended is no endpoint."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    document = a_document("d", ["alpha", "beta"], valid_from=JUNE)
    writer.write_documents(tenant, [document])
    clock.time += 1
    # Said to be true since the same start, so nothing of beta remains in valid time.
    writer.write_documents(tenant, [a_document("d", ["alpha"], valid_from=JUNE)])
    writer.put_nodes(tenant, [a_node("a")])
    gone = EdgeRecord(uid("x"), uid("a"), document.nodes[1].node_id, "about")
    assert refused(writer.put_edges, tenant, [gone]) == "edges[0].to_node_id"
    kept = EdgeRecord(uid("x"), uid("a"), document.nodes[0].node_id, "about")
    writer.put_edges(tenant, [kept])


def test_clarifications_are_closed_and_restated(store: Store) -> None:
    """M3: clarifications by API, in transaction time."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.put_nodes(tenant, [a_node("n"), a_node("m", space="other")])
    first = writer.put_clarifications(tenant, [a_question("q", "n")]).tx
    before = dump(store)
    clock.time = SEPTEMBER
    assert writer.put_clarifications(tenant, [a_question("q", "n")]).tx == first
    for bad, field in (
        (a_question("r", "nobody"), "node_id"),
        (a_question("ok", "n"), "clarification_id"),
    ):
        assert refused(writer.put_clarifications, tenant, [a_question("ok", "n"), bad]) == f"clarifications[1].{field}"
    assert dump(store) == before
    writer.put_clarifications(tenant, [a_question("q", "n", "resolved")])
    assert [(row.state, row.tx_from, row.tx_to) for row in rows(store, tables.clarification)] == [
        ("pending", first, SEPTEMBER),
        ("resolved", SEPTEMBER, OPEN_END),
    ]

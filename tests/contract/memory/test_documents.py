"""What write_documents opens, keeps and closes, read straight from the tables."""

import pytest
import sqlalchemy as sa
from memory_builders import DAY, JUNE, SEPTEMBER, a_document, a_tenant, a_writer, dump, renamed, uid
from telha_planner.core.errors import NotFound, RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.memory import tables
from telha_planner.memory.records import DocumentRecord, IngestedSource
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer


def texts_at(store: Store, tenant: int, valid_t: int, tx_t: int) -> list[str]:
    """The texts behind the nodes visible at two instants, by slicing what their links lead to."""
    statement = sa.text(
        'SELECT v.text, s.start, s."end" FROM node_version n '
        "JOIN node_span l ON l.tenant = n.tenant AND l.version_no = n.version_no "
        "JOIN span s ON s.tenant = l.tenant AND s.span_no = l.span_no "
        "JOIN source_version v ON v.tenant = s.tenant AND v.source_no = s.source_no AND v.version_tx = s.version_tx "
        "WHERE n.tenant = :tenant AND n.tx_from <= :tx AND n.tx_to > :tx AND l.tx_from <= :tx AND l.tx_to > :tx "
        "AND n.valid_from <= :valid AND n.valid_to > :valid ORDER BY s.version_tx, s.start"
    )
    with store.reading(tenant) as connection:
        rows = connection.execute(statement, {"tenant": tenant, "tx": tx_t, "valid": valid_t}).all()
    return [text[start:end].decode() for text, start, end in rows]


def coordinates_at(store: Store, tenant: int, tx_t: int) -> list[SpanRef]:
    statement = sa.text(
        'SELECT o.source_id, s.version_tx, s.start, s."end" FROM node_version n '
        "JOIN node_span l ON l.tenant = n.tenant AND l.version_no = n.version_no "
        "JOIN span s ON s.tenant = l.tenant AND s.span_no = l.span_no "
        "JOIN source o ON o.tenant = s.tenant AND o.source_no = s.source_no "
        "WHERE n.tenant = :tenant AND n.tx_from <= :tx AND n.tx_to > :tx AND l.tx_from <= :tx AND l.tx_to > :tx "
        "AND n.valid_from <= :tx AND n.valid_to > :tx ORDER BY 1, 2, 3"
    )
    with store.reading(tenant) as connection:
        return [SpanRef(*row) for row in connection.execute(statement, {"tenant": tenant, "tx": tx_t})]


def edges_at(store: Store, tenant: int, valid_t: int, tx_t: int) -> int:
    edge = tables.edge.c
    statement = sa.select(sa.func.count()).where(
        edge.tenant == tenant,
        edge.tx_from <= tx_t,
        edge.tx_to > tx_t,
        edge.valid_from <= valid_t,
        edge.valid_to > valid_t,
    )
    with store.reading(tenant) as connection:
        return int(connection.execute(statement).scalar_one())


def _only(writer: Writer, tenant: int, document: DocumentRecord) -> IngestedSource:
    return writer.write_documents(tenant, [document]).sources[0]


def test_a_new_document_is_opened_whole(store: Store) -> None:
    """M1: sources, spans, nodes, links and edges; the version's instant is the commit's."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    done = writer.write_documents(tenant, [a_document("a", ["alpha one", "beta 二", "gamma שלום"])])
    assert done.tx == JUNE
    outcome = done.sources[0]
    assert (outcome.outcome, outcome.version_tx, outcome.spans, outcome.nodes_opened) == ("created", JUNE, 3, 3)
    assert texts_at(store, tenant, JUNE, JUNE) == ["alpha one", "beta 二", "gamma שלום"]
    assert texts_at(store, tenant, JUNE - 1, JUNE) == []
    assert edges_at(store, tenant, JUNE, JUNE) == 2


def test_the_same_document_again_writes_nothing(store: Store) -> None:
    """M2: idempotent; no commit is made, the answer names the newest one."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    batch = [a_document("a", ["alpha one"]), a_document("b", ["beta"])]
    writer.write_documents(tenant, batch)
    before = dump(store)
    clock.time += DAY
    again = writer.write_documents(tenant, batch)
    assert again.tx == JUNE
    assert [source.outcome for source in again.sources] == ["unchanged", "unchanged"]
    assert [(source.nodes_kept, source.version_tx) for source in again.sources] == [(1, JUNE), (1, JUNE)]
    assert dump(store) == before


def test_a_changed_document_keeps_what_stayed_and_closes_what_went(store: Store) -> None:
    """M2: re-ingesting makes a new version; kept nodes lead to the new version's spans."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(tenant, [a_document("a", ["alpha one", "beta two", "gamma three"])])
    clock.time = SEPTEMBER
    outcome = _only(writer, tenant, a_document("a", ["zero new", "alpha one", "beta changed"]))
    assert (outcome.outcome, outcome.version_tx) == ("updated", SEPTEMBER)
    assert (outcome.nodes_opened, outcome.nodes_closed, outcome.nodes_kept) == (2, 2, 1)
    assert texts_at(store, tenant, SEPTEMBER, SEPTEMBER) == ["zero new", "alpha one", "beta changed"]
    assert {span.source_version_tx for span in coordinates_at(store, tenant, SEPTEMBER)} == {SEPTEMBER}
    assert texts_at(store, tenant, SEPTEMBER, SEPTEMBER - 1) == ["alpha one", "beta two", "gamma three"]
    assert {span.source_version_tx for span in coordinates_at(store, tenant, SEPTEMBER - 1)} == {JUNE}


def test_what_was_true_before_the_change_can_still_be_read(store: Store) -> None:
    """M1: as known in June and as true in June are two questions, and both have answers in September."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store, SEPTEMBER + DAY)
    writer.write_documents(tenant, [a_document("price", ["fee is 10", "owner Ana"], valid_from=JUNE)])
    known_before = clock.time
    clock.time += DAY
    writer.write_documents(tenant, [a_document("price", ["fee is 12", "owner Ana"], valid_from=SEPTEMBER)])
    known = clock.time
    assert texts_at(store, tenant, SEPTEMBER, known) == ["fee is 12", "owner Ana"]
    assert texts_at(store, tenant, SEPTEMBER - 1, known) == ["fee is 10", "owner Ana"]
    assert texts_at(store, tenant, JUNE - 1, known) == []
    assert texts_at(store, tenant, SEPTEMBER, known_before) == ["fee is 10", "owner Ana"]


def test_an_edge_that_is_gone_remains_for_its_time(store: Store) -> None:
    """M1: edges have both times too."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(tenant, [a_document("a", ["alpha", "beta", "gamma"])])
    clock.time = SEPTEMBER
    writer.write_documents(tenant, [a_document("a", ["alpha", "beta"])])
    assert edges_at(store, tenant, SEPTEMBER, SEPTEMBER) == 1
    assert edges_at(store, tenant, JUNE, SEPTEMBER) == 2
    assert edges_at(store, tenant, SEPTEMBER, SEPTEMBER - 1) == 2


def test_a_paragraph_that_comes_back_is_the_same_node(store: Store) -> None:
    """M1: a paragraph that comes back is the same node."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    for paragraphs in (["alpha", "beta"], ["alpha"], ["alpha", "beta"]):
        writer.write_documents(tenant, [a_document("a", paragraphs)])
        clock.time += DAY
    with store.reading(tenant) as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(tables.node)).scalar() == 2
    assert texts_at(store, tenant, JUNE + 2 * DAY, JUNE + 2 * DAY) == ["alpha", "beta"]
    assert texts_at(store, tenant, JUNE + DAY, JUNE + 2 * DAY) == ["alpha"]


def test_an_earlier_start_than_was_known_is_news(store: Store) -> None:
    """M2: the same content, true since earlier, is written; true since later is not."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store, SEPTEMBER)
    writer.write_documents(tenant, [a_document("a", ["alpha"])])
    clock.time += 1
    assert _only(writer, tenant, a_document("a", ["alpha"], valid_from=SEPTEMBER + 1)).outcome == "unchanged"
    assert _only(writer, tenant, a_document("a", ["alpha"], valid_from=JUNE)).outcome == "updated"
    assert texts_at(store, tenant, JUNE, clock.time) == ["alpha"]


def test_an_id_in_another_space_is_another_source(store: Store) -> None:
    """M7: neither is it refused, which would tell that the id is taken, nor does it touch the one that was there."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    first = a_document("a", ["alpha"])
    writer.write_documents(tenant, [first])
    clock.time += 1
    other = a_document("a", ["alpha two"], space="other", source_id=first.source_id)
    assert _only(writer, tenant, other).outcome == "created"
    assert _only(writer, tenant, other).outcome == "unchanged"
    assert _only(writer, tenant, first).outcome == "unchanged"
    assert sorted(texts_at(store, tenant, SEPTEMBER, clock.time)) == ["alpha", "alpha two"]
    with pytest.raises(RequestInvalid, match="must not stand twice"):
        writer.write_documents(tenant, [first, other])


def test_a_source_named_twice_is_refused(store: Store) -> None:
    """M3: a bad batch is refused whole, with the index."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    before = dump(store)
    first = a_document("a", ["alpha"])
    with pytest.raises(RequestInvalid) as refused:
        writer.write_documents(tenant, [a_document("b", ["beta"]), first, renamed(first, "c")])
    assert refused.value.field == "documents[2].source_id"
    assert dump(store) == before


def test_a_tenant_that_does_not_exist_is_not_found(store: Store) -> None:
    """M1: a tenant that does not exist is not found."""
    writer, _ = a_writer(store)
    with pytest.raises(NotFound):
        writer.write_documents(99, [a_document("a", ["alpha"])])


def test_commits_are_ordered_whatever_the_clock_does(store: Store) -> None:
    """M1: no two commits share an instant; a clock that steps back is harmless."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store, SEPTEMBER)
    instants = []
    for number, time in enumerate((SEPTEMBER, SEPTEMBER, JUNE, 0, SEPTEMBER + 5, SEPTEMBER + 5)):
        clock.time = time
        instants.append(writer.write_documents(tenant, [a_document("a", [f"text {number}"])]).tx)
    assert instants == [SEPTEMBER, SEPTEMBER + 1, SEPTEMBER + 2, SEPTEMBER + 3, SEPTEMBER + 5, SEPTEMBER + 6]


def test_a_clock_far_ahead_is_told(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """M1: a clock far ahead is told."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store, SEPTEMBER)
    writer.write_documents(tenant, [a_document("a", ["one"])])
    assert "clock_ahead" not in capsys.readouterr().out
    clock.time = JUNE
    writer.write_documents(tenant, [a_document("a", ["two"])])
    assert "clock_ahead" in capsys.readouterr().out


def test_numbers_only_grow(store: Store) -> None:
    """M1: a reader that saw number n finds everything new above n."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    seen = 0
    for paragraphs in (["alpha", "beta"], ["alpha", "beta two"], ["gamma"]):
        commit = writer.write_documents(tenant, [a_document("a", paragraphs)])
        clock.time += DAY
        with store.reading(tenant) as connection:
            for table, key in (
                (tables.source_version, "version_no"),
                (tables.span, "span_no"),
                (tables.node_version, "version_no"),
                (tables.node_span, "link_no"),
                (tables.edge, "edge_no"),
            ):
                born = table.c.version_tx if "version_tx" in table.c else table.c.tx_from
                numbers = connection.execute(sa.select(table.c[key]).where(born == commit.tx)).scalars().all()
                assert all(number > seen for number in numbers)
            seen = connection.execute(sa.select(tables.clock.c.next_no)).scalar_one() - 1


def test_ids_that_another_source_holds_are_refused(store: Store) -> None:
    """M2: ingestion never takes over a foreign node."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    first = a_document("a", ["alpha"])
    writer.write_documents(tenant, [first])
    thief = DocumentRecord(
        **{
            field: getattr(first, field)
            for field in DocumentRecord.__dataclass_fields__
            if field not in {"source_id", "input_hash"}
        },
        source_id=uid("thief"),
        input_hash=bytes(32),
    )
    with pytest.raises(RequestInvalid) as refused:
        writer.write_documents(tenant, [thief])
    assert refused.value.field == "documents[0].source_id"

"""Nodes that state since when they are true: the turns of a conversation, written, grown and corrected."""

import sqlalchemy as sa
from ingest_builders import conversation_of
from memory_builders import DAY, JUNE, a_tenant, a_writer
from telha_planner.memory.store import Store

HOUR = DAY // 24
MONDAY = JUNE - 30 * DAY
TURNS = [
    {"speaker": "Ana", "text": "The depot opens.", "time": MONDAY},
    {"speaker": "李雷", "text": "六点出发。", "time": MONDAY + HOUR},
    {"speaker": "Ana", "text": "No time was noted."},
    {"speaker": "Ana", "text": "It closes.", "time": MONDAY + 2 * HOUR},
]


def visible(store: Store, tenant: int, valid_t: int, tx_t: int, node_type: str = "turn") -> list[str]:
    """The texts of nodes visible at two instants, in the order of the conversation."""
    statement = sa.text(
        'SELECT v.text, s.start, s."end" FROM node_version n '
        "JOIN node_span l ON l.tenant = n.tenant AND l.version_no = n.version_no "
        "JOIN span s ON s.tenant = l.tenant AND s.span_no = l.span_no "
        "JOIN source_version v ON v.tenant = s.tenant AND v.source_no = s.source_no AND v.version_tx = s.version_tx "
        "WHERE n.tenant = :tenant AND n.type = :type AND n.tx_from <= :tx AND n.tx_to > :tx AND l.tx_from <= :tx "
        "AND l.tx_to > :tx AND n.valid_from <= :valid AND n.valid_to > :valid ORDER BY s.start"
    )
    instants = {"tenant": tenant, "type": node_type, "tx": tx_t, "valid": valid_t}
    with store.reading(tenant) as connection:
        return [text[start:end].decode() for text, start, end in connection.execute(statement, instants)]


def dangling(store: Store, tenant: int) -> int:
    """Edges that are true at an instant when one of their ends is not."""
    statement = sa.text(
        "SELECT count(*) FROM edge e JOIN node_version n ON n.tenant = e.tenant "
        "AND n.node_no IN (e.from_node_no, e.to_node_no) "
        "WHERE e.tenant = :tenant AND e.valid_from < n.valid_from AND e.tx_to = n.tx_to"
    )
    with store.reading(tenant) as connection:
        return int(connection.execute(statement, {"tenant": tenant}).scalar_one())


def test_a_turn_is_true_since_it_was_said(store: Store) -> None:
    """M1, M2: a turn without a time is true since the conversation is; a window since the last of its turns."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    writer.write_documents(tenant, [conversation_of(TURNS)])
    assert visible(store, tenant, MONDAY - 1, JUNE) == []
    assert visible(store, tenant, MONDAY, JUNE) == ["Ana: The depot opens.", "Ana: No time was noted."]
    assert visible(store, tenant, MONDAY + HOUR, JUNE)[1] == "李雷: 六点出发。"
    assert len(visible(store, tenant, MONDAY + 2 * HOUR, JUNE)) == 4
    assert visible(store, tenant, MONDAY + HOUR - 1, JUNE, "window") == []
    assert len(visible(store, tenant, MONDAY + 2 * HOUR, JUNE, "window")) >= 1


def test_an_edge_is_true_since_both_its_ends_are(store: Store) -> None:
    """M1: so that no edge leads to what was not said yet."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    writer.write_documents(tenant, [conversation_of(TURNS)])
    assert dangling(store, tenant) == 0


def test_a_conversation_that_goes_on_keeps_its_turns(store: Store) -> None:
    """M2: what was said is not written again; its validity stays as stated."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(tenant, [conversation_of(TURNS)])
    clock.time += DAY
    more = [*TURNS, {"speaker": "Ana", "text": "Good night.", "time": MONDAY + 3 * HOUR}]
    done = writer.write_documents(tenant, [conversation_of(more)]).sources[0]
    assert done.outcome == "updated"
    assert done.nodes_kept >= len(TURNS) + 1  # the turns and the conversation
    assert len(visible(store, tenant, MONDAY + 3 * HOUR, clock.time)) == 5
    assert len(visible(store, tenant, MONDAY + 3 * HOUR, JUNE)) == 4
    assert writer.write_documents(tenant, [conversation_of(more)]).sources[0].outcome == "unchanged"
    assert dangling(store, tenant) == 0


def test_a_corrected_turn_takes_the_place_of_what_was_noted(store: Store) -> None:
    """M1: as noted then and as known now are two answers."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(tenant, [conversation_of(TURNS)])
    clock.time += DAY
    corrected = [*TURNS[:3], {"speaker": "Ana", "text": "It closes.", "time": MONDAY + 5 * HOUR}]
    writer.write_documents(tenant, [conversation_of(corrected)])
    assert len(visible(store, tenant, MONDAY + 2 * HOUR, clock.time)) == 3
    assert len(visible(store, tenant, MONDAY + 5 * HOUR, clock.time)) == 4
    assert len(visible(store, tenant, MONDAY + 2 * HOUR, JUNE)) == 4

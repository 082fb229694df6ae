"""M8: the outcome of a write under its idempotency key, on the store."""

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from memory_builders import HandClock, a_document, a_tenant, a_writer, rows_of, uid
from telha_planner.core.errors import IdempotencyKeyReused, NotFound, RequestInvalid
from telha_planner.memory.idempotency import DEFAULT_KEEP_US, MOST_PRUNED, key_of
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord
from telha_planner.memory.store import Store
from telha_planner.memory.tables import idempotency as table
from telha_planner.memory.writes import Writer

KEY = key_of("order-7", None, "Ingest", b"a")
OTHER = key_of("order-7", None, "Ingest", b"b")


def _writes() -> dict[str, Callable[[Writer, int, Any], Any]]:
    document = a_document("a", ["alpha one", "beta two"])
    nodes = [NodeRecord(uid("n"), "main", "fact", "{}"), NodeRecord(uid("m"), "main", "fact", "{}")]
    edge = EdgeRecord(uid("e"), uid("n"), uid("m"), "near")
    question = ClarificationRecord(uid("c"), uid("n"), "pending", "?")
    return {
        "documents": lambda writer, tenant, key: writer.write_documents(tenant, [document], key=key),
        "nodes": lambda writer, tenant, key: writer.put_nodes(tenant, nodes, key=key),
        "edges": lambda writer, tenant, key: writer.put_edges(tenant, [edge], key=key),
        "clarifications": lambda writer, tenant, key: writer.put_clarifications(tenant, [question], key=key),
        "erasure": lambda writer, tenant, key: writer.erase_source(tenant, document.source_id, key=key),
    }


@pytest.mark.parametrize("kind", _writes())
def test_a_write_is_carried_out_once(store: Store, kind: str) -> None:
    """M8: the same call again is answered as it was and writes nothing, whatever came in between."""
    tenant, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writes = _writes()
    for name, write in writes.items():
        if name == kind:
            break
        write(writer, tenant, None)
    first = writes[kind](writer, tenant, KEY)
    assert not first.replayed
    clock.time += 1000
    writer.write_documents(tenant, [a_document("later", ["gamma"])])
    before = rows_of(store, tenant)
    again = writes[kind](writer, tenant, KEY)
    assert again.replayed
    assert (again.tx, rows_of(store, tenant)) == (first.tx, before)
    for name in ("sources", "versions", "spans", "nodes", "source_id"):
        assert getattr(again, name, None) == getattr(first, name, None)
    with pytest.raises(IdempotencyKeyReused):
        writes[kind](writer, tenant, OTHER)
    assert rows_of(store, tenant) == before


def test_an_answer_without_news_is_kept_too(store: Store) -> None:
    """M8: "unchanged" is an answer like another: it is the one given again when the source has changed since."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    writer.write_documents(tenant, [a_document("a", ["alpha"])])
    first = writer.write_documents(tenant, [a_document("a", ["alpha"])], key=KEY)
    writer.write_documents(tenant, [a_document("a", ["beta"])])
    again = writer.write_documents(tenant, [a_document("a", ["alpha"])], key=KEY)
    assert [first.sources[0].outcome, again.sources[0].outcome] == ["unchanged", "unchanged"]
    assert (again.replayed, again.tx) == (True, first.tx)


def test_a_failing_call_stores_nothing(store: Store) -> None:
    """M8: a refused call may be mended and sent again under its key."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    document = a_document("a", ["alpha"])
    with pytest.raises(RequestInvalid):
        writer.write_documents(tenant, [document, document], key=KEY)
    with pytest.raises(NotFound):
        writer.erase_source(tenant, uid("absent"), key=KEY)
    assert rows_of(store, tenant)["idempotency"] == []
    assert not writer.write_documents(tenant, [document], key=OTHER).replayed


def test_keys_belong_to_tenant_and_spaces(store: Store) -> None:
    """M8, A6, M7: one caller's key says nothing to a caller of another tenant or of other spaces."""
    tenant, _ = a_tenant(store)
    beta, _ = a_tenant(store, "beta")
    writer, _ = a_writer(store)
    writer.write_documents(tenant, [a_document("a", ["alpha"])], key=KEY)
    assert not writer.write_documents(beta, [a_document("a", ["alpha"])], key=KEY).replayed
    scopes = [None, ("a",), ("a", "b"), ("a,b",), ("*",), ()]
    keys = [key_of("order-7", spaces, "Ingest", b"a") for spaces in scopes]
    assert len({key.key for key in keys}) == len(scopes)
    assert keys[0] == KEY
    for key in keys[1:]:
        assert not writer.write_documents(tenant, [a_document("a", ["alpha"])], key=key).replayed


def test_a_key_is_free_again_after_its_time_and_pruning_is_bounded(store: Store) -> None:
    """M8: answers are kept for the time that is configured; a write removes a bounded number of older ones."""
    tenant, _ = a_tenant(store)
    clock = HandClock()
    writer = Writer(store, clock)
    document = a_document("a", ["alpha"])
    old = [key_of(f"old-{number}", None, "Ingest", b"") for number in range(MOST_PRUNED + 5)]
    for key in old:
        writer.write_documents(tenant, [document], key=key)
    clock.time += DEFAULT_KEEP_US - 1
    assert writer.write_documents(tenant, [document], key=old[0]).replayed
    clock.time += 1
    changed = key_of("old-0", None, "Ingest", b"something else")
    assert not writer.write_documents(tenant, [document], key=changed).replayed
    assert len(rows_of(store, tenant)["idempotency"]) == 1 + len(old) - MOST_PRUNED
    assert not writer.write_documents(tenant, [document], key=KEY).replayed
    assert len(rows_of(store, tenant)["idempotency"]) == 2


def test_a_stored_answer_tells_no_content(store: Store) -> None:
    """M5, M8: a row holds ids and counts; without the caller's key it does not confirm a guess at the request."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    writer.write_documents(tenant, [a_document("a", ["tell-tale text"])], key=KEY)
    with store.reading(tenant) as connection:
        row = connection.execute(sa.select(table)).one()
    stored = repr(tuple(row))
    assert "tell-tale" not in stored
    assert "order-7" not in stored
    assert key_of("order-8", None, "Ingest", b"a").request_hash != KEY.request_hash == row.request_hash


def test_a_replay_is_found_before_a_document_is_parsed(store: Store) -> None:
    """M8: `replay` reads what `write_documents` stored, and refuses a reused key."""
    tenant, _ = a_tenant(store)
    writer, _ = a_writer(store)
    assert writer.replay(tenant, None) is None
    assert writer.replay(tenant, KEY) is None
    done = writer.write_documents(tenant, [a_document("a", ["alpha"])], key=KEY)
    found = writer.replay(tenant, KEY)
    assert found is not None
    assert (found.replayed, found.tx, found.sources) == (True, done.tx, done.sources)
    with pytest.raises(IdempotencyKeyReused):
        writer.replay(tenant, OTHER)

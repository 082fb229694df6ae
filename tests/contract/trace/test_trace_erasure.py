"""One trace is erased, on each engine: its row, its spaces and its dead letters go, and it stays away."""

from uuid import uuid4

from telha_trace_writer import letters
from telha_trace_writer.store import Buried, Inserted, Store
from trace_stores import T, a_row, ids


def test_an_erased_trace_is_gone_and_stays_away(store: Store) -> None:
    """X1: its question with it; what is delivered once more is dropped, and its planner told that it is settled."""
    row, other, foreign = a_row(1), a_row(2), a_row(3, "rival")
    store.insert([row, other, foreign])
    store.bury([Buried("1-0", "acme", row.trace_id, T, T, "delivered too often", b"\x80")])
    assert store.erase("acme", row.trace_id)
    assert store.fetch("acme", row.trace_id) is None
    assert ids(store) == ids(store, space="main") == [other.trace_id]
    assert list(letters.with_content(store)) == []
    assert store.insert([row, other]) == Inserted(0, 1, 1)
    assert store.is_gone(row)
    assert store.fetch("acme", row.trace_id) is None
    assert store.persisted([row.trace_id]) == [row.trace_id]
    assert store.bury([Buried("2-0", "acme", row.trace_id, T, T, "r", b"\x80")]) == []
    assert not store.erase("acme", row.trace_id), "what is gone is gone"


def test_a_trace_that_is_on_its_way_is_not_stored_any_more(store: Store) -> None:
    """X1: erased before it came: it never gets there, and no other of its tenant is touched."""
    row, other = a_row(1), a_row(2)
    assert not store.erase("acme", row.trace_id)
    assert store.insert([row, other]) == Inserted(1, 0, 1)
    assert ids(store) == [other.trace_id]


def test_only_the_trace_of_its_tenant_goes(store: Store) -> None:
    """A6: the same id in another tenant is another trace."""
    trace_id = str(uuid4())
    mine, theirs = (a_row(1, tenant, trace_id=trace_id) for tenant in ("acme", "rival"))
    store.insert([mine, theirs])
    store.erase("rival", trace_id)
    assert store.fetch("acme", trace_id) == mine
    assert store.fetch("rival", trace_id) is None
    assert store.insert([mine, theirs]) == Inserted(0, 1, 1)

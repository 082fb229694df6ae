"""Deletion of a tenant's traces: what goes, what stays, what arrives late."""

from uuid import uuid4

from telha_trace_writer import letters
from telha_trace_writer.store import Buried, Deletion, Inserted, Store
from trace_stores import T, a_row, ids


def a_letter(number: int, tenant: str, trace_id: str | None = None) -> Buried:
    return Buried(f"{number}-0", tenant, trace_id, T + number, T + number + 5, "poison", b"\x80")


def test_a_deletion_takes_what_was_recorded_until_then_and_nothing_else(store: Store) -> None:
    """M5: traces and dead letters of the tenant up to the instant go, those of others and later ones stay."""
    rows = [a_row(number, spaces=["a", "b"]) for number in range(5)]
    other = a_row(1, "rival")
    store.insert([*rows, other])
    buried = [
        a_letter(1, "acme", str(uuid4())),
        a_letter(9, "acme", str(uuid4())),
        a_letter(1, "rival"),
        a_letter(2, ""),
    ]
    store.bury(buried)
    assert store.delete_tenant("acme", T + 2) == Deletion(3, 1, 0)
    assert ids(store) == [rows[4].trace_id, rows[3].trace_id]
    assert ids(store, space="a") == [rows[4].trace_id, rows[3].trace_id]
    assert store.fetch("acme", rows[2].trace_id) is None
    assert ids(store, "rival") == [other.trace_id]
    assert [letter.entry_id for letter in letters.listed(store)] == ["1-0", "2-0", "9-0"]
    assert store.is_gone(a_row(2))
    assert not store.is_gone(a_row(3))
    assert not store.is_gone(a_row(2, "rival"))


def test_what_arrives_late_is_dropped_counted_and_settled(store: Store) -> None:
    """M5, X2: a record made before its tenant's deletion never comes back, and its planner stops sending it."""
    stored, late, later = a_row(1), a_row(2), a_row(3)
    store.insert([stored])
    store.delete_tenant("acme", T + 2)
    assert store.insert([stored, late, later, a_row(1, "rival")]) == Inserted(2, 0, 2)
    assert store.insert([late]) == Inserted(0, 0, 1)
    lost = str(uuid4())
    assert store.bury([a_letter(1, "acme", lost), a_letter(8, "acme")]) == [a_letter(8, "acme")]
    assert ids(store) == [later.trace_id]
    asked = [stored.trace_id, late.trace_id, later.trace_id, lost, str(uuid4())]
    assert set(store.persisted(asked)) == set(asked[:4])
    assert store.delete_tenant("acme", T + 2) == Deletion(1, 0, 3)


def test_deleting_again_tells_the_same_and_a_later_deletion_reaches_further(store: Store) -> None:
    """M5: idempotent by tenant and instant."""
    store.insert([a_row(number) for number in range(4)])
    assert store.delete_tenant("acme", T) == Deletion(1, 0, 0)
    assert store.delete_tenant("acme", T) == Deletion(1, 0, 0)
    assert store.delete_tenant("acme", T + 3) == Deletion(3, 0, 0)
    assert store.delete_tenant("acme", T) == Deletion(1, 0, 0)
    assert store.insert([a_row(3)]) == Inserted(0, 0, 1)
    assert store.delete_tenant("nobody", T) == Deletion(0, 0, 0)

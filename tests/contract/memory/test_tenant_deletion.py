"""Deletion of a tenant: every table, every byte, and a number that never comes back."""

import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from memory_builders import DAY, JUNE, a_document, a_tenant, a_writer, opened, rows_of
from telha_planner.core.errors import NotFound, RequestInvalid
from telha_planner.memory import directory as directories
from telha_planner.memory import erasure_tenant, keys, tables, tenants
from telha_planner.memory.float_vector import FloatVector
from telha_planner.memory.store import Store

SECRET = "zanzibarquokka"
TENANT = "tenant"


def _value(column: sa.Column[Any], number: int) -> Any:
    if column.name == TENANT:
        return number
    if isinstance(column.type, FloatVector):
        return b"\x00\x00\x80?"
    kind = column.type.python_type
    if kind is bytes:
        return SECRET.encode() + number.to_bytes(2, "big")
    if kind is str:
        return f"{SECRET}{number}"
    return 1


def _fill(store: Store, number: int) -> dict[str, int]:
    """One row of the tenant in every table that has none yet; how many rows it has in each."""
    counts = {}
    with store.writing(number) as connection:
        for table in tables.metadata.sorted_tables:
            here = sa.select(sa.func.count()).select_from(table).where(table.c[TENANT] == number)
            if table not in erasure_tenant.KEPT:
                if not connection.execute(here).scalar_one():
                    row = {column.name: _value(column, number) for column in table.columns}
                    connection.execute(sa.insert(table).values(row))
                counts[table.name] = connection.execute(here).scalar_one()
    return counts


def _delete(store: Store, number: int) -> Any:
    writer, _ = a_writer(store)
    return writer.delete_tenant(number, uuid.uuid4().bytes)


def test_no_table_is_forgotten(store: Store) -> None:
    """M5: every table of the schema that knows tenants is emptied of this one, and of no other."""
    assert all(TENANT in table.c for table in tables.metadata.sorted_tables)
    one, _ = a_tenant(store)
    other, _ = a_tenant(store, "beta")
    counts, theirs = _fill(store, one), _fill(store, other)
    assert set(counts) == {table.name for table in tables.metadata.sorted_tables} - {"deleted_tenant"}
    assert min(counts.values()) >= 1
    before = rows_of(store, other)
    receipt = _delete(store, one)
    assert receipt.rows == sum(counts.values())
    assert receipt.keys == counts["api_key"]
    assert (receipt.removed.sources, receipt.removed.vectors) == (counts["source"], counts[tables.vector.name])
    with store.reading(one) as connection:
        left = {
            table.name: connection.execute(
                sa.select(sa.func.count()).select_from(table).where(table.c[TENANT] == one)
            ).scalar_one()
            for table in tables.metadata.sorted_tables
        }
    assert left == dict.fromkeys(left, 0) | {"deleted_tenant": 1}
    assert rows_of(store, other) == before
    assert _fill(store, other) == theirs


def test_the_files_hold_no_byte_of_it(tmp_path: Path) -> None:
    """M5: neither the database nor its log keep what was deleted, while the store stays open."""
    store = opened(tmp_path / "live")
    number, _ = a_tenant(store)
    writer, clock = a_writer(store)
    writer.write_documents(number, [a_document("private", [f"para{n} {SECRET} {'x' * 200}" for n in range(60)])])
    clock.time += DAY
    writer.write_documents(number, [a_document("private", [f"{SECRET} alone"])])
    _fill(store, number)
    assert any(SECRET.encode() in file.read_bytes() for file in (tmp_path / "live").iterdir())
    _delete(store, number)
    shutil.copytree(tmp_path / "live", tmp_path / "copy")
    for file in (tmp_path / "copy").iterdir():
        assert SECRET.encode() not in file.read_bytes(), file.name
    store.close()


def test_a_number_is_never_given_out_again(store: Store) -> None:
    """M5: whatever somebody still holds under a number can never be another tenant's."""
    numbers = [a_tenant(store, name)[0] for name in ("a", "b", "c")]
    for number in reversed(numbers):
        _delete(store, number)
    more = [a_tenant(store, name)[0] for name in ("d", "e")]
    assert len({*numbers, *more}) == 5
    assert min(more) > max(numbers)


def test_keys_of_a_deleted_tenant_do_not_hold(store: Store) -> None:
    """M5, A6: at once, and writes find no tenant."""
    number, key = a_tenant(store)
    receipt = _delete(store, number)
    with store.reading() as connection:
        assert keys.authenticate(connection, key, lambda: JUNE) is None
    writer, _ = a_writer(store)
    with pytest.raises(NotFound, match="tenant"):
        writer.write_documents(number, [a_document("late", ["late words"])])
    with pytest.raises(NotFound, match="tenant"):
        _delete(store, number)
    assert receipt.name == "acme"


def test_a_receipt_is_kept_and_finished_once(store: Store) -> None:
    """M5: it can be read again, and says when the traces are gone."""
    directory = directories.Directory(store, lambda: JUNE)
    receipts = [_delete(store, a_tenant(store, name)[0]) for name in ("a", "b", "c")]
    assert directory.deletion(receipts[1].deletion_id) == receipts[1]
    assert directory.deletions(0, 2) == receipts[:2]
    assert directory.deletions(receipts[1].number, 9) == receipts[2:]
    assert directory.unfinished(JUNE + 1) == receipts
    finished = directory.traces_gone(receipts[0], 7)
    assert (finished.traces, finished.rows) == (7, receipts[0].rows)
    assert directory.traces_gone(receipts[0], 0) == finished
    assert directory.unfinished(JUNE + 1) == receipts[1:]
    assert directory.unfinished(JUNE) == [finished, *receipts[1:]]
    with pytest.raises(NotFound, match="deletion"):
        directory.deletion(bytes(16))


def test_a_name_rests_until_its_traces_are_gone(store: Store) -> None:
    """M5, A6: traces are kept by name, so the next tenant of a name must not find the last one's."""
    number, _ = a_tenant(store)
    receipt = _delete(store, number)

    def again(now: int) -> tuple[str, str]:
        return keys.create(store, "acme", name="k", rights=["read"], spaces=None, now=lambda: now, create_tenant=True)

    later = JUNE + tenants.NAME_RESTS_US
    for now in (JUNE, later + DAY):
        with pytest.raises(RequestInvalid, match="tenant is the name of a deleted tenant"):
            again(now)
    directories.Directory(store, lambda: JUNE).traces_gone(receipt, 0)
    with pytest.raises(RequestInvalid, match="a minute"):
        again(later - 1)
    key, _ = again(later)
    with store.reading() as connection:
        found = keys.authenticate(connection, key, lambda: later)
    assert found is not None
    assert found[0].tenant > number

"""What every trace store promises, whichever engine is under it."""

import asyncio
import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import msgpack
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from fixtures.valkey import ValkeyServer
from telha_runtime import frame, redis
from telha_runtime.frame import Frame
from telha_trace_writer import deadletter, letters, migrations, tables
from telha_trace_writer.opening import open_store
from telha_trace_writer.record import RecordMalformed, row_of
from telha_trace_writer.store import Buried, Deletion, Inserted, Store, StoreFailed
from telha_trace_writer.stream import Stream
from trace_path import STREAM, a_record, an_entry
from trace_stores import T, a_row, a_uuid7, ids


def test_the_migrations_make_exactly_the_schema(store: Store) -> None:
    """M6: one schema; the scripts and the tables agree."""
    with store.transaction() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": migrations.VERSION_TABLE})
        assert compare_metadata(context, tables.metadata) == []
    scripts = ScriptDirectory.from_config(migrations._configuration())
    assert scripts.get_heads() == [migrations.HEAD]


def test_every_key_begins_with_the_tenant() -> None:
    """M6: so that Citus can distribute every table."""
    for table in tables.metadata.sorted_tables:
        # Planners' spools are of no tenant.
        assert table is tables.trace_spool or next(iter(table.primary_key.columns)).name == "tenant"


def test_a_trace_is_there_once_however_often_it_is_inserted(store: Store) -> None:
    """X2: by tenant and id; the first stays."""
    first = a_row(1, spaces=["a", "b", "a"])
    again = a_row(2, trace_id=first.trace_id, kind="plan")
    assert store.insert([first, a_row(3)]) == Inserted(2, 0, 0)
    assert store.insert([again, a_row(4), first]) == Inserted(1, 2, 0)
    assert store.fetch("acme", first.trace_id) == first
    assert store.fetch("rival", first.trace_id) is None
    assert store.insert([a_row(5, "rival", first.trace_id)]) == Inserted(1, 0, 0)
    assert store.insert([]) == Inserted(0, 0, 0)


def test_writers_that_insert_the_same_at_once_leave_one(place: str, store: Store) -> None:
    """X2: several writers on one store, each given overlapping batches in an order of its own, never block for ever."""
    rows = [a_row(number, ("acme", "rival")[number % 2], spaces=["a", "b"]) for number in range(120)]
    stores = [open_store(place, 20_000) for _ in range(3)]
    gate = threading.Barrier(len(stores))

    def insert(number: int) -> int:
        mine, total = rows[number * 20 :] + rows[: number * 20], 0
        gate.wait()
        for start in range(0, len(mine), 15):
            total += stores[number].insert(mine[start : start + 15][:: 1 if number % 2 else -1]).stored
        return total

    with ThreadPoolExecutor() as pool:
        assert sum(pool.map(insert, range(len(stores)))) == len(rows)
    for one in stores:
        one.close()
    listed = [*ids(store), *ids(store, "rival")]
    assert sorted(listed) == sorted(row.trace_id for row in rows)
    assert sorted(ids(store, space="b")) == sorted(row.trace_id for row in rows if row.tenant == "acme")


def test_a_deletion_and_inserts_at_once_leave_nothing_of_before(place: str, store: Store) -> None:
    """M5: whichever comes first, a record of before the deletion is deleted or dropped."""
    other = open_store(place, 20_000)
    stop = threading.Event()
    sent = []

    def insert() -> None:
        for number in itertools.count():
            if stop.is_set():
                return
            sent.append(a_row(number % 7))
            other.insert(sent[-1:])

    inserting = threading.Thread(target=insert)
    inserting.start()
    while len(sent) < 20:
        time.sleep(0.001)
    deletion = store.delete_tenant("acme", T + 10)
    stop.set()
    inserting.join()
    other.close()
    assert ids(store) == []
    deletion = store.delete_tenant("acme", T + 10)
    assert deletion.traces + deletion.dropped == len(sent)
    assert deletion.traces >= 19


def test_a_record_that_no_store_can_keep_is_malformed(store: Store) -> None:
    """X2: what PostgreSQL would refuse for ever is a dead letter on every engine, and never blocks a batch."""
    for changes in ({"kind": "a\0b"}, {"kind": "k" * 513}, {"kind": "語" * 171}):
        with pytest.raises(RecordMalformed, match="kind is longer than 512 bytes, empty, or holds"):
            a_row(**changes)
    with pytest.raises(RecordMalformed, match="tenant is longer than"):
        a_row(tenant="x\0")
    odd = a_row(1, key_id="k\0", plan_hash="\0", spaces=["a", "b\0"])
    assert (odd.key_id, odd.plan_hash, odd.spaces) == (None, None, None)
    longest = a_row(2, tenant="t" * 512, kind="k" * 512, key_id="i" * 512, spaces=["語" * 170, "𝔘" * 128])
    request = {"question": "nul \0 stays", "n": "x" * 200_000}
    plain = a_row(3, request=request)
    assert store.insert([odd, longest, plain]) == Inserted(3, 0, 0)
    assert ids(store, longest.tenant, space="𝔘" * 128) == [longest.trace_id]
    assert store.fetch("acme", plain.trace_id) == plain


def test_dead_letters_are_kept_once_and_told_in_their_order(store: Store) -> None:
    """X2: with tenant and time as far as their frames tell."""
    known = a_uuid7(T)
    buried = [
        Buried("1790000000000-10", "acme", known, T, T, "a", b"1"),
        Buried("1790000000000-9", "", None, T, T, "b", b"2"),
        Buried("999-0", "acme", str(uuid4()), T, T, "c", b"3"),
    ]
    assert store.bury(buried) == sorted(buried, key=lambda letter: (letter.tenant, letter.entry_id))
    store.bury(buried)
    assert [letter.reason for letter in letters.listed(store)] == ["c", "b", "a"]
    assert store.persisted([known]) == [known]


def test_the_dead_letters_of_a_stream_go_with_their_tenant(store: Store, valkey_server: ValkeyServer) -> None:
    """M5, X2: the announced ones too, by the time their trace ids carry; what tells no tenant stays."""
    now = 1_790_000_000_000_000

    async def test() -> None:
        client = redis.connect(valkey_server.url)
        stream = Stream(client, STREAM, "writer", "me")
        for tenant, when in (("acme", now), ("acme", now + 9_000_000), ("rival", now)):
            await client.xadd(stream.dead_key, an_entry(a_uuid7(when), tenant) | {b"reason": b"r"})
        await client.xadd(stream.dead_key, {b"other": b"x"})
        for _ in range(300):
            await client.xadd(stream.dead_key, an_entry(a_uuid7(now), "acme"))
        assert await deadletter.forget(stream, "acme", now + 1_000_000) == 301
        assert await client.xlen(stream.dead_key) == 3
        await client.aclose()

    asyncio.run(test())


def test_the_origin_of_an_entry_is_told_as_far_as_it_can_be() -> None:
    """M5: tenant, id and time from the frame; the time of an id without one is the entry's."""
    seven, four = a_uuid7(T), str(uuid4())
    assert deadletter.origin(an_entry(seven), 5) == ("acme", seven, T // 1000 * 1000)
    assert deadletter.origin(an_entry(four), 5) == ("acme", four, 5)
    assert deadletter.origin({b"f": b"\xc1"}, 5) == ("", None, 5)
    odd = {frame.FIELD: frame.encode(Frame("s", 1, four, "a\0", b""))}
    assert deadletter.origin(odd, 5) == ("", four, 5)


def test_deleted_bytes_are_nowhere_in_the_files(tmp_path: Path) -> None:
    """M5: after a deletion no file of the store holds what was recorded, its dead letters included."""
    marker = b"zebra-in-the-question"
    opened = open_store(tmp_path / "traces.db", 1000)
    kept = a_row(1, "rival")
    large = a_row(1, request={"question": marker.decode() * 5000}, spaces=[marker.decode()])
    opened.insert([large, *(a_row(number, request={"question": marker.decode()}) for number in range(200)), kept])
    fields = msgpack.packb(an_entry("0199a3f2-7c1e-7d7b-9a53-000000000001", request={"q": marker.decode()}))
    opened.bury([Buried("1-0", "acme", str(uuid4()), T, T, "poison", fields)])
    assert holding(tmp_path, marker)
    assert opened.delete_tenant("acme", T + 1000) == Deletion(201, 1, 0)
    assert not holding(tmp_path, marker)
    assert opened.fetch("rival", kept.trace_id) == kept
    opened.close()


def holding(folder: Path, marker: bytes) -> list[str]:
    return [path.name for path in folder.iterdir() if marker in path.read_bytes()]


def test_values_are_in_no_message(store: Store) -> None:
    """A8: what a driver quotes of a record does not enter an error that may be logged."""
    with pytest.raises(StoreFailed, match=r"(?i)unique") as caught:
        insert_twice(store)
    assert "canary" not in str(caught.value)


def insert_twice(store: Store) -> None:
    statement = sa.insert(tables.trace_dropped).values(tenant="canary", trace_id=b"1")
    with store.transaction(writes=True) as connection:
        connection.execute(statement)
        connection.execute(statement)


def test_a_row_is_read_back_as_it_was_written(store: Store) -> None:
    """X1, X4: the record byte for byte, and each column at its bounds."""
    ends = 2**63 - 1
    budget = {"requested": ends, "applied": ends, "used": 0, "stranded": ends}
    rows = [
        a_row(recorded_us=-ends - 1, budget=budget, spaces=["株式会社", "👩‍👩‍👧", "שלום"]),
        a_row(recorded_us=ends, spaces=None, plan_hash=None, key_id=None, item_coords=[]),
        a_row(spaces=[], kind="select"),
    ]
    store.insert(rows)
    for row in rows:
        assert store.fetch("acme", row.trace_id) == row
    assert ids(store) == [rows[1].trace_id, rows[2].trace_id, rows[0].trace_id]
    trace_id = str(uuid4())
    assert row_of(Frame("s", 1, trace_id, "acme", a_record(trace_id))).key_id == "abcdefghijkl"

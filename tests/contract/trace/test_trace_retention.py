"""Retention on each engine: the oldest go, in order, in small steps, and stay away; space comes back."""

import asyncio
import sqlite3
from pathlib import Path
from uuid import uuid4

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from telha_trace_writer import ageing, letters, sqlite
from telha_trace_writer.opening import open_store
from telha_trace_writer.retention import Retention
from telha_trace_writer.store import Buried, Inserted, Store
from trace_path import until
from trace_stores import T, a_row, a_uuid7, ids

DAY = 86_400_000_000


def sweep(store: Store, days: int = 0, max_mb: int = 0, now_us: int = T) -> int:
    async def once() -> int:
        return await Retention(store, days, max_mb, lambda: now_us).sweep(asyncio.Event())

    return asyncio.run(once())


def test_traces_go_by_age_and_do_not_come_back(store: Store) -> None:
    """A9: older than so many days, of every tenant; what is delivered once more is dropped, and its planner told so."""
    old = [a_row(-DAY - number, tenant) for tenant in ("acme", "rival") for number in (1, 2, 3)]
    young = [a_row(-DAY + number, tenant) for tenant in ("acme", "rival") for number in (0, 1)]
    store.insert([*old, *young])
    store.bury([Buried("1-0", "acme", str(uuid4()), T - DAY - 1, T, "r", b"\x80")])
    store.bury([Buried("2-0", "acme", str(uuid4()), T, T, "r", b"\x80")])
    assert sweep(store, days=1) == 6
    assert ids(store) == [young[1].trace_id, young[0].trace_id]
    assert store.fetch("acme", old[0].trace_id) is None
    assert ids(store, space="main") == ids(store)
    assert [letter.entry_id for letter in letters.listed(store)] == ["2-0"]
    assert store.insert([old[0], young[0], a_row(5)]) == Inserted(1, 1, 1)
    assert store.fetch("acme", old[0].trace_id) is None
    assert store.is_gone(old[0])
    assert store.persisted([old[0].trace_id]) == [old[0].trace_id]
    assert sweep(store, days=1) == 0


def test_ids_of_late_ones_go_at_last(store: Store) -> None:
    """A9: what says "do not send this again" is not kept for ever."""
    old = a_uuid7(T - 20 * DAY)
    store.insert([a_row(-20 * DAY + 1)])
    sweep(store, days=10)
    store.insert([a_row(-20 * DAY, trace_id=old)])
    assert store.persisted([old]) == [old]
    sweep(store, days=10)
    assert store.persisted([old]) == []


def test_traces_go_by_size_oldest_first(store: Store) -> None:
    """A9: as few as bring the records below the bound, over all tenants, and the same ones whoever does it."""
    filler = "x" * 100_000
    rows = [a_row(number, f"tenant{number % 3}", request={"question": filler}) for number in range(25)]
    store.insert(rows[::-1])
    assert ageing.volume(store) == sum(len(row.record) for row in rows)
    gone = sweep(store, max_mb=1)
    kept = [row for row in rows if store.fetch(row.tenant, row.trace_id) is not None]
    assert kept == rows[gone:]
    assert sum(len(row.record) for row in kept) <= 1 << 20 < sum(len(row.record) for row in rows[gone - 1 :])
    assert sweep(store, max_mb=1) == 0


def test_a_record_of_a_late_clock_is_not_the_first_to_go(store: Store) -> None:
    """A9: what has just arrived is stored, whatever its planner's clock says, and goes when its turn comes."""
    filler = {"question": "x" * 100_000}
    rows = [a_row(number, request=filler) for number in range(25)]
    store.insert(rows)
    assert sweep(store, max_mb=1) > 10
    late = a_row(-DAY, request=filler)
    assert store.insert([late]) == Inserted(1, 0, 0)
    assert sweep(store, max_mb=1) == 1
    assert store.fetch("acme", late.trace_id) is not None
    assert not store.is_gone(a_row(-2 * DAY))
    for number in range(100, 111):
        store.insert([a_row(number, request=filler)])
    sweep(store, max_mb=1)
    assert store.fetch("acme", late.trace_id) is None


def test_what_went_by_size_stays_away(store: Store) -> None:
    """A9: each by its id, as long as a planner may send it again; a settled id is told as such."""
    rows = [a_row(number, trace_id=a_uuid7(T + number), request={"question": "x" * 100_000}) for number in range(12)]
    store.insert(rows)
    gone = rows[: sweep(store, max_mb=1)]
    assert gone
    assert store.insert(rows) == Inserted(0, len(rows) - len(gone), len(gone))
    assert set(store.persisted([row.trace_id for row in rows])) == {row.trace_id for row in rows}
    assert all(store.is_gone(row) for row in gone)
    store.insert([a_row(50, request={"question": "x" * 1_000_000})])
    assert sweep(store, max_mb=1, now_us=T + 40 * DAY)
    assert store.persisted([gone[0].trace_id]) == []


def test_what_arrives_now_is_never_older_than_what_is_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A9: also when the writer's own clock is set back."""
    filler = {"question": "x" * 600_000}
    for instant in (2_000_000, 1_000_000):
        monkeypatch.setattr("telha_trace_writer.store.time.time_ns", lambda instant=instant: instant * 1000)
        row = a_row(2_000_000 - instant, request=filler)
        store.insert([row])
    assert sweep(store, max_mb=1) == 1
    assert ids(store) == [row.trace_id]


def test_nothing_is_removed_where_no_bound_is_set(store: Store) -> None:
    """A9: 0 keeps all."""
    store.insert([a_row(-(10**15))])
    assert sweep(store) == 0
    stop = asyncio.Event()
    asyncio.run(asyncio.wait_for(Retention(store, 0, 0, lambda: T).run(stop), 5))
    assert len(ids(store)) == 1


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ages=st.lists(st.tuples(st.integers(0, 9), st.sampled_from("ab")), max_size=30),
    step=st.integers(1, 7),
    bound=st.integers(0, 10),
)
def test_steps_of_any_size_remove_the_same(store: Store, ages: list[tuple[int, str]], step: int, bound: int) -> None:
    """A9: deterministic: what is kept depends on the bound alone, ties of one instant included."""
    with store.transaction(writes=True) as connection:
        for table in ("trace", "trace_space", "trace_retention", "trace_dropped"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    rows = [a_row(age, tenant) for age, tenant in ages]
    store.insert(rows)
    while ageing.remove_before(store, T + bound, step).traces:
        pass
    kept = {row.trace_id for tenant in "ab" for row in rows if store.fetch(tenant, row.trace_id)}
    assert kept == {row.trace_id for row in rows if row.recorded_us >= T + bound}
    assert store.insert(rows) == Inserted(0, len(kept), len(rows) - len(kept))


def test_a_removal_and_inserts_at_once_bring_nothing_back(store: Store) -> None:
    """A9: a record that is delivered again while it is removed is removed or dropped, never kept."""
    rows = [a_row(number) for number in range(300)]
    store.insert(rows)

    async def both() -> None:
        removing = asyncio.create_task(asyncio.to_thread(remove))
        for start in range(0, 300, 10):
            await asyncio.to_thread(store.insert, rows[start : start + 10])
        await removing

    def remove() -> None:
        while ageing.remove_before(store, T + 300, 20).traces:
            pass

    asyncio.run(both())
    assert ids(store) == []


@pytest.mark.parametrize("made_before", [False, True])
def test_a_sqlite_file_really_gets_smaller(tmp_path: Path, made_before: bool) -> None:
    """A9: also one that was made before files could."""
    path = tmp_path / "traces.db"
    store = open_store(path, 1000)
    if made_before:
        with store._backend._cursor() as cursor:  # type: ignore[attr-defined]  # SQLite's
            cursor.execute("PRAGMA auto_vacuum = NONE")
            cursor.execute("VACUUM")
    store.insert([a_row(number - 2 * DAY, request={"question": "y" * 20_000}) for number in range(300)])
    store.insert([a_row(0)])
    store.free()
    before = path.stat().st_size
    assert before > 6_000_000

    async def retain() -> None:
        stop = asyncio.Event()
        retention = Retention(store, 1, 0, lambda: T)
        running = asyncio.create_task(retention.run(stop))
        await until(lambda: path.stat().st_size < before / 10, 30)
        stop.set()
        await running
        assert retention.removed == 300

    asyncio.run(retain())
    assert len(ids(store)) == 1
    store.close()


def test_space_is_freed_in_few_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A9: a step frees a thousand pages, not one, or freeing would take longer than removing."""
    store = open_store(tmp_path / "traces.db", 1000)
    store.insert([a_row(number, request={"question": "y" * 20_000}) for number in range(300)])
    ageing.remove_before(store, T + 300, 300)
    steps = []

    def counted(cursor: sqlite3.Cursor) -> int:
        steps.append(real(cursor))
        return steps[-1]

    real = sqlite._free
    monkeypatch.setattr(sqlite, "_free", counted)
    store.free()
    assert steps[0] > 1000
    assert (steps[-1], len(steps)) == (0, 3)
    store.close()

"""Listings: what a page shows is what a plain reading of the records says, in the same order on every engine."""

import dataclasses
import itertools
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from telha_trace_writer import listing
from telha_trace_writer.opening import open_store
from telha_trace_writer.record import Row
from telha_trace_writer.store import Filters, Store
from trace_stores import T, a_row, ids

SPACES = ["main", "agent-7", "会議室", "שלום", "👩‍👩‍👧", "Main", "a'; --"]
KEYS = ["keyoneaaaaaa", "keytwobbbbbb"]
USES = [(0, 0, 0), (100, 0, 0), (100, 7, 3), (100, 29, 0), (100, 57, 43), (100, 100, 0), (3, 1, 1), (3, 2, 0)]
"""Budget applied, used, stranded; shares whose product with the budget is not what was used."""
SHARES = [0.0, 0.07, 0.29, 1 / 3, 0.57, 2 / 3, 1.0]
_numbers = itertools.count()

rows_of = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["plan", "context", "select", "ホログラム"]),
        st.none() | st.lists(st.sampled_from(SPACES), max_size=3),
        st.sampled_from([*KEYS, None]),
        st.sampled_from(USES),
    ),
    max_size=25,
)
filters_of = st.builds(
    Filters,
    allowed=st.none() | st.sets(st.sampled_from(SPACES), min_size=1, max_size=3).map(tuple),
    key_id=st.none() | st.sampled_from(KEYS),
    kind=st.none() | st.sampled_from(["plan", "select"]),
    space=st.none() | st.sampled_from(SPACES),
    from_us=st.none() | st.integers(T, T + 3),
    to_us=st.none() | st.integers(T + 2, T + 6),
)
used_of = st.fixed_dictionaries(
    {
        "min_used_share": st.none() | st.sampled_from(SHARES),
        "max_used_share": st.none() | st.sampled_from(SHARES),
        "stranded": st.none() | st.booleans(),
    }
)


def shows(row: Row, filters: Filters) -> bool:
    """What docs and contract say, record by record."""
    read = None if row.spaces is None else set(row.spaces)
    if filters.allowed is not None:
        own = read == set() and filters.key_id is not None and row.key_id == filters.key_id
        if not own and (not read or not read <= set(filters.allowed)):
            return False
    return (
        (filters.space is None or read is None or filters.space in read)
        and (filters.kind is None or row.kind == filters.kind)
        and (filters.from_us is None or row.recorded_us >= filters.from_us)
        and (filters.to_us is None or row.recorded_us < filters.to_us)
        and (filters.min_used_share is None or share(row) >= filters.min_used_share)
        and (filters.max_used_share is None or share(row) <= filters.max_used_share)
        and filters.stranded in {None, row.stranded > 0}
    )


def share(row: Row) -> float:
    return row.used / row.budget if row.budget else 0.0


def pages(store: Store, tenant: str, filters: Filters, size: int) -> Iterator[list[Row]]:
    """All pages of a listing, going on where the last one ended or where it stopped looking."""
    before = None
    while True:
        rows, examined = store.page(tenant, filters, before, size)
        yield rows
        if not rows and examined is None:
            return
        before = examined or (rows[-1].recorded_us, rows[-1].trace_id)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=rows_of, filters=filters_of, used=st.none() | used_of, size=st.integers(1, 7), looked_at=st.integers(1, 9))
def test_pages_show_what_the_records_say(
    store: Store, made: list, filters: Filters, used: dict | None, size: int, looked_at: int
) -> None:
    """
    X4, X7, M7, A6: filters by time, kind, space and use of the budget; a limited key sees what read only its spaces.

    And its own. However few traces a page may look at, the pages together show each trace once.
    """
    tenant, filters = f"acme {next(_numbers)}", dataclasses.replace(filters, **(used or {}))
    rows = [
        a_row(
            at,
            tenant,
            kind=kind,
            spaces=read,
            key_id=key,
            budget=dict(zip(("applied", "used", "stranded"), use, strict=True)),
        )
        for at, kind, read, key, use in made
    ]
    store.insert([*rows, *(a_row(1, f"{tenant} too", spaces=read) for _, _, read, *_ in made)])
    expected = sorted(filter(lambda row: shows(row, filters), rows), key=lambda row: (row.recorded_us, row.trace_id))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(listing, "MOST_EXAMINED", looked_at)
        found = [*pages(store, tenant, filters, size)]
    assert max(map(len, found)) <= size
    listed = [row for page in found for row in page]
    assert listed == [dataclasses.replace(row, record=b"") for row in reversed(expected)]


def test_a_limited_key_lists_its_own_calls_that_read_no_memory(store: Store) -> None:
    """X4, M7: Select reads no space; its traces are its key's."""
    mine = a_row(1, kind="select", spaces=[], key_id="mine")
    theirs = a_row(2, kind="select", spaces=[], key_id="theirs")
    read = a_row(3, spaces=["a"], key_id="theirs")
    store.insert([mine, theirs, read])
    assert ids(store, allowed=("a",), key_id="mine") == [read.trace_id, mine.trace_id]
    assert ids(store, allowed=("a",), key_id="mine", space="a") == [read.trace_id]
    assert ids(store, allowed=("b",), key_id="theirs") == [theirs.trace_id]
    assert ids(store, allowed=("a",)) == [read.trace_id]
    assert ids(store) == [read.trace_id, theirs.trace_id, mine.trace_id]


@pytest.mark.parametrize(
    "filters",
    [
        Filters(),
        Filters(kind="plan"),
        Filters(space="main"),
        Filters(allowed=("main",), key_id="mine"),
        Filters(allowed=("main",), key_id="mine", kind="plan"),
    ],
)
def test_a_page_costs_what_it_shows(tmp_path, filters: Filters) -> None:
    """X4: every table is entered by an index, none is read through, and a listing by one index is not sorted."""
    store = open_store(tmp_path / "traces.db", 1000)
    statement = listing.page("acme", filters, (T, "0199a3f2-7c1e-7d7b-9a53-000000000001"), 50)
    with store.transaction() as connection:
        sql = statement.compile(connection, compile_kwargs={"render_postcompile": True})
        values = tuple(sql.params[name] for name in sql.positiontup)
        steps = [step[3] for step in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values)]
    store.close()
    of_tables = [step for step in steps if "trace" in step]
    assert of_tables
    assert all("SEARCH" in step for step in of_tables), steps
    if filters.allowed is None and filters.space is None:
        assert not any("TEMP B-TREE" in step for step in steps), steps


@pytest.mark.parametrize("kind", [None, "plan"])
def test_what_is_looked_at_stands_in_an_index(tmp_path, kind: str | None) -> None:
    """X7: a filter by the use of the budget reads no rows, which are as large as their records, but those it shows."""
    store = open_store(tmp_path / "traces.db", 1000)
    filters = Filters(kind=kind, min_used_share=0.5, stranded=False)
    heard: list[str] = []

    def hear(_connection, _cursor, statement, parameters, *_):
        heard.append((statement, parameters))

    with store.transaction("acme") as connection:
        sa.event.listen(connection, "before_cursor_execute", hear)
        listing.read(connection, "acme", filters, None, 50)
        sa.event.remove(connection, "before_cursor_execute", hear)
        steps = [
            step[3]
            for statement, parameters in heard
            for step in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]
    store.close()
    assert len(heard) == 2
    assert [step for step in steps if "trace" in step and "COVERING INDEX" not in step] == []
    assert not any("TEMP B-TREE" in step for step in steps), steps

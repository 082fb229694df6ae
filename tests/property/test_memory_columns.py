"""Law: what the columns show is what the tables say, after any history of the real writer, erasures included."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_builders import HandClock, a_document, a_tenant, visible
from memory_histories import START, Ingest, Put, histories, run
from telha_planner.columns.tenant import Columns
from telha_planner.core.errors import NotFound
from telha_planner.memory import clock as clocks
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer

_tenants = itertools.count()


@pytest.fixture(scope="module")
def store(lasting_store: Store) -> Store:
    return lasting_store


def _shown(columns: Columns, store: Store, tenant: int, valid_t: int, tx_t: int) -> set[bytes]:
    with store.reading(tenant) as connection:
        last_tx = clocks.last_tx(connection, tenant)
    view = columns.at(tenant, last_tx).view(None, valid_t, min(tx_t, last_tx))
    ids = [int(hi).to_bytes(8, "big") + int(lo).to_bytes(8, "big") for hi, lo in zip(view.hi, view.lo, strict=True)]
    assert len(ids) == len(set(ids))
    return set(ids)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories, st.none() | st.integers(0, 8), st.lists(st.integers(850, 1500), min_size=3, max_size=3))
def test_columns_show_what_the_tables_say(
    store: Store, history: list[Ingest | Put], erase_after: int | None, instants: list[int]
) -> None:
    """M1, M5: tailed after each commit or built afresh, at any two instants, also across an erasure."""
    tenant, _ = a_tenant(store, f"tenant {next(_tenants)}")
    clock = HandClock(START)
    writer = Writer(store, clock)
    tailed = Columns(store, 1 << 26)
    commits = [0]
    for index, step in enumerate(history):
        commits.append(run(writer, clock, tenant, step))
        if index == erase_after:
            try:
                commits.append(writer.erase_source(tenant, a_document("a", ["x"]).source_id).tx)
            except NotFound:
                assert not any(isinstance(step, Ingest) and step.name == "a" for step in history[: index + 1])
        _shown(tailed, store, tenant, clock.time, commits[-1])
    fresh = Columns(store, 1 << 26)
    for tx_t in sorted(set(commits)):
        for valid_t in instants:
            expected = set(visible(store, tenant, valid_t, tx_t))
            assert _shown(tailed, store, tenant, valid_t, tx_t) == expected
            assert _shown(fresh, store, tenant, valid_t, tx_t) == expected

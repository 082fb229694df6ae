"""Reports of spools: what tells a trace that is on its way from one that never was."""

from uuid import UUID, uuid4

import pytest
from telha_planner.trace.ids import TraceIds, made_us, tag_of
from telha_trace_writer.opening import open_store
from telha_trace_writer.spools import GRACE_US, Report, Spools
from telha_trace_writer.store import Store
from trace_stores import T

ONE, TWO = "aaaa1111-0000-4000-8000-000000000001", "bbbb1111-0000-4000-8000-000000000002"
S = 1_000_000


def made(spool: str | None, instant: int) -> str:
    """An id as the planner makes it."""
    return TraceIds(lambda: instant, lambda count: b"\x5a" * count, spool).next()


def test_an_id_names_its_spool_and_its_instant() -> None:
    """X4: by bits that every reader finds."""
    trace_id = made(ONE, T)
    assert UUID(trace_id).int & 0xFFFF == tag_of(ONE) == 0xAAAA
    assert made_us(trace_id) == T // 1000 * 1000
    assert made_us(str(uuid4())) is None


def test_a_trace_is_absent_once_its_spool_has_settled_its_instant(store: Store) -> None:
    """X4: pending until then, whatever other spools say; and again for what is made later."""
    spools = Spools(store, lambda: T + 100 * S)
    spools.report([Report(ONE, T), Report(TWO, T + 90 * S)])
    assert spools.may_hold(made(ONE, T + S))
    assert not spools.may_hold(made(ONE, T - S))
    assert not spools.may_hold(made(TWO, T + S))
    spools.report([Report(ONE, T + 10 * S)])
    assert not spools.may_hold(made(ONE, T + S))
    assert spools.may_hold(made(ONE, T + 20 * S))
    spools.report([Report(ONE, 0, gone=True)])
    assert not spools.may_hold(made(ONE, T + 20 * S))


def test_a_clock_that_stepped_back_makes_traces_pending_again(store: Store) -> None:
    """X4: the latest report counts, not the furthest."""
    spools = Spools(store, lambda: T)
    spools.report([Report(ONE, T + 3600 * S)])
    spools.report([Report(ONE, T - 30 * S)])
    assert spools.may_hold(made(ONE, T))


def test_the_planner_that_holds_the_spool_has_looked(store: Store) -> None:
    """X4: an absent trace of the planner asked is absent at once."""
    spools = Spools(store, lambda: T)
    spools.report([Report(ONE, T - 30 * S)])
    assert spools.may_hold(made(ONE, T))
    assert not spools.may_hold(made(ONE, T), [ONE])
    assert spools.may_hold(made(ONE, T), [TWO])


def test_a_spool_that_never_reported_has_a_moment(store: Store) -> None:
    """X4: a planner that has just started; an id of another time or kind is absent."""
    spools = Spools(store, lambda: T)
    assert spools.may_hold(made(TWO, T - S))
    assert not spools.may_hold(made(TWO, T - GRACE_US - S))
    assert not spools.may_hold(made(TWO, T + 7200 * S))
    assert not spools.may_hold(str(uuid4()))


def test_writers_of_one_store_know_the_same(place: str) -> None:
    """X4: whichever is asked, and whichever heard of it first."""
    one, two = open_store(place, 10_000), open_store(place, 10_000)
    first, second = Spools(one, lambda: T + 60 * S), Spools(two, lambda: T + 60 * S)
    first.report([Report(ONE, T)])
    assert second.may_hold(made(ONE, T))
    second.report([Report(ONE, T + 30 * S)])
    first.report([Report(ONE, T + S)])
    assert not second.may_hold(made(ONE, T))
    one.close()
    two.close()


def test_a_spool_that_is_silent_for_a_month_is_forgotten(store: Store) -> None:
    """X4: its planner and its disk are gone, and so is what was only there."""
    Spools(store, lambda: T).report([Report(ONE, T)])
    later = Spools(store, lambda: T + 31 * 86_400 * S)
    assert later.may_hold(made(ONE, T + S))
    later.report([Report(TWO, T)])
    assert not later.may_hold(made(ONE, T + S))


@pytest.mark.parametrize("tag", [0, 0xFFFF])
def test_every_tag_leaves_an_id_well_formed(tag: int) -> None:
    """X1: a UUIDv7, however its spool is named."""
    spool = str(UUID(int=tag << 112 | 4 << 76 | 2 << 62))
    trace_id = UUID(made(spool, T))
    assert (trace_id.version, trace_id.int >> 62 & 3, trace_id.int & 0xFFFF) == (7, 2, tag)

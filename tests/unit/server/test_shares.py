"""Bytes that are shared so that room is always left, and credentials that were seen to hold."""

import pytest
from erasure_scan import in_objects
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.core.errors import Overloaded
from telha_planner.server.holders import MOST, STRANGERS, Holders
from telha_planner.server.shares import Shares
from telha_runtime.line import Holder


def taken(shares, tenant, size=1):
    """How often *tenant* gets *size* bytes."""
    times = 0
    while True:
        try:
            shares.take(tenant, size)
        except Overloaded:
            return times
        times += 1


def test_one_tenant_takes_half_and_the_next_a_third():
    """A1: whoever comes next finds room, however greedy those before."""
    shares = Shares(120, 50)
    assert taken(shares, "a") == 60
    assert taken(shares, "b") == 30
    assert taken(shares, "c") == 15
    shares.give_back("a", 60)
    assert shares.held == 45


def test_the_first_of_a_tenant_may_be_as_large_as_what_is_free():
    """A1: a limit on all must not forbid what each may have."""
    shares = Shares(100, 50)
    shares.take("a", 70, first=True)
    shares.take("a", 30, first=True)
    with pytest.raises(Overloaded) as refused:
        shares.take("b", 1)
    assert refused.value.retry_after_ms == 50


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 40)), max_size=60))
def test_never_more_than_there_is(steps):
    """A1: what was refused is not held."""
    shares, held = Shares(100, 50), []
    for tenant, size in steps:
        try:
            shares.take(tenant, size)
        except Overloaded:
            if held:
                shares.give_back(*held.pop(0))
            continue
        held.append((tenant, size))
        assert shares.held == sum(size for _, size in held) <= 100
    for tenant, size in held:
        shares.give_back(tenant, size)
    assert shares.held == 0


def test_invented_keys_share_one_place():
    """A1, A6: a key counts for itself only while it is known to hold."""
    holders = Holders()
    assert holders.of("invented-1") == holders.of("invented-2") == STRANGERS
    holders.proved("real", 7, "id")
    assert holders.of("real") == Holder(7, "id")
    holders.disproved("real")
    assert holders.of("real") == STRANGERS
    for number in range(MOST + 1):
        holders.proved(f"key-{number}", 1, str(number))
    assert holders.of("key-0") == STRANGERS
    assert holders.of(f"key-{MOST}") == Holder(1, str(MOST))


def test_no_key_is_kept_to_know_it_again():
    """A6: who reads the memory of the process finds no key in it, and two processes remember one key differently."""
    key = f"telha_{'a' * 12}_{'sécret密' * 6}"
    holders, others = Holders(), Holders()
    for each in (holders, others):
        each.proved(key, 7, "id")
        assert each.of(key) == Holder(7, "id")
    assert [*in_objects([holders], [key.encode(), key[-12:].encode()])] == []
    assert holders._known.keys().isdisjoint(others._known)

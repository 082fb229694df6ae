"""Trace ids are UUIDv7 and strictly increase."""

import os
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.trace.ids import TraceIds


def test_the_layout_is_rfc_9562() -> None:
    """X1: the example of RFC 9562, appendix A.6, with its fraction of a millisecond in the 12 bits behind it."""
    ids = TraceIds(lambda: 1645557742000_000, lambda _: bytes.fromhex("18c4dc0c0c07398f") * 1)
    made = UUID(ids.next())
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert str(made).startswith("017f22e2-79b0-7000-")
    assert made.int >> 80 == 1645557742000


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 2**50), min_size=2, max_size=50))
def test_ids_increase_whatever_the_clock_does(instants: list[int]) -> None:
    """X1: ids of one planner sort in the order of its calls, also after the clock stepped back."""
    clock = iter(instants)
    ids = TraceIds(lambda: next(clock), os.urandom)
    made = [ids.next() for _ in instants]
    assert made == sorted(set(made))
    assert all(UUID(trace_id).version == 7 for trace_id in made)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**47 * 1000))
def test_an_id_tells_its_millisecond(now_us: int) -> None:
    """X1: an id tells its millisecond."""
    assert UUID(TraceIds(lambda: now_us, os.urandom).next()).int >> 80 == now_us // 1000

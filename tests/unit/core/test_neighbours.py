"""The growing set of rows."""

from bisect import bisect_left

from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.core.neighbours import NONE, RowSet

EDGES = st.sampled_from([0, 1, 510, 511, 512, 513, 1023, 1024, 2999])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(EDGES, st.integers(0, 2999)), unique=True, max_size=60))
def test_neighbours_are_those_of_a_sorted_list(rows: list[int]):
    """S3: nearest members before and after, across block borders and empty blocks."""
    members, growing = [], RowSet(3000)
    for row in rows:
        at = bisect_left(members, row)
        assert growing.before(row) == (members[at - 1] if at else NONE)
        assert growing.after(row) == (members[at] if at < len(members) else NONE)
        growing.add(row)
        members.insert(at, row)

"""Bars: honest about nothing, something and all; the mark of the limit in one line under all of them."""

from hypothesis import given
from hypothesis import strategies as st
from telha_cli.bars import EMPTY, FULL, LIMIT, bar

CELLS = st.integers(2, 90)


def test_a_bar_reads_without_colour() -> None:
    """X7, A3: what is full, what is empty, where the limit stands."""
    assert bar(400, 1000, 10) == "████░░░░░░"
    assert bar(250, 1000, 10, 400) == "██░░│░░░░░░"
    assert bar(400, 1000, 10, 400) == "████│░░░░░░"


@given(st.integers(0, 10**6), st.integers(1, 10**6), CELLS)
def test_something_is_never_nothing_and_only_all_is_all(part: int, whole: int, cells: int) -> None:
    """A3: one token of a million is seen, and one that is missing too."""
    shown = bar(part, whole, cells)
    assert len(shown) == cells
    assert (FULL in shown) == (part > 0)
    assert (EMPTY in shown) == (part < whole)


@given(st.integers(1, 10**6), CELLS, st.data())
def test_the_mark_stands_in_one_place_and_behind_what_is_full(whole: int, cells: int, data: st.DataObject) -> None:
    """S5: bars of one budget can be compared by eye."""
    limit = data.draw(st.integers(0, whole))
    parts = data.draw(st.lists(st.integers(0, limit), min_size=1, max_size=5))
    shown = [bar(part, whole, cells, limit) for part in parts]
    assert len({each.index(LIMIT) for each in shown}) == 1
    assert {len(each) for each in shown} == {cells + 1}
    assert all(FULL not in each[each.index(LIMIT) :] for each in shown)


def test_a_budget_of_nothing_is_an_empty_bar() -> None:
    """T4: B = 0 is legal."""
    assert bar(0, 0, 4) == "░░░░"
    assert len(bar(0, 0, 4, 0)) == 5

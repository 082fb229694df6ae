"""
How a new statement meets what was stated before, in valid time.

A statement about [start, end) takes the place of whatever was said about those instants. What was said about earlier
instants stays; what reached beyond the end is over, so that stating an end ends a fact; what begins at or after the
end is untouched. What is said already for all of that time, to the same end, is no news. At every (valid time,
transaction time) at most one version of a thing is visible.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Standing(NamedTuple):
    """A row whose transaction time is open; `number` is its key, `state` tells whether two say the same."""

    number: int
    valid_from: int
    valid_to: int
    state: bytes = b""


class Superseded(NamedTuple):
    """A row to close; `remains_until` is the new end of what stays of it, None if nothing stays."""

    number: int
    remains_until: int | None


def supersede(standing: Iterable[Standing], start: int, end: int) -> list[Superseded]:
    """
    The rows of *standing* that a statement about [*start*, *end*) closes.

    Args:
        standing: Rows of one thing, open in transaction time.
        start: Of the new statement's valid time.
        end: Of the new statement's valid time, exclusive.
    """
    return [
        Superseded(row.number, start if row.valid_from < start else None)
        for row in standing
        if row.valid_to > start and row.valid_from < end
    ]


def says_already(standing: Iterable[Standing], state: bytes, start: int, end: int) -> Standing | None:
    """The row that already states *state* for all of [*start*, *end*), with the same end; None if there is none."""
    for row in standing:
        if row.state == state and row.valid_to == end and row.valid_from <= start:
            return row
    return None

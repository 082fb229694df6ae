"""
A set of rows that only grows and answers: which member stands nearest before this row, which nearest after it?

Two levels of bit sets: one integer of `_WIDTH` bits per block of rows, one integer with a bit per block that is not
empty. Adding and looking up cost the same for ten rows and a hundred thousand, where a sorted list would move half
its length at each insertion.
"""

_SHIFT = 9
_WIDTH = 1 << _SHIFT
_OFFSET = _WIDTH - 1
NONE = -1
"""Stands for "no such member"."""


class RowSet:
    """A growing set of rows out of 0..*size*−1."""

    __slots__ = ("_blocks", "_occupied")

    def __init__(self, size: int) -> None:
        self._blocks = [0] * ((size >> _SHIFT) + 1)
        self._occupied = 0

    def add(self, row: int) -> None:
        """Take *row* in."""
        block = row >> _SHIFT
        self._blocks[block] |= 1 << (row & _OFFSET)
        self._occupied |= 1 << block

    def before(self, row: int) -> int:
        """The greatest member below *row*, or `NONE`."""
        block = row >> _SHIFT
        members = self._blocks[block] & ((1 << (row & _OFFSET)) - 1)
        if not members:
            earlier = self._occupied & ((1 << block) - 1)
            if not earlier:
                return NONE
            block = earlier.bit_length() - 1
            members = self._blocks[block]
        return (block << _SHIFT) + members.bit_length() - 1

    def after(self, row: int) -> int:
        """The least member above *row*, or `NONE`."""
        block = row >> _SHIFT
        members = self._blocks[block] >> ((row & _OFFSET) + 1)
        if members:
            return row + (members & -members).bit_length()
        later = self._occupied >> (block + 1)
        if not later:
            return NONE
        block += (later & -later).bit_length()
        members = self._blocks[block]
        return (block << _SHIFT) + (members & -members).bit_length() - 1

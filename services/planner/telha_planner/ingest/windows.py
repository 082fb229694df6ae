"""
Windows: the second size of candidate, at most three neighbouring passages as one span.

They slide by one passage (a stride of three finds measurably less; recall keeps the best of those that overlap), stay
inside one section and never mix a table with what surrounds it.
"""

from collections.abc import Hashable, Iterator, Sequence

LARGEST = 3
"""Most passages in a window."""

LONGEST = 3200
"""UTF-8 bytes; beyond about 800 tokens a window exceeds a source's share of a usual budget and is never offered."""


def windows(lengths: Sequence[int], groups: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """
    The windows over a document's passages.

    Args:
        lengths: UTF-8 bytes of each passage.
        groups: One value per passage; only neighbours with equal values share a window.

    Yields:
        Passages [first, last) with `2 <= last - first <= LARGEST`; none lies within another.
    """
    reached = 0
    for first in range(len(lengths)):
        last, size = first, 0
        while (
            last < len(lengths)
            and last - first < LARGEST
            and groups[last] == groups[first]
            and size + lengths[last] <= LONGEST
        ):
            size += lengths[last]
            last += 1
        if last - first >= 2 and last > reached:
            yield first, last
            reached = last

"""
Windows: the second size of candidate, two or three neighbouring passages as one span.

They lie side by side, stay inside one section and never mix a table with what surrounds it. Windows that slide by one
passage cost twice the nodes for little: of gold evidence they put .01 to .02 more into 500 and 1,000 tokens and, on
long conversations, .04 less into 4,000, where they crowd the legs.

Rule 1: where a window may begin is partly decided by content, so that an inserted paragraph shifts the windows up to
the next anchor and not to the end of the document.
"""

from collections.abc import Hashable, Iterator, Sequence

LARGEST = 3
"""Most passages in a window."""

LONGEST = 3200
"""UTF-8 bytes; beyond about 800 tokens a window exceeds a source's share of a usual budget and is never offered."""

_ANCHORS = 16
"""Of 256: how many values of a digest's first byte begin a window; one passage in sixteen."""


def windows(lengths: Sequence[int], groups: Sequence[Hashable], digests: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """
    The windows over a document's passages.

    Args:
        lengths: UTF-8 bytes of each passage.
        groups: One value per passage; only neighbours with equal values share a window.
        digests: A hash of each passage's text.

    Yields:
        Passages [first, last) with `2 <= last - first <= LARGEST`, disjoint, in order.
    """
    first = 0
    for last in range(1, len(lengths) + 1):
        if (
            last == len(lengths)
            or last - first == LARGEST
            or groups[last] != groups[first]
            or sum(lengths[first : last + 1]) > LONGEST
            or digests[last][0] < _ANCHORS
        ):
            if last - first > 1:
                yield first, last
            first = last

"""Bars of whole cells, which need no colour to be read; of ASCII where the output writes nothing else."""

import math
import sys
from typing import NamedTuple


class Blocks(NamedTuple):
    """What a bar is drawn with: what is full, what is empty, where a limit stands, and the way from step to step."""

    full: str
    empty: str
    limit: str
    leads_to: str


_UNICODE = Blocks("█", "░", "│", "→")
_ASCII = Blocks("#", ".", "|", "->")


def blocks() -> Blocks:
    """Those that standard output can write."""
    try:
        "".join(_UNICODE).encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return _ASCII
    return _UNICODE


def bar(part: int, whole: int, cells: int, limit: int | None = None) -> str:
    """
    *part* of *whole* as a bar of *cells* cells.

    Args:
        limit: At most so much of *whole*; its mark stands in one more cell, behind what is allowed and never behind
            fewer cells than are full.
    """
    drawn = blocks()
    full = cells_of(part, whole, cells)
    shown = drawn.full * full + drawn.empty * (cells - full)
    if limit is None:
        return shown
    # The rule of the cap is a floor, so what is allowed may be less than a cell while something is full.
    at = max(full, math.floor(cells * min(limit, whole) / whole)) if whole else 0
    return shown[:at] + drawn.limit + shown[at:]


def halves(part: int, whole: int, cells: int) -> tuple[str, str]:
    """The full and the empty cells of a bar, to be styled apart."""
    full = cells_of(part, whole, cells)
    return blocks().full * full, blocks().empty * (cells - full)


def cells_of(part: int, whole: int, cells: int) -> int:
    """How many of *cells* are full: some for anything above nothing, and all for the whole alone."""
    if not whole or not part:
        return 0
    if part >= whole:
        return cells
    return min(max(1, round(cells * part / whole)), max(1, cells - 1))

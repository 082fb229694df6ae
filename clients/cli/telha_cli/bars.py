"""Bars of whole cells, which need no colour to be read."""

FULL, EMPTY, LIMIT = "█", "░", "│"


def bar(part: int, whole: int, cells: int, limit: int | None = None) -> str:
    """
    *part* of *whole* as a bar of *cells* cells, one more with a *limit*.

    Args:
        limit: At most so much of *whole*; its mark stands in the same place for every *part* that is within it.
    """
    full, empty = halves(part, whole, cells)
    if limit is None or not whole:
        return full + empty + (" " if limit is not None else "")
    at = max(1, round(cells * min(limit, whole) / whole))
    if part <= limit:
        full = full[:at]
    shown = full + EMPTY * (cells - len(full))
    return shown[:at] + LIMIT + shown[at:]


def halves(part: int, whole: int, cells: int) -> tuple[str, str]:
    """The full and the empty cells of a bar: some are full of anything above nothing, and all of the whole alone."""
    if not whole or not part:
        full = 0
    elif part >= whole:
        full = cells
    else:
        full = min(max(1, round(cells * part / whole)), max(1, cells - 1))
    return FULL * full, EMPTY * (cells - full)

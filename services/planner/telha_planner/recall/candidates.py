"""
From scored nodes to the pool's rows, docs/scoring.md section 7.

A node gives one row per span that was linked to its visible version at tx_t. Rows are sorted by node id, then by the
span's coordinate, so that equal pools are equal column by column.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telha_planner.columns.spans import UNKNOWN
from telha_planner.columns.view import View
from telha_planner.core.model import Float64, Int32, Int64
from telha_planner.core.tokens import estimate_columns
from telha_planner.models.tokenizers import BUILT_IN, ESTIMATE

BODY = "body"
"""Kind of a span without ledger row."""

WINDOW = "window"
"""Type of the nodes that join several passages."""

_PROXY = "o200k_base"
"""Measures windows for an encoding whose counts are not stored."""


@dataclass(frozen=True, slots=True)
class SpansOfNodes:
    """Rows of the pool: *node* is an index into the nodes asked for, *span* a row of the ledger."""

    node: Int64
    span: Int32


def spans_of(view: View, places: Int64) -> SpansOfNodes:
    """The spans behind *places*, in no particular order."""
    links = view.columns.links
    owner, link = links.of_version.gather(view.version[places])
    known = (links.tx_from[link] <= view.tx_t) & (view.tx_t < links.tx_to[link])
    return SpansOfNodes(owner[known], links.span[link[known]])


def sliceable(view: View, span: Int32) -> npt.NDArray[np.bool_]:
    """Whether the span lies inside a source version that was known at the view's tx_t."""
    columns = view.columns
    text = columns.spans.text[span]
    if not len(columns.texts):
        return np.zeros(len(span), bool)
    known = (text != UNKNOWN) & (columns.spans.version[span] <= view.tx_t)
    fits: npt.NDArray[np.bool_] = known & (columns.spans.end[span] <= columns.texts.length[text])
    return fits


def tokens_of(view: View, span: Int32, encoding: str) -> Int64:
    """Stored token counts, the estimate, or −1 where *encoding* has to be counted from the text."""
    spans = view.columns.spans
    if encoding in BUILT_IN:
        counts: Int64 = getattr(spans, encoding)[span]
        return counts
    if encoding == ESTIMATE:
        return estimate_columns(spans.ascii_bytes[span], spans.other_chars[span])
    return np.full(len(span), -1, np.int64)


def is_window(view: View, places: Int64) -> npt.NDArray[np.bool_]:
    """Which of *places* are windows."""
    code = view.columns.versions.types.get(WINDOW)
    return np.zeros(len(places), bool) if code is None else view.type[places] == code


def packable_windows(view: View, windows: Int64, largest: int, encoding: str) -> npt.NDArray[np.bool_]:
    """
    Which of *windows* have at most *largest* tokens.

    Args:
        view: What is visible.
        windows: Places.
        largest: Tokens.
        encoding: As in `RecallQuery`.
    """
    return window_tokens(view, windows, encoding) <= largest


def window_tokens(view: View, windows: Int64, encoding: str) -> Int64:
    """Tokens of each of *windows*, places, all its spans together; of *encoding* as in `packable_windows`."""
    found = spans_of(view, windows)
    stored = encoding if encoding in BUILT_IN or encoding == ESTIMATE else _PROXY
    tokens = np.zeros(len(windows), np.int64)
    np.add.at(tokens, found.node, tokens_of(view, found.span, stored))
    return tokens


def offered_windows(view: View, windows: Int64, score: Float64, largest: int, encoding: str) -> npt.NDArray[np.bool_]:
    """
    Which of *windows* enter the pool: none above *largest* tokens, and of overlapping ones only the best.

    Args:
        view: What is visible.
        windows: Places.
        score: S of each.
        largest: Tokens.
        encoding: As in `RecallQuery`.
    """
    spans = view.columns.spans
    found = spans_of(view, windows)
    offered = packable_windows(view, windows, largest, encoding)
    own: list[list[tuple[tuple[int, int], int, int]]] = [[] for _ in range(len(windows))]
    columns = (spans.source, spans.version, spans.start, spans.end)
    for index, source, version, start, end in zip(
        found.node.tolist(), *(column[found.span].tolist() for column in columns), strict=True
    ):
        own[index].append(((source, version), start, end))
    kept: dict[tuple[int, int], list[tuple[int, int]]] = {}
    allowed = offered.tolist()
    for index in np.lexsort((view.lo[windows], view.hi[windows], -score)).tolist():
        if not allowed[index]:
            continue
        if _overlaps(kept, own[index]):
            offered[index] = False
            continue
        for text, start, end in own[index]:
            kept.setdefault(text, []).append((start, end))
    return offered


def _overlaps(kept: dict[tuple[int, int], list[tuple[int, int]]], own: list[tuple[tuple[int, int], int, int]]) -> bool:
    for text, start, end in own:
        for other_start, other_end in kept.get(text, ()):
            if start < other_end and other_start < end:
                return True
    return False

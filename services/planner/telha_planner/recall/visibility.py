"""
Whether the nodes of a subject are visible at the instants of a read, and if not, what hides them and when it does not.

A node rests on a span through links of its versions, and each such pair has two intervals: the version's valid time,
and the transaction time in which both version and link were known. Of a hidden node the pair that is nearest to being
visible speaks: one that only valid time hides before one that transaction time hides, then the least far away.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from telha_planner.columns.view import View
from telha_planner.core.model import Bools, Int64, UInt8, UInt64

from .subjects import read_spaces


class Hidden(IntEnum):
    """What hides a node; the order is that of nearness."""

    NOTHING = 0
    VALID_TIME = 1
    TX_TIME = 2
    BOTH = 3
    SPACE = 4


@dataclass(frozen=True, slots=True)
class NodesOf:
    """
    The nodes of one subject, each once; columns of equal length.

    Attributes:
        node: Rows, ascending.
        link: The link that speaks for the node: of a visible one the first in its source.
        place: Its place in the view; −1 where something hides it.
        hidden: Values of `Hidden`.
        since, until: Of what time hides, the interval that is nearest; of `VALID_TIME` and `BOTH` in valid time, of
            `TX_TIME` in transaction time.
        known_from, known_to: The transaction time of *link*.
    """

    node: Int64
    link: Int64
    place: Int64
    hidden: UInt8
    since: Int64
    until: Int64
    known_from: Int64
    known_to: Int64

    def __len__(self) -> int:
        return len(self.node)

    @property
    def visible(self) -> Bools:
        """Which are visible."""
        seen: Bools = self.hidden == Hidden.NOTHING
        return seen


def nodes_of(view: View, spaces: tuple[str, ...] | None, links: Int64) -> NodesOf:
    """
    The nodes that *links* belong to.

    Args:
        view: What is visible.
        spaces: The spaces that are read; None is all.
        links: Rows.
    """
    columns = view.columns
    versions = columns.versions
    version = columns.links.version[links]
    known_from = np.maximum(columns.links.tx_from[links], versions.tx_from[version])
    known_to = np.minimum(columns.links.tx_to[links], versions.tx_to[version])
    # A link that was drawn when its version had ended was never read.
    ever = known_from < known_to
    links, version, known_from, known_to = links[ever], version[ever], known_from[ever], known_to[ever]
    valid_from, valid_to = versions.valid_from[version], versions.valid_to[version]
    from_tx = _distance(view.tx_t, known_from, known_to)
    from_valid = _distance(view.valid_t, valid_from, valid_to)
    hidden = np.where(
        from_tx == 0,
        np.where(from_valid == 0, Hidden.NOTHING, Hidden.VALID_TIME),
        np.where(from_valid == 0, Hidden.TX_TIME, Hidden.BOTH),
    )
    hidden[~read_spaces(columns, spaces)[versions.space[version]]] = Hidden.SPACE
    node = versions.node[version].astype(np.int64)
    span = columns.links.span[links]
    start, end, source_version = columns.spans.start[span], columns.spans.end[span], columns.spans.version[span]
    # Of equally near ones the newest version of the source, and there the first span.
    order = np.lexsort((end, start, -source_version, from_valid, from_tx, hidden, node))
    first = order[np.append(True, node[order][1:] != node[order][:-1])[: len(order)]]
    by_tx = hidden[first] == Hidden.TX_TIME
    place = view.places_of_nodes(node[first]).astype(np.int64)
    return NodesOf(
        node=node[first],
        link=links[first],
        place=np.where(hidden[first] == Hidden.NOTHING, place, -1),
        hidden=hidden[first].astype(np.uint8),
        since=np.where(by_tx, known_from[first], valid_from[first]),
        until=np.where(by_tx, known_to[first], valid_to[first]),
        known_from=known_from[first],
        known_to=known_to[first],
    )


def _distance(instant: int, begins: Int64, ends: Int64) -> UInt64:
    """How far *instant* lies from each interval, µs; 0 inside. Unsigned, since intervals may begin with time itself."""
    before = (begins - instant).view(np.uint64)
    behind = (instant - ends).view(np.uint64) + np.uint64(1)
    return np.where(instant < begins, before, np.where(instant >= ends, behind, np.uint64(0)))

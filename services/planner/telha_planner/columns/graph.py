"""Edges in both directions, and the passages that stand next to each other in a source."""

from typing import ClassVar

import numpy as np

from telha_planner.core.model import Float64, Int32, Int64, UInt64
from telha_planner.memory.projection import Rows

from .growing import Growing
from .ids import halves
from .lists import Lists
from .versions import Nodes

NEXT = "next"
"""Type of the edge that ingestion draws from a passage to the one after it."""


class Edges(Growing):
    """
    One row per edge version.

    Attributes:
        hi, lo: The edge id.
        tail, head: Rows of the nodes it leads from and to.
        of_node: Edges by the row of either end; an edge from a node to itself is in no list.
        next_of_node: The same for `next` edges that ingestion made.
    """

    columns: ClassVar = {
        "no": np.int64,
        "hi": np.uint64,
        "lo": np.uint64,
        "tail": np.int32,
        "head": np.int32,
        "confidence": np.float64,
        "valid_from": np.int64,
        "valid_to": np.int64,
        "tx_from": np.int64,
        "tx_to": np.int64,
    }
    hi: UInt64
    lo: UInt64
    tail: Int32
    head: Int32
    confidence: Float64
    valid_from: Int64
    valid_to: Int64
    tx_from: Int64
    tx_to: Int64

    def __init__(self) -> None:
        super().__init__()
        self.of_node = Lists()
        self.next_of_node = Lists()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return super().nbytes + self.of_node.nbytes + self.next_of_node.nbytes

    def load(self, rows: Rows, nodes: Nodes) -> None:
        """Append rows as `Changes.edges` gives them."""
        if not rows:
            return
        no, ids, tail_no, head_no, types, confidence, source_no, valid_from, valid_to, tx_from, tx_to = zip(
            *rows, strict=True
        )
        hi, lo = halves(ids)
        tail, head = nodes.rows_of(tail_no), nodes.rows_of(head_no)
        row = np.arange(len(self), len(self) + len(no))
        joins = (tail != head) & (tail >= 0) & (head >= 0)
        by_ingestion = np.fromiter((source is not None for source in source_no), bool, len(no))
        follows = joins & by_ingestion & np.fromiter((name == NEXT for name in types), bool, len(no))
        for lists, chosen in ((self.of_node, joins), (self.next_of_node, follows)):
            lists.append(
                np.concatenate((tail[chosen], head[chosen])),
                np.concatenate((row[chosen], row[chosen])),
            )
        self.append(
            no=no,
            hi=hi,
            lo=lo,
            tail=tail,
            head=head,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            tx_from=tx_from,
            tx_to=tx_to,
        )

    def from_nodes(self, nodes: Int64 | Int32, lists: Lists, valid_t: int, tx_t: int) -> tuple[Int64, Int32, Int32]:
        """
        The edges of *lists* at rows *nodes* that are visible at the two instants.

        Returns:
            (index into *nodes*, row of the edge, row of the node at the other end), in no particular order.
        """
        owner, edge = lists.gather(nodes)
        visible = (
            (self.tx_from[edge] <= tx_t)
            & (tx_t < self.tx_to[edge])
            & (self.valid_from[edge] <= valid_t)
            & (valid_t < self.valid_to[edge])
        )
        owner, edge = owner[visible], edge[visible]
        tail = self.tail[edge]
        return owner, edge, np.where(tail == nodes[owner], self.head[edge], tail)

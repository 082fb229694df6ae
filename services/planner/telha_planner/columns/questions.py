"""Clarifications: what is open about a node, at a transaction time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from telha_planner.core.model import Int32, Int64
from telha_planner.memory.projection import Rows

from .growing import Growing
from .lists import Lists
from .versions import Nodes

_BYTES_PER_QUESTION = 500
_URGENCY = {"conflicted": 0, "pending": 1}
"""Open states, the most urgent first."""


@dataclass(frozen=True, slots=True)
class OpenClarification:
    """A clarification that is `pending` or `conflicted`."""

    clarification_id: bytes
    state: str
    question: str


def by_urgency(question: OpenClarification) -> tuple[int, bytes]:
    """Sort key: conflicted before pending, then the lowest id."""
    return _URGENCY[question.state], question.clarification_id


class Questions(Growing):
    """
    One row per version of a clarification.

    Attributes:
        texts: The clarification by row; resolved ones included.
        of_node: Rows by row of the node.
    """

    columns: ClassVar = {"no": np.int64, "node": np.int32, "tx_from": np.int64, "tx_to": np.int64}
    node: Int32
    tx_from: Int64
    tx_to: Int64

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[OpenClarification] = []
        self.of_node = Lists()

    @property
    def nbytes(self) -> int:
        """Bytes held; the texts are Python objects, so theirs is a rough figure."""
        return super().nbytes + self.of_node.nbytes + _BYTES_PER_QUESTION * len(self)

    def load(self, rows: Rows, nodes: Nodes) -> None:
        """Append rows as `Changes.clarifications` gives them."""
        if not rows:
            return
        no, ids, node_no, states, texts, tx_from, tx_to = zip(*rows, strict=True)
        node = nodes.rows_of(node_no)
        self.of_node.append(node, np.arange(len(self), len(self) + len(no)))
        self.texts += [OpenClarification(*fields) for fields in zip(ids, states, texts, strict=True)]
        self.append(no=no, node=node, tx_from=tx_from, tx_to=tx_to)

    def open(self, nodes: Int64, tx_t: int) -> dict[int, tuple[OpenClarification, ...]]:
        """What is open at *tx_t*, by index into *nodes*: conflicted before pending, then by id."""
        owner, row = self.of_node.gather(nodes)
        known = (self.tx_from[row] <= tx_t) & (tx_t < self.tx_to[row])
        found: dict[int, list[OpenClarification]] = {}
        for index, at in zip(owner[known].tolist(), row[known].tolist(), strict=True):
            if self.texts[at].state in _URGENCY:
                found.setdefault(index, []).append(self.texts[at])
        return {index: tuple(sorted(some, key=by_urgency)) for index, some in found.items()}

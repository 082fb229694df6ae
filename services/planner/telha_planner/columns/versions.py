"""Nodes and their versions: who exists, when, in which space."""

from typing import ClassVar

import numpy as np

from telha_planner.core.model import Int32, Int64, UInt64
from telha_planner.memory.projection import Rows

from .growing import Growing
from .ids import Codes, halves
from .lists import Lists


class Nodes(Growing):
    """
    One row per node, ascending by number.

    Attributes:
        hi, lo: The node id.
        space: Row of the node's space.
    """

    columns: ClassVar = {"no": np.int64, "hi": np.uint64, "lo": np.uint64, "space": np.int32}
    hi: UInt64
    lo: UInt64
    space: Int32

    def load(self, rows: Rows, spaces: "Spaces") -> None:
        """Append rows of (node_no, node_id, space_no)."""
        if rows:
            no, ids, space = zip(*rows, strict=True)
            hi, lo = halves(ids)
            self.append(no=no, hi=hi, lo=lo, space=spaces.rows_of(space))


class Spaces(Growing):
    """One row per space; names are unique within a tenant."""

    columns: ClassVar = {"no": np.int64}

    def __init__(self) -> None:
        super().__init__()
        self.row: dict[str, int] = {}

    def load(self, rows: Rows) -> None:
        """Append rows of (space_no, name)."""
        for _, name in rows:
            self.row[name] = len(self.row)
        self.append(no=[no for no, _ in rows])


class Versions(Growing):
    """
    One row per node version, ascending by number.

    Attributes:
        node: Row of the node.
        type: Code in `types`.
        length: Terms of the version, repetitions included.
        of_space, of_type: Versions by space row, and by (space row << 32 | type code).
    """

    columns: ClassVar = {
        "no": np.int64,
        "node": np.int32,
        "space": np.int32,
        "type": np.int32,
        "tx_from": np.int64,
        "tx_to": np.int64,
        "valid_from": np.int64,
        "valid_to": np.int64,
        "length": np.int64,
    }
    node: Int32
    space: Int32
    type: Int32
    tx_from: Int64
    tx_to: Int64
    valid_from: Int64
    valid_to: Int64
    length: Int64

    def __init__(self) -> None:
        super().__init__()
        self.types = Codes()
        self.of_space = Lists()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return super().nbytes + self.of_space.nbytes

    def load(self, rows: Rows, nodes: Nodes) -> Int32:
        """
        Append rows as `Changes.node_versions` gives them.

        Returns:
            The space of each new row.
        """
        if not rows:
            return np.empty(0, np.int32)
        no, node_no, tx_from, tx_to, valid_from, valid_to, types, length, *_ = zip(*rows, strict=True)
        node = nodes.rows_of(node_no)
        space = nodes.space[node]
        self.of_space.append(space, np.arange(len(self), len(self) + len(no)))
        self.append(
            no=no,
            node=node,
            space=space,
            type=self.types.of(types),
            tx_from=tx_from,
            tx_to=tx_to,
            valid_from=valid_from,
            valid_to=valid_to,
            length=length,
        )
        return space

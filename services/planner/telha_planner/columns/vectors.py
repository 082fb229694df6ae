"""
Vectors by model: eight-bit values for the scan, the float32 originals for the score.

docs/scoring.md section 3 says what is computed. Integer dot products are exact, so simsimd and the NumPy fallback agree
to the bit: a float32 product of eight-bit values is exact while its sums stay below 2²⁴, which 1,024 dimensions do.
"""

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from telha_planner.core.model import Float64, Int32, Int64
from telha_planner.core.request import OPEN_END
from telha_planner.memory.projection import Rows

from .growing import Growing
from .lists import Lists
from .versions import Nodes

try:
    from simsimd import cdist
except ImportError:  # an accelerator for some platforms; the results are equal without it
    cdist = None  # type: ignore[assignment]  # absence is part of its type here

Int8 = npt.NDArray[np.int8]
Float32 = npt.NDArray[np.float32]

_EXACT_IN_FLOAT32 = 1024
_CHUNK = 256
"""Rows rescored at a time: their float64 products stay in the second-level cache."""
_LOAD_CHUNK = 512


class Vectors(Growing):
    """
    The vectors of one model.

    Attributes:
        dimensions: Values per vector.
        baseline: Cosine of unrelated texts under the model.
        active_from: The commit that first made the model active; `OPEN_END` if none did.
        small: v̂, int8, one row per vector.
        inverse_norm: float32(1/√(v̂·v̂)), 0 for a zero vector.
        exact: The float32 originals.
        of_node: Vectors by row of the node.
    """

    columns: ClassVar = {
        "no": np.int64,
        "node": np.int32,
        "valid_from": np.int64,
        "tx_from": np.int64,
        "tx_to": np.int64,
        "inverse_norm": np.float32,
    }
    node: Int32
    valid_from: Int64
    tx_from: Int64
    tx_to: Int64
    inverse_norm: Float32

    def __init__(self, number: int, dimensions: int, baseline: float) -> None:
        self.number = number
        self.dimensions = dimensions
        self.baseline = baseline
        self.active_from = OPEN_END
        self.of_node = Lists()
        self._small = np.empty((0, dimensions), np.int8)
        self._exact = np.empty((0, dimensions), np.float32)
        self._norms = np.empty(0)
        super().__init__()

    @property
    def known_from(self) -> int:
        """The commit that first told of the model: a model may have vectors before it is active."""
        return min(self.active_from, int(self.tx_from[0]) if len(self) else self.active_from)

    @property
    def small(self) -> Int8:
        """v̂, one row per vector."""
        return self._small[: len(self)]

    @property
    def exact(self) -> Float32:
        """The original values, one row per vector."""
        return self._exact[: len(self)]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return super().nbytes + self.of_node.nbytes + self._small.nbytes + self._exact.nbytes + self._norms.nbytes

    def load(self, rows: Rows, nodes: Nodes) -> Int32:
        """
        Append rows of this model, as `Changes.vectors` gives them.

        Returns:
            The row of each vector's node.
        """
        no, node_no, _, valid_from, values, tx_from, tx_to = zip(*rows, strict=True)
        first, total = len(self), len(self) + len(no)
        if total > len(self._exact):
            capacity = max(total, 2 * len(self._exact))
            small, exact = (
                np.empty((capacity, self.dimensions), np.int8),
                np.empty((capacity, self.dimensions), np.float32),
            )
            small[:first], exact[:first] = self.small, self.exact
            self._small, self._exact = small, exact
            self._norms = np.append(self._norms, np.full(capacity - len(self._norms), np.nan))
        norms = np.empty(len(no), np.float32)
        for start in range(0, len(no), _LOAD_CHUNK):
            part = values[start : start + _LOAD_CHUNK]
            place = slice(first + start, first + start + len(part))
            self._exact[place] = np.frombuffer(b"".join(part), "<f4").reshape(len(part), self.dimensions)
            self._small[place] = small = quantised(self._exact[place])
            norms[start : start + len(part)] = _inverse_norms(small)
        node = nodes.rows_of(node_no).astype(np.int32)
        self.of_node.append(node, np.arange(first, total))
        self.append(no=no, node=node, valid_from=valid_from, tx_from=tx_from, tx_to=tx_to, inverse_norm=norms)
        return node

    def cosines(self, rows: Int64 | Int32, query: Float32) -> Float64:
        """The cosine of record of *query* with each of *rows*."""
        wide = query.astype(np.float64)
        root = float(np.sqrt(tree_sum((wide * wide)[None])[0]))
        found = np.empty(len(rows), np.float64)
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            values = self._exact[part].astype(np.float64)
            dots = tree_sum(values * wide)
            norms = self._norms_of(part, values) * root
            found[start : start + len(dots)] = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
        return found

    def _norms_of(self, rows: Int64 | Int32, values: Float64) -> Float64:
        """√dot(v, v) of *rows*, whose values are at hand; computed at first need and kept."""
        norms = self._norms[rows]
        new = np.flatnonzero(np.isnan(norms))
        if len(new):
            norms[new] = np.sqrt(tree_sum(values[new] * values[new]))
            self._norms[rows[new]] = norms[new]
        return norms


def quantised(values: Float32) -> Int8:
    """v̂: each row scaled to its own greatest magnitude, rounded to eight bits."""
    wide = values.astype(np.float64)
    greatest = np.abs(wide).max(axis=1, keepdims=True, initial=0.0)
    scale = np.divide(127.0, greatest, out=np.zeros_like(greatest), where=greatest > 0)
    rounded: Int8 = np.rint(wide * scale).astype(np.int8)
    return rounded


def integer_dots(vectors: Int8, query: Int8) -> Int32:
    """Exact dot products of *query* with every row of *vectors*."""
    if not len(vectors):
        return np.empty(0, np.int32)
    if cdist is not None:
        # The package's own annotations leave out the integer results that it documents.
        found = cdist(query[None], vectors, metric="dot", out_dtype="int32")  # type: ignore[arg-type]  # see above
        dots: Int32 = np.asarray(found)[0]
        return dots
    return integer_dots_by_numpy(vectors, query)


def integer_dots_by_numpy(vectors: Int8, query: Int8) -> Int32:
    """The same without simsimd: float32 products over so few dimensions that no sum is rounded."""
    total = np.zeros(len(vectors), np.int32)
    for start in range(0, vectors.shape[1], _EXACT_IN_FLOAT32):
        part = slice(start, start + _EXACT_IN_FLOAT32)
        total += (vectors[:, part].astype(np.float32) @ query[part].astype(np.float32)).astype(np.int32)
    return total


def tree_sum(values: Float64) -> Float64:
    """Sum each row in the fixed order of docs/scoring.md: halves added elementwise, an odd last value carried."""
    while values.shape[1] > 1:
        half = values.shape[1] // 2
        odd = values[:, 2 * half :]
        values = values[:, :half] + values[:, half : 2 * half]
        if odd.shape[1]:
            values = np.concatenate((values, odd), axis=1)
    return values[:, 0]


def _inverse_norms(small: Int8) -> Float32:
    squares = np.einsum("ij,ij->i", small, small, dtype=np.int64, casting="safe").astype(np.float64)
    roots = np.sqrt(squares)
    inverse: Float32 = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0).astype(np.float32)
    return inverse

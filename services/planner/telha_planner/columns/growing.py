"""
A table of NumPy columns that rows are appended to.

Rule 1: a row keeps its number for ever. Rule 2: appended values are never moved within their column, so a view taken
earlier stays right; closing a row is one store into `tx_to`. Rule 3: `no`, where a table has it, ascends.
"""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from telha_planner.core.model import Int64

_SMALLEST = 64


class Growing:
    """
    Base of the tables: `columns` names each column's dtype, and each column is an attribute of the same name.

    Attributes:
        no: Numbers of the rows in the store.
    """

    columns: ClassVar[dict[str, Any]]
    no: Int64

    def __init__(self) -> None:
        self._count = 0
        self._buffers = {name: np.empty(0, dtype) for name, dtype in self.columns.items()}
        self._expose()

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes held, spare capacity included."""
        return sum(buffer.nbytes for buffer in self._buffers.values())

    def append(self, **values: npt.ArrayLike) -> None:
        """Append rows; every column must be given, all of one length."""
        added = {name: np.asarray(value) for name, value in values.items()}
        if added.keys() != self.columns.keys():
            raise ValueError(f"columns {sorted(added)} do not match {sorted(self.columns)}")
        (extra,) = {len(value) for value in added.values()}
        total = self._count + extra
        for name, value in added.items():
            buffer = self._buffers[name]
            if total > len(buffer):
                # The first load takes what it needs; later growth doubles, so that appending stays cheap.
                grown = np.empty(max(total, 2 * len(buffer), _SMALLEST), buffer.dtype)
                grown[: self._count] = buffer[: self._count]
                self._buffers[name] = buffer = grown
            buffer[self._count : total] = value
        self._count = total
        self._expose()

    def rows_of(self, numbers: npt.ArrayLike) -> Int64:
        """Rows of the store numbers *numbers*; −1 where there is none."""
        wanted = np.asarray(numbers, np.int64)
        if not self._count:
            return np.full(wanted.shape, -1, np.int64)
        rows = np.minimum(np.searchsorted(self.no, wanted), self._count - 1)
        return np.where(self.no[rows] == wanted, rows, -1)

    def _expose(self) -> None:
        for name, buffer in self._buffers.items():
            setattr(self, name, buffer[: self._count])

"""One tenant's memory as a request sees it: columns, and the newest commit the request may know."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from telha_planner.core.model import Int64

from .ids import whole
from .projected import TenantColumns
from .questions import OpenClarification
from .view import View
from .visible import Visible

INDEX_VERSION = "int8-exact.1"
"""How vectors are searched; recorded in traces, since a replay must search alike."""

_VIEWS = 16
"""Most sets of visible nodes kept per tenant."""


class Snapshot:
    """
    A tenant at *last_tx*.

    Attributes:
        last_tx: Newest commit; `tx_t` of a query must not exceed it.
        index_version: Names the way in which vectors are searched.
    """

    index_version = INDEX_VERSION

    def __init__(
        self,
        columns: TenantColumns,
        views: "Views",
        last_tx: int,
        read_properties: Callable[[Sequence[int]], list[str]],
    ) -> None:
        self.columns = columns
        self.last_tx = last_tx
        self._views = views
        self._read_properties = read_properties

    @property
    def erased_tx(self) -> int:
        """Commit of the tenant's newest erasure, 0 if none; texts read before it must not be used."""
        return self.columns.mark.erased_tx

    def active_model(self, tx_t: int) -> str | None:
        """The tenant's active embedding model as of *tx_t*; None if it has none."""
        return self.columns.active_model(tx_t)

    def spaces(self) -> dict[str, int]:
        """Numbers of the tenant's spaces by name."""
        spaces = self.columns.spaces
        return {name: int(spaces.no[row]) for name, row in spaces.row.items()}

    def view(self, spaces: tuple[str, ...] | None, valid_t: int, tx_t: int) -> View:
        """
        What is visible in *spaces* at (valid_t, tx_t); None means every space.

        Raises:
            ValueError: *tx_t* is after `last_tx`, where nothing is known.
        """
        if tx_t > self.last_tx:
            raise ValueError(f"tx_t {tx_t} is after the snapshot's last commit {self.last_tx}")
        return View(self.columns, self._views.at(self.columns, spaces, valid_t, tx_t), valid_t, tx_t)

    def properties(self, versions: Int64) -> list[str]:
        """
        The properties of node versions as JSON text, given by row; read from the store.

        Raises:
            PropertiesErased: An erasure has taken one away since the columns were read.
        """
        return self._read_properties(self.columns.versions.no[versions].tolist())

    def node_ids(self, node_nos: npt.ArrayLike) -> list[bytes]:
        """The 16-byte ids of nodes."""
        nodes = self.columns.nodes
        rows = nodes.rows_of(node_nos)
        return whole(nodes.hi[rows], nodes.lo[rows])

    def source_name(self, source_no: int, version_tx: int) -> str | None:
        """Name of a source in one version, or None if that version is not in the store."""
        row = self.columns.texts.row.get((source_no, version_tx))
        return None if row is None else self.columns.texts.names[row]

    def clarifications(self, node_nos: npt.ArrayLike, tx_t: int) -> dict[int, tuple[OpenClarification, ...]]:
        """
        Open clarifications as of *tx_t*, by node number: conflicted before pending, then by id.

        Nodes without any are absent.
        """
        numbers: Int64 = np.unique(np.asarray(node_nos, np.int64))
        rows = self.columns.nodes.rows_of(numbers)
        found = self.columns.questions.open(rows[rows >= 0], tx_t)
        known = numbers[rows >= 0]
        return {int(known[index]): some for index, some in found.items()}


class Views:
    """The visible nodes of one tenant that requests used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[tuple[int, ...] | None, int | None], Visible] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(visible.nbytes for visible in self._kept.values())

    def at(self, columns: TenantColumns, names: tuple[str, ...] | None, valid_t: int, tx_t: int) -> Visible:
        """The visible nodes of the spaces *names* at the two instants, kept or made."""
        spaces = None
        if names is not None:
            row = columns.spaces.row
            spaces = tuple(sorted(row[name] for name in set(names) if name in row))
        for key in ((spaces, None), (spaces, tx_t)):
            kept = self._kept.get(key)
            if kept is not None and kept.serves(valid_t, tx_t):
                self._kept.move_to_end(key)
                return kept
        made = Visible(columns, spaces, valid_t, tx_t)
        place = (spaces, None if made.lasting else tx_t)
        self._kept[place] = made
        self._kept.move_to_end(place)
        while len(self._kept) > _VIEWS:
            self._kept.popitem(last=False)
        return made

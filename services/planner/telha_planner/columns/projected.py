"""
The columns of one tenant: a projection of the system of record, loaded once and then tailed.

Rule 1: nothing here is authoritative; dropping and loading again gives equal answers.
Rule 2: rows are appended and closed, as in the store, so a read at an instant up to the newest commit seen is right
whatever is appended after it.
Rule 3: row numbers are places in arrays; they decide nothing.
"""

from collections.abc import Sequence

import numpy as np

from telha_planner.core.model import Int32, Int64
from telha_planner.core.request import OPEN_END
from telha_planner.memory.projection import Changes, Mark, Rows

from .graph import Edges
from .growing import Growing
from .postings import Postings
from .questions import Questions
from .spans import Links, Sources, SourceVersions, Spans
from .vectors import Vectors
from .versions import Nodes, Spaces, Versions


class TenantColumns:
    """
    Everything recall reads of one tenant.

    Attributes:
        mark: How far the store has been read.
        changed_tx: By space row, the newest commit that touched its node versions or vectors.
    """

    def __init__(self) -> None:
        self.mark = Mark()
        self.spaces = Spaces()
        self.sources = Sources()
        self.texts = SourceVersions()
        self.nodes = Nodes()
        self.versions = Versions()
        self.spans = Spans()
        self.links = Links()
        self.edges = Edges()
        self.questions = Questions()
        self.postings = Postings()
        self.vectors: dict[str, Vectors] = {}
        self._activations: list[tuple[int, int, str]] = []
        self.changed_tx = np.zeros(0, np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes held by the columns."""
        tables: Sequence[Growing] = (
            self.sources,
            self.texts,
            self.nodes,
            self.versions,
            self.spans,
            self.links,
            self.edges,
            self.questions,
            *self.vectors.values(),
        )
        return self.postings.nbytes + sum(table.nbytes for table in tables)

    def apply(self, changes: Changes) -> None:
        """Append what is new and close what has ended."""
        self.spaces.load(changes.spaces)
        self.changed_tx = np.concatenate((self.changed_tx, np.zeros(len(changes.spaces), np.int64)))
        self.sources.load(changes.sources)
        self.texts.load(changes.source_versions)
        self.nodes.load(changes.nodes, self.spaces)
        first = len(self.versions)
        space = self.versions.load(changes.node_versions, self.nodes)
        self._touch_rows(space, self.versions.tx_from[first:], self.versions.tx_to[first:])
        self.postings.load(changes.node_versions, first, space)
        self.spans.load(changes.spans, self.sources, self.texts)
        self.links.load(changes.node_spans, self.versions, self.spans)
        self.edges.load(changes.edges, self.nodes)
        self.questions.load(changes.clarifications, self.nodes)
        self._load_vectors(changes)
        if not changes.whole:
            self._close(changes)
        self.mark = changes.mark

    def model_at(self, name: str | None, tx_t: int) -> Vectors | None:
        """The vectors of model *name*, or of the active model if that is None; None if not known at *tx_t*."""
        if name is not None:
            named = self.vectors.get(name)
            return named if named is not None and named.known_from <= tx_t else None
        active = self.active_model(tx_t)
        return None if active is None else self.vectors[active]

    def active_model(self, tx_t: int) -> str | None:
        """The tenant's active model as of *tx_t*."""
        newest = max((one for one in self._activations if one[0] <= tx_t), default=None)
        return None if newest is None else newest[2]

    def _load_vectors(self, changes: Changes) -> None:
        for number, model, dimensions, baseline in changes.vector_models:
            self.vectors[model] = Vectors(number, dimensions, baseline)
        for number, model, tx_from in changes.active_models:
            self._activations.append((tx_from, number, model))
            self.vectors[model].active_from = min(self.vectors[model].active_from, tx_from)
        by_model: dict[str, list[tuple[object, ...]]] = {}
        for row in changes.vectors:
            by_model.setdefault(row[2], []).append(row)
        for model, rows in by_model.items():
            vectors = self.vectors[model]
            node = vectors.load(rows, self.nodes)
            self._touch_rows(self.nodes.space[node], vectors.tx_from[-len(rows) :], vectors.tx_to[-len(rows) :])

    def _close(self, changes: Changes) -> None:
        row, tx_to = _closings(self.versions, changes.closed_node_versions)
        self.versions.tx_to[row] = tx_to
        self._touch(self.versions.space[row], tx_to)
        row, tx_to = _closings(self.links, changes.closed_node_spans)
        self.links.tx_to[row] = tx_to
        row, tx_to = _closings(self.edges, changes.closed_edges)
        self.edges.tx_to[row] = tx_to
        row, tx_to = _closings(self.questions, changes.closed_clarifications)
        self.questions.tx_to[row] = tx_to
        for vectors in self.vectors.values():
            row, tx_to = _closings(vectors, changes.closed_vectors)
            vectors.tx_to[row] = tx_to
            self._touch(self.nodes.space[vectors.node[row]], tx_to)

    def _touch_rows(self, spaces: Int32, tx_from: Int64, tx_to: Int64) -> None:
        """Note the beginning of new rows, and the end of those that had ended before they were read."""
        self._touch(spaces, tx_from)
        ended = tx_to < OPEN_END
        self._touch(spaces[ended], tx_to[ended])

    def _touch(self, spaces: Int32, instants: Int64) -> None:
        np.maximum.at(self.changed_tx, spaces, instants)


def _closings(table: Growing, closed: Rows) -> tuple[Int64, Int64]:
    numbers = np.fromiter((number for number, _ in closed), np.int64, len(closed))
    ends = np.fromiter((tx_to for _, tx_to in closed), np.int64, len(closed))
    rows = table.rows_of(numbers)
    return rows[rows >= 0], ends[rows >= 0]

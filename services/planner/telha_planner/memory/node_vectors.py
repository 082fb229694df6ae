"""
Vectors of nodes: one per model and valid start, the caller's own or made from the node's text.

A vector belongs to what a node says since some instant. The caller's own vector wins over one made from the text, and
stays until the node says something else.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from telha_planner.core.errors import RequestInvalid, VectorLegUnavailable
from telha_planner.core.request import OPEN_END
from telha_planner.models.embedders.seam import Model

from .embedded import TextVector
from .pending import Pending
from .records import VectorRecord
from .store import chunks
from .tables import vector
from .vector_models import VectorModels

UNKNOWN_BASELINE = 0.0
"""Baseline of a caller's model: without a measured one, a cosine is taken as it is."""


class _Row(NamedTuple):
    row_no: int
    model: str
    valid_from: int
    text_hash: bytes | None


class NodeVector(NamedTuple):
    """A vector to store; without *text_hash* it is the caller's own."""

    model: str
    values: bytes
    text_hash: bytes | None = None


class NodeVectors:
    """What a batch does to the vectors of the nodes *node_nos*; rows go into *pending*."""

    def __init__(self, pending: Pending, node_nos: Iterable[int]) -> None:
        self._pending = pending
        self._models = VectorModels(pending)
        self._standing: dict[int, list[_Row]] = {}
        commit = pending.commit
        for chunk in chunks(node_nos):
            statement = sa.select(
                vector.c.node_no, vector.c.row_no, vector.c.model, vector.c.valid_from, vector.c.text_hash
            ).where(vector.c.tenant == commit.tenant, vector.c.node_no.in_(chunk), commit.stands(vector))
            for node_no, *rest in commit.connection.execute(statement):
                self._standing.setdefault(node_no, []).append(_Row(*rest))

    def own(self, place: str, record: VectorRecord) -> NodeVector:
        """
        The caller's vector, checked.

        Raises:
            RequestInvalid: It is not finite, or not of its model's dimensions.
        """
        with np.errstate(over="ignore"):
            values = np.asarray(record.values, dtype="<f4")
        if not np.isfinite(values).all():
            raise RequestInvalid(field=f"{place}.vector.values", rule="must be finite as 32-bit floats")
        if not self._models.fits(Model(record.model, len(values), UNKNOWN_BASELINE)):
            known = self._models.dimensions(record.model)
            rule = f"must hold {known:,} values, as every vector of this model"
            raise RequestInvalid(field=f"{place}.vector.values", rule=rule)
        return NodeVector(record.model, values.tobytes())

    def made(self, model: Model, made: TextVector) -> NodeVector:
        """
        A vector made from a node's text.

        Raises:
            VectorLegUnavailable: The tenant has vectors of a model of that name, with other dimensions.
        """
        self.know(model)
        return NodeVector(model.name, made.values, made.text_hash)

    def replace(self, node_no: int, new: NodeVector | None, start: int) -> None:
        """
        Give a node that says something new from *start* its vector.

        A vector belongs to what the node said: without a new one, the old ones end. With one, those of the same model
        that began earlier stay for what remains of that time.
        """
        for row in self._standing.get(node_no, ()):
            if new is None or row.model != new.model or row.valid_from >= start:
                self._pending.close(vector, row.row_no)
        if new is not None:
            self._add(node_no, new, start)

    def put(self, node_no: int, new: NodeVector, start: int) -> None:
        """
        Give a node that stays as it is a vector from *start*.

        An equal one writes nothing, and neither does one made from the text where the caller has given its own.
        """
        rows = [row for row in self._standing.get(node_no, ()) if row.model == new.model]
        in_force = max((row for row in rows if row.valid_from <= start), key=lambda row: row.valid_from, default=None)
        if in_force is not None and self._stands_for(in_force, new, start):
            return
        for row in rows:
            if row.valid_from >= start:
                self._pending.close(vector, row.row_no)
        self._add(node_no, new, start)

    def know(self, model: Model) -> None:
        """
        Add *model*, if it is new, though there is no vector of it yet.

        Raises:
            VectorLegUnavailable: The tenant has vectors of a model of that name, with other dimensions.
        """
        if not self._models.fits(model):
            known = self._models.dimensions(model.name)
            cause = f"memory holds vectors of {model.name} with {known} values, not {model.dimensions}"
            raise VectorLegUnavailable(cause=cause)

    def _stands_for(self, row: _Row, new: NodeVector, start: int) -> bool:
        if new.text_hash is not None:
            return row.text_hash is None or (row.text_hash == new.text_hash and row.valid_from == start)
        if row.text_hash is not None:
            return False
        commit = self._pending.commit
        stored = sa.select(vector.c["values"]).where(vector.c.tenant == commit.tenant, vector.c.row_no == row.row_no)
        return bool(commit.connection.execute(stored).scalar_one() == new.values)

    def _add(self, node_no: int, new: NodeVector, start: int) -> None:
        commit = self._pending.commit
        row = (commit.tenant, commit.number(), node_no, new.model, start, new.values, commit.tx, OPEN_END)
        self._pending.rows(vector).append((*row, new.text_hash))

"""
Vectors of nodes: one per model and valid start.

The first vector of a model fixes its dimensions. The first model of a tenant is its active one; a further model is
stored beside it and becomes active only when the tenant is moved to it on purpose.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import OPEN_END

from .pending import Pending
from .records import VectorRecord
from .store import chunks
from .tables import vector, vector_model

UNKNOWN_BASELINE = 0.0
"""Baseline of a caller's model: without a measured one, a cosine is taken as it is."""


class _Row(NamedTuple):
    row_no: int
    model: str
    valid_from: int
    values: bytes


class NodeVectors:
    """What a batch does to the vectors of its nodes; rows go into *pending*."""

    def __init__(self, pending: Pending, node_nos: Iterable[int]) -> None:
        self._pending = pending
        commit = pending.commit
        models = sa.select(vector_model.c.model, vector_model.c.dimensions).where(
            vector_model.c.tenant == commit.tenant
        )
        self._dimensions: dict[str, int] = {row.model: row.dimensions for row in commit.connection.execute(models)}
        self._standing: dict[int, list[_Row]] = {}
        for chunk in chunks(node_nos):
            statement = sa.select(
                vector.c.node_no, vector.c.row_no, vector.c.model, vector.c.valid_from, vector.c["values"]
            ).where(vector.c.tenant == commit.tenant, vector.c.node_no.in_(chunk), commit.stands(vector))
            for node_no, *rest in commit.connection.execute(statement):
                self._standing.setdefault(node_no, []).append(_Row(*rest))

    def replace(self, place: str, node_no: int, record: VectorRecord | None, start: int) -> None:
        """
        Give a node that says something new from *start* its vector.

        A vector belongs to what the node said: without a new one, the old ones end. With one, those of the same model
        that began earlier stay for what remains of that time.
        """
        values = None if record is None else self._checked(place, record)
        for row in self._standing.get(node_no, ()):
            if record is None or row.model != record.model or row.valid_from >= start:
                self._pending.close(vector, row.row_no)
        if record is not None and values is not None:
            self._add(node_no, record.model, start, values)

    def put(self, place: str, node_no: int, record: VectorRecord, start: int) -> None:
        """Give a node that stays as it is another vector from *start*; an equal one writes nothing."""
        values = self._checked(place, record)
        rows = [row for row in self._standing.get(node_no, ()) if row.model == record.model]
        in_force = max((row for row in rows if row.valid_from <= start), key=lambda row: row.valid_from, default=None)
        if in_force is not None and in_force.values == values:
            return
        for row in rows:
            if row.valid_from >= start:
                self._pending.close(vector, row.row_no)
        self._add(node_no, record.model, start, values)

    def _checked(self, place: str, record: VectorRecord) -> bytes:
        commit = self._pending.commit
        with np.errstate(over="ignore"):
            values = np.asarray(record.values, dtype="<f4")
        if not np.isfinite(values).all():
            raise RequestInvalid(field=f"{place}.vector.values", rule="must be finite as 32-bit floats")
        known = self._dimensions.get(record.model)
        if known is None:
            active_from = OPEN_END if self._dimensions else commit.tx
            self._dimensions[record.model] = len(values)
            self._pending.rows(vector_model).append(
                (commit.tenant, commit.number(), record.model, len(values), UNKNOWN_BASELINE, active_from)
            )
        elif known != len(values):
            rule = f"must hold {known:,} values, as every vector of this model"
            raise RequestInvalid(field=f"{place}.vector.values", rule=rule)
        return values.tobytes()

    def _add(self, node_no: int, model: str, start: int, values: bytes) -> None:
        commit = self._pending.commit
        row = (commit.tenant, commit.number(), node_no, model, start, values, commit.tx, OPEN_END, None)
        self._pending.rows(vector).append(row)

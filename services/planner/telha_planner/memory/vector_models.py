"""
The models of a tenant's vectors, and which of them is active as of when.

The first vector of a model fixes its dimensions; an embedder states its baseline too. The first model of a tenant is
its active one; a further one is stored beside it and becomes active only when the tenant is moved to it on purpose.
"""

import sqlalchemy as sa

from telha_planner.models.embedders.seam import Model

from .clock import Commit
from .pending import Pending
from .tables import active_model, vector_model


class VectorModels:
    """The models that a commit knows; new ones go into *pending*."""

    def __init__(self, pending: Pending) -> None:
        self._pending = pending
        commit = pending.commit
        models = sa.select(vector_model.c.model, vector_model.c.dimensions).where(
            vector_model.c.tenant == commit.tenant
        )
        self._dimensions: dict[str, int] = {row.model: row.dimensions for row in commit.connection.execute(models)}
        # What an earlier document of the same commit has added.
        self._dimensions |= {name: dimensions for _, _, name, dimensions, _ in pending.rows(vector_model)}

    def fits(self, model: Model) -> bool:
        """
        Whether a vector of *model* may be stored; a model that is new is added.

        False if the tenant has vectors of that name with other dimensions.
        """
        known = self._dimensions.get(model.name)
        if known is not None:
            return known == model.dimensions
        commit = self._pending.commit
        first = not self._dimensions
        self._dimensions[model.name] = model.dimensions
        row = (commit.tenant, commit.number(), model.name, model.dimensions, model.baseline)
        self._pending.rows(vector_model).append(row)
        if first:
            self._pending.rows(active_model).append((commit.tenant, commit.number(), model.name, commit.tx))
        return True

    def dimensions(self, model: str) -> int:
        """Values per vector of a model that is known."""
        return self._dimensions[model]


def active(connection: sa.Connection, tenant: int) -> str | None:
    """The tenant's active model, None if it has none."""
    newest = (
        sa.select(active_model.c.model)
        .where(active_model.c.tenant == tenant)
        .order_by(active_model.c.tx_from.desc(), active_model.c.row_no.desc())
        .limit(1)
    )
    found = connection.execute(newest).scalar()
    return None if found is None else str(found)


def activate(commit: Commit, model: str) -> None:
    """Make *model* the active one from this commit on."""
    row = {"tenant": commit.tenant, "row_no": commit.number(), "model": model, "tx_from": commit.tx}
    commit.connection.execute(sa.insert(active_model).values(row))

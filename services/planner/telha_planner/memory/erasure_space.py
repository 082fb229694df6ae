"""
Erasure of a space: all that was remembered in it, in one transaction.

A space holds together: nodes rest on sources of their own space, and edges join nodes of one space, so whatever hangs
on a row of the space goes with it and nothing outside loses anything. What stays is a row of `erasure` for each source,
with the space's name, and one with an id of zeros for what the space held besides; replicas then drop what they hold.
"""

import sqlalchemy as sa

from telha_planner.core.errors import NotFound

from .bulk import bulk_insert
from .clock import Commit
from .receipts import Removed, SpaceReceipt
from .tables import (
    clarification,
    derivation,
    edge,
    erasure,
    node,
    node_span,
    node_version,
    source,
    source_version,
    space,
    span,
    vector,
)

NO_SOURCE = bytes(16)
"""Stands in `erasure` for what a space held beside its sources."""


def erase(commit: Commit, name: str) -> SpaceReceipt:
    """
    Erase the space *name*.

    Raises:
        NotFound: There is no such space.
    """
    found = sa.select(space.c.space_no).where(space.c.tenant == commit.tenant, space.c.name == name)
    space_no = commit.connection.execute(found).scalar()
    if space_no is None:
        raise NotFound(resource="space")
    here = _Space(commit, int(space_no))
    ids = commit.connection.execute(
        sa.select(source.c.source_id).where(source.c.tenant == commit.tenant, source.c.space_no == space_no)
    ).scalars()
    rows = [(commit.tenant, commit.tx, source_id, name) for source_id in [*ids, NO_SOURCE]]
    # From the leaves to the root: each condition reads rows that still stand.
    here.delete(derivation.c.artifact_no, here.sources)
    here.delete(derivation.c.source_no, here.sources)
    here.delete(node_span.c.version_no, here.versions)
    clarifications = here.delete(clarification.c.node_no, here.nodes)
    vectors = here.delete(vector.c.node_no, here.nodes)
    edges = here.delete(edge.c.from_node_no, here.nodes)
    here.delete(node_version.c.node_no, here.nodes)
    nodes = here.delete(node.c.space_no)
    spans = here.delete(span.c.source_no, here.sources)
    versions = here.delete(source_version.c.source_no, here.sources)
    sources = here.delete(source.c.space_no)
    here.delete(space.c.space_no)
    bulk_insert(commit.connection, erasure, rows)
    return SpaceReceipt(
        space=name,
        tx=commit.tx,
        removed=Removed(sources, versions, spans, nodes, edges, clarifications, vectors),
    )


class _Space:
    """Rows of one space, found where they stand."""

    def __init__(self, commit: Commit, space_no: int) -> None:
        self._commit = commit
        self._space_no = space_no
        self.sources = self._of(source.c.source_no)
        self.nodes = self._of(node.c.node_no)
        self.versions = sa.select(node_version.c.version_no).where(
            node_version.c.tenant == commit.tenant, node_version.c.node_no.in_(self.nodes)
        )

    def delete(self, key: sa.Column[int], among: "sa.Select[int] | None" = None) -> int:
        """Delete the rows whose *key* is *among* those selected, or is the space's number; how many went."""
        condition = key == self._space_no if among is None else key.in_(among)
        statement = sa.delete(key.table).where(key.table.c.tenant == self._commit.tenant, condition)
        return self._commit.connection.execute(statement).rowcount

    def _of(self, number: sa.Column[int]) -> "sa.Select[int]":
        columns = number.table.c
        return sa.select(number).where(columns.tenant == self._commit.tenant, columns.space_no == self._space_no)

"""
What is stated before a commit: versions of nodes, and edges, whose transaction time is open.

Sorted here, not in SQL: an ORDER BY on a key tempts SQLite to walk the whole table in that order.
"""

from collections.abc import Iterable

import sqlalchemy as sa

from .clock import Commit
from .store import chunks
from .tables import edge, node, node_version
from .validity import Standing


def nodes_of(commit: Commit, source_no: int) -> dict[bytes, int]:
    """The numbers of the source's nodes by id, those included of which no version stands."""
    statement = sa.select(node.c.node_id, node.c.node_no).where(
        node.c.tenant == commit.tenant, node.c.source_no == source_no
    )
    return {row.node_id: row.node_no for row in commit.connection.execute(statement)}


def versions_of(commit: Commit, node_nos: Iterable[int]) -> dict[int, list[Standing]]:
    """The standing versions of each node that has any, by valid start."""
    standing: dict[int, list[Standing]] = {}
    for chunk in chunks(node_nos):
        statement = sa.select(
            node_version.c.node_no,
            node_version.c.version_no,
            node_version.c.valid_from,
            node_version.c.valid_to,
            node_version.c.state_hash,
        ).where(node_version.c.tenant == commit.tenant, node_version.c.node_no.in_(chunk), commit.stands(node_version))
        for node_no, *rest in commit.connection.execute(statement):
            standing.setdefault(node_no, []).append(Standing(*rest))
    return {node_no: sorted(rows, key=_valid_start) for node_no, rows in standing.items()}


def edges_of(commit: Commit, source_no: int) -> dict[bytes, list[Standing]]:
    """The standing edges of the source by id, by valid start."""
    statement = sa.select(edge.c.edge_id, edge.c.edge_no, edge.c.valid_from, edge.c.valid_to).where(
        edge.c.tenant == commit.tenant, edge.c.source_no == source_no, commit.stands(edge)
    )
    standing: dict[bytes, list[Standing]] = {}
    for edge_id, *rest in commit.connection.execute(statement):
        standing.setdefault(edge_id, []).append(Standing(*rest))
    return {edge_id: sorted(rows, key=_valid_start) for edge_id, rows in standing.items()}


def _valid_start(row: Standing) -> int:
    return row.valid_from

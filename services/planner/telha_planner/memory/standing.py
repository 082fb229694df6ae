"""What a source's passages say before a commit: its nodes and edges whose transaction time is open."""

import sqlalchemy as sa

from telha_planner.core.request import OPEN_END

from .clock import Commit
from .tables import edge, node, node_version
from .validity import Standing


def nodes_of(commit: Commit, source_no: int) -> tuple[dict[bytes, int], dict[int, list[Standing]]]:
    """The source's nodes by id, those without a standing version included, and the standing versions by node."""
    of_source = (node.c.tenant == commit.tenant, node.c.source_no == source_no)
    node_nos = {
        row.node_id: row.node_no
        for row in commit.connection.execute(sa.select(node.c.node_id, node.c.node_no).where(*of_source))
    }
    versions = (
        sa.select(
            node_version.c.node_no,
            node_version.c.version_no,
            node_version.c.valid_from,
            node_version.c.valid_to,
            node_version.c.state_hash,
        )
        .join(node, sa.and_(node.c.tenant == node_version.c.tenant, node.c.node_no == node_version.c.node_no))
        .where(*of_source, node_version.c.tx_to == OPEN_END)
        .order_by(node_version.c.version_no)
    )
    standing: dict[int, list[Standing]] = {}
    for node_no, *rest in commit.connection.execute(versions):
        standing.setdefault(node_no, []).append(Standing(*rest))
    return node_nos, standing


def edges_of(commit: Commit, source_no: int) -> dict[bytes, list[Standing]]:
    """The source's standing edges by id."""
    statement = (
        sa.select(edge.c.edge_id, edge.c.edge_no, edge.c.valid_from, edge.c.valid_to)
        .where(edge.c.tenant == commit.tenant, edge.c.source_no == source_no, edge.c.tx_to == OPEN_END)
        .order_by(edge.c.edge_no)
    )
    standing: dict[bytes, list[Standing]] = {}
    for edge_id, *rest in commit.connection.execute(statement):
        standing.setdefault(edge_id, []).append(Standing(*rest))
    return standing

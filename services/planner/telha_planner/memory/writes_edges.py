"""
Edges written by API: between two nodes of one space, with confidence and valid time.

Stating the same again writes nothing; stating something else takes the place of what was said about that time.
Ids mean nodes and edges of one space. Where the caller sees nodes with both ids in several, those of `main` are meant,
else those that were there first.
"""

import struct
from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import OPEN_END

from . import known_nodes
from .batch import refuse_repeated, valid_time
from .clock import Commit
from .known_nodes import KnownNode
from .pending import Pending
from .records import EdgeRecord
from .store import chunks
from .tables import edge, node
from .validity import Standing, says_already, supersede


def write(commit: Commit, records: Sequence[EdgeRecord], spaces: tuple[str, ...] | None = None) -> bool:
    """
    Write *records*, between nodes in *spaces* if any are named.

    Returns:
        Whether anything was written.

    Raises:
        RequestInvalid: An item breaks a rule; the field begins with `edges[i]`.
    """
    refuse_repeated((record.edge_id for record in records), "edges", "edge_id")
    ends = (end for record in records for end in (record.from_node, record.to_node))
    nodes = known_nodes.standing(commit, ends, spaces)
    known = _known_edges(commit, (record.edge_id for record in records))
    pending = Pending(commit)
    for index, record in enumerate(records):
        place = f"edges[{index}]"
        one, other = _ends(place, record, nodes)
        owner, rows = known.get((record.edge_id, one.space_no), (None, ()))
        if owner is not None:
            raise RequestInvalid(field=f"{place}.edge_id", rule="must not name an edge that ingestion made")
        start, end = valid_time(commit, place, record.valid_from, record.valid_to)
        state = _state(one.node_no, other.node_no, record.type, record.confidence)
        if says_already(rows, state, start, end) is not None:
            continue
        for row in supersede(rows, start, end):
            pending.supersede_edge(row.number, row.remains_until)
        pending.rows(edge).append(
            (
                commit.tenant,
                commit.number(),
                record.edge_id,
                one.node_no,
                other.node_no,
                record.type,
                record.confidence,
                None,
                start,
                end,
                commit.tx,
                OPEN_END,
            )
        )
    if pending.empty:
        return False
    pending.flush()
    return True


def _ends(place: str, record: EdgeRecord, nodes: dict[bytes, dict[int, KnownNode]]) -> tuple[KnownNode, KnownNode]:
    ones, others = nodes.get(record.from_node), nodes.get(record.to_node)
    if ones is None:
        raise RequestInvalid(field=f"{place}.from_node_id", rule="must be a node that exists")
    if others is None:
        raise RequestInvalid(field=f"{place}.to_node_id", rule="must be a node that exists")
    for space_no, one in ones.items():
        if space_no in others:
            return one, others[space_no]
    raise RequestInvalid(field=f"{place}.to_node_id", rule="must be a node of the same space as from_node_id")


def _known_edges(
    commit: Commit, edge_ids: Iterable[bytes]
) -> dict[tuple[bytes, int], tuple[int | None, list[Standing]]]:
    """By id and space: the source that the edge was derived from, None for none, and what stands of it."""
    known: dict[tuple[bytes, int], tuple[int | None, list[Standing]]] = {}
    for chunk in chunks(edge_ids):
        statement = (
            sa.select(edge, node.c.space_no)
            .join(node, sa.and_(node.c.tenant == edge.c.tenant, node.c.node_no == edge.c.from_node_no))
            .where(edge.c.tenant == commit.tenant, edge.c.edge_id.in_(chunk))
        )
        for row in commit.connection.execute(statement):
            _, standing = known.setdefault((row.edge_id, row.space_no), (row.source_no, []))
            if row.tx_to > commit.tx:
                state = _state(row.from_node_no, row.to_node_no, row.type, row.confidence)
                found = Standing(row.edge_no, row.valid_from, row.valid_to, state)
                standing.append(found)
    return known


def _state(from_node_no: int, to_node_no: int, type_name: str, confidence: float) -> bytes:
    return struct.pack(">qqd", from_node_no, to_node_no, confidence) + type_name.encode()

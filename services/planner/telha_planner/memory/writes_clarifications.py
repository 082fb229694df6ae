"""Clarifications: questions about a node that somebody has to answer. They live in transaction time alone."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import OPEN_END

from . import known_nodes
from .batch import refuse_repeated
from .clock import Commit
from .pending import Pending
from .records import ClarificationRecord
from .store import chunks
from .tables import clarification, node


def write(commit: Commit, records: Sequence[ClarificationRecord], spaces: tuple[str, ...] | None = None) -> bool:
    """
    Write *records* about nodes in *spaces* if any are named.

    One that is known already is closed and stated anew, unless it says the same.

    Returns:
        Whether anything was written.

    Raises:
        RequestInvalid: An item breaks a rule; the field begins with `clarifications[i]`.
    """
    refuse_repeated((record.clarification_id for record in records), "clarifications", "clarification_id")
    nodes = known_nodes.standing(commit, (record.node_id for record in records), spaces)
    known = _known(commit, (record.clarification_id for record in records))
    pending = Pending(commit)
    for index, record in enumerate(records):
        place = f"clarifications[{index}]"
        about = next(iter(nodes.get(record.node_id, {}).values()), None)
        if about is None:
            raise RequestInvalid(field=f"{place}.node_id", rule="must be a node that exists")
        row = known.get((record.clarification_id, about.space_no))
        if row is not None and row.tx_to == OPEN_END:
            if (row.node_no, row.state, row.question) == (about.node_no, record.state, record.question):
                continue
            pending.close(clarification, row.row_no)
        pending.rows(clarification).append(
            (
                commit.tenant,
                commit.number(),
                record.clarification_id,
                about.node_no,
                record.state,
                record.question,
                commit.tx,
                OPEN_END,
            )
        )
    if pending.empty:
        return False
    pending.flush()
    return True


def _known(commit: Commit, ids: Iterable[bytes]) -> dict[tuple[bytes, int], sa.Row[tuple[object, ...]]]:
    """The newest of each, by id and space."""
    found: dict[tuple[bytes, int], sa.Row[tuple[object, ...]]] = {}
    for chunk in chunks(ids):
        statement = (
            sa.select(clarification, node.c.space_no)
            .join(node, sa.and_(node.c.tenant == clarification.c.tenant, node.c.node_no == clarification.c.node_no))
            .where(clarification.c.tenant == commit.tenant, clarification.c.clarification_id.in_(chunk))
        )
        rows = sorted(commit.connection.execute(statement), key=lambda row: int(row.tx_from))
        found.update(((row.clarification_id, row.space_no), row) for row in rows)
    return found

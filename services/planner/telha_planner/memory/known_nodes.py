"""What the store knows of nodes that a batch names."""

from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from .clock import Commit
from .spaces import numbers
from .store import chunks
from .tables import node, node_version


class KnownNode(NamedTuple):
    """
    A node that was written before.

    Attributes:
        source_no: Of the source that it was derived from; None for a node written by API.
    """

    node_no: int
    space_no: int
    source_no: int | None


def known(commit: Commit, node_ids: Iterable[bytes]) -> dict[bytes, KnownNode]:
    """Those of *node_ids* that were ever written, and not erased."""
    found: dict[bytes, KnownNode] = {}
    for chunk in chunks(dict.fromkeys(node_ids)):
        statement = sa.select(node.c.node_id, node.c.node_no, node.c.space_no, node.c.source_no).where(
            node.c.tenant == commit.tenant, node.c.node_id.in_(chunk)
        )
        for node_id, *rest in commit.connection.execute(statement):
            found[node_id] = KnownNode(*rest)
    return found


def standing(
    commit: Commit, node_ids: Iterable[bytes], spaces: tuple[str, ...] | None = None
) -> dict[bytes, KnownNode]:
    """Those of *node_ids* that memory speaks of now, about whatever valid time, in *spaces* if any are named."""
    found = known(commit, node_ids)
    if spaces is not None:
        within = set(numbers(commit.connection, commit.tenant, spaces).values())
        found = {node_id: one for node_id, one in found.items() if one.space_no in within}
    alive: set[int] = set()
    for chunk in chunks(one.node_no for one in found.values()):
        statement = sa.select(node_version.c.node_no).where(
            node_version.c.tenant == commit.tenant, node_version.c.node_no.in_(chunk), commit.stands(node_version)
        )
        alive.update(commit.connection.execute(statement).scalars())
    return {node_id: one for node_id, one in found.items() if one.node_no in alive}

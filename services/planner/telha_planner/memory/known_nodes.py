"""What the store knows of nodes that a batch names."""

from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from telha_planner.caller import MAIN_SPACE

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


def known(commit: Commit, node_ids: Iterable[bytes]) -> dict[bytes, dict[int, KnownNode]]:
    """Those of *node_ids* that were ever written, and not erased: by id, then by the number of their space."""
    found: dict[bytes, dict[int, KnownNode]] = {}
    for chunk in chunks(dict.fromkeys(node_ids)):
        statement = sa.select(node.c.node_id, node.c.node_no, node.c.space_no, node.c.source_no).where(
            node.c.tenant == commit.tenant, node.c.node_id.in_(chunk)
        )
        for node_id, *rest in commit.connection.execute(statement):
            one = KnownNode(*rest)
            found.setdefault(node_id, {})[one.space_no] = one
    return found


def standing(
    commit: Commit, node_ids: Iterable[bytes], spaces: tuple[str, ...] | None = None
) -> dict[bytes, dict[int, KnownNode]]:
    """
    Those of *node_ids* that memory speaks of now, about whatever valid time, in *spaces* if any are named.

    Returns:
        By id, then by the number of their space: that of `main` first, then as they were written.
    """
    names = numbers(commit.connection, commit.tenant, (MAIN_SPACE,) if spaces is None else spaces)
    main, within = names.get(MAIN_SPACE), None if spaces is None else set(names.values())
    found: dict[bytes, list[KnownNode]] = {}
    for node_id, ones in known(commit, node_ids).items():
        # What is out of reach is left out before anything more is asked, as if it were not there.
        reached = [one for one in ones.values() if within is None or one.space_no in within]
        found[node_id] = sorted(reached, key=lambda one: (one.space_no != main, one.node_no))
    alive: set[int] = set()
    for chunk in chunks(one.node_no for ones in found.values() for one in ones):
        statement = sa.select(node_version.c.node_no).where(
            node_version.c.tenant == commit.tenant, node_version.c.node_no.in_(chunk), commit.stands(node_version)
        )
        alive.update(commit.connection.execute(statement).scalars())
    standing = {node_id: {one.space_no: one for one in ones if one.node_no in alive} for node_id, ones in found.items()}
    return {node_id: ones for node_id, ones in standing.items() if ones}

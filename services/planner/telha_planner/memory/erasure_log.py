"""
What is remembered of an erasure: that there was a source of an id, and when it was erased; never its name or text.

Rule: whoever may not read every space learns only of spaces that were erased whole, and only of its own. The log does
not say in which space a single source lay, and to tell would say that it existed.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from .store import Store
from .tables import erasure

_NEWEST = (
    sa.select(erasure.c.source_id, sa.func.max(erasure.c.tx))
    .where(erasure.c.tenant == sa.bindparam("tenant"), erasure.c.source_id.in_(sa.bindparam("ids", expanding=True)))
    .group_by(erasure.c.source_id)
)
_OF_SPACES = _NEWEST.where(erasure.c.space.in_(sa.bindparam("spaces", expanding=True)))


def erased_at(
    store: Store, tenant: int, source_ids: Sequence[bytes], spaces: tuple[str, ...] | None
) -> dict[bytes, int]:
    """
    When sources were erased last, by id; those of which nothing is known are absent.

    Args:
        spaces: Those that the reader may read; None is all.

    Raises:
        Unavailable: The store cannot be read at this moment.
    """
    asked = {"tenant": tenant, "ids": sorted(set(source_ids))}
    if not asked["ids"]:
        return {}
    with store.reading(tenant) as connection:
        if spaces is None:
            rows = connection.execute(_NEWEST, asked)
        else:
            rows = connection.execute(_OF_SPACES, {**asked, "spaces": list(spaces)})
        return {bytes(source_id): int(tx) for source_id, tx in rows}

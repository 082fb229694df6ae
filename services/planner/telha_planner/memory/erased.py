"""What became of sources that a trace names: which versions still stand, which were erased, and when."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from .erasure_space import NO_SOURCE
from .store import chunks
from .tables import erasure, source, source_version, space

Version = tuple[bytes, int]
"""Source and version."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """
    A line of the erasure log.

    Attributes:
        source_id: None of what a space held beside its sources.
        space: Where; None if that was not noted, or there were several.
    """

    tx: int
    source_id: bytes | None
    space: str | None


def standing(
    connection: sa.Connection, tenant: int, spaces: Sequence[str] | None, versions: Iterable[Version]
) -> dict[Version, str]:
    """Those of *versions* that stand in *spaces* (None: in any), with the display name of each."""
    wanted = set(versions)
    found: dict[Version, str] = {}
    for some in chunks(sorted({source_id for source_id, _ in wanted})):
        statement = (
            sa.select(source.c.source_id, source_version.c.version_tx, source_version.c.name)
            .join(
                source_version,
                sa.and_(source_version.c.tenant == source.c.tenant, source_version.c.source_no == source.c.source_no),
            )
            .where(source.c.tenant == tenant, source.c.source_id.in_(some))
        )
        if spaces is not None:
            within = sa.select(space.c.space_no).where(space.c.tenant == tenant, space.c.name.in_(spaces))
            statement = statement.where(source.c.space_no.in_(within))
        for source_id, version_tx, name in connection.execute(statement):
            if (source_id, version_tx) in wanted:
                found[source_id, version_tx] = name
    return found


def first_erasure(connection: sa.Connection, tenant: int, spaces: Sequence[str] | None, version: Version) -> int | None:
    """
    The commit that erased *version* in *spaces* (None: in any): the first of its source after it was written.

    None if there is none.
    """
    source_id, version_tx = version
    conditions = [erasure.c.tenant == tenant, erasure.c.source_id == source_id, erasure.c.tx > version_tx]
    if spaces is not None:
        # Erasures of long ago did not note their space; the source at least is the one that was cited.
        conditions.append(sa.or_(erasure.c.space.is_(None), erasure.c.space.in_(spaces)))
    return connection.execute(sa.select(sa.func.min(erasure.c.tx)).where(*conditions)).scalar()


def latest(connection: sa.Connection, tenant: int, spaces: Sequence[str] | None, after: int) -> Erasure | None:
    """
    The newest erasure after the commit *after* in *spaces*; None: in any space of the tenant.

    One whose space was not noted counts only where every space is read.
    """
    conditions = [erasure.c.tenant == tenant, erasure.c.tx > after]
    if spaces is not None:
        conditions.append(erasure.c.space.in_(spaces))
    statement = sa.select(erasure.c.tx, erasure.c.source_id, erasure.c.space).where(*conditions)
    row = connection.execute(statement.order_by(erasure.c.tx.desc(), erasure.c.source_id).limit(1)).one_or_none()
    return None if row is None else Erasure(row.tx, None if row.source_id == NO_SOURCE else row.source_id, row.space)


def erasures_of(
    connection: sa.Connection, tenant: int, spaces: Sequence[str] | None, source_ids: Iterable[bytes]
) -> dict[bytes, list[int]]:
    """
    Every erasure of *source_ids* in *spaces* (None: in any space of the tenant), ascending; absent where there is none.

    One whose space was not noted counts only where every space may be read: to tell of it would say that it existed.
    """
    found: dict[bytes, list[int]] = {}
    for some in chunks(sorted(set(source_ids))):
        conditions = [erasure.c.tenant == tenant, erasure.c.source_id.in_(some)]
        if spaces is not None:
            conditions.append(erasure.c.space.in_(spaces))
        statement = sa.select(erasure.c.source_id, erasure.c.tx).where(*conditions).order_by(erasure.c.tx)
        for source_id, tx in connection.execute(statement):
            found.setdefault(source_id, []).append(tx)
    return found

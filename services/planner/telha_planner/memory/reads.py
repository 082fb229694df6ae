"""
Sources as callers look at them: one version, its text, a page of a list.

Rule 1: what lies outside the spaces asked for is absent, by the same statement that finds nothing. Of sources with one
id in several of them, that of `main` is meant, else the one that was there first.
Rule 2: a version is visible as of a transaction time; when it became true only decides which one is current at a valid
time.
"""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from telha_planner.caller import MAIN_SPACE
from telha_planner.core.errors import NotFound, RequestInvalid
from telha_planner.core.request import OPEN_END, Window

from .store import Store
from .tables import source, source_version, space

LONGEST_CHARACTER = 4
"""Bytes of a character in UTF-8."""


@dataclass(frozen=True, slots=True)
class StoredSource:
    """
    One version of a source, without its text.

    Attributes:
        content_hash: BLAKE3 of the canonical text.
        length: Bytes of the canonical text.
        span_class: 0 truth, 1 cache (a derived artifact).
    """

    source_no: int
    source_id: bytes
    version_tx: int
    name: str
    uri: str | None
    space: str
    valid_from: int
    content_hash: bytes
    length: int
    span_class: int


_VERSIONS = (
    sa.select(
        source.c.source_no,
        source.c.source_id,
        source_version.c.version_tx,
        source_version.c.name,
        source_version.c.uri,
        space.c.name.label("space"),
        source_version.c.valid_from,
        source_version.c.content_hash,
        source_version.c.length,
        source.c.span_class,
    )
    .join(
        source_version,
        sa.and_(source_version.c.tenant == source.c.tenant, source_version.c.source_no == source.c.source_no),
    )
    .join(space, sa.and_(space.c.tenant == source.c.tenant, space.c.space_no == source.c.space_no))
)


class Sources:
    """Reads of sources; *spaces* None reads every space of the tenant. For one thread at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(
        self, tenant: int, spaces: tuple[str, ...] | None, source_id: bytes, version_tx: int | None, window: Window
    ) -> StoredSource | None:
        """The named version, or the newest that is known and true at *window*; None if there is none."""
        found = _within(_VERSIONS, tenant, spaces).where(source.c.source_id == source_id)
        tx_t = OPEN_END - 1 if window.tx_time is None else window.tx_time
        found = found.where(source_version.c.version_tx <= tx_t)
        if version_tx is not None:
            found = found.where(source_version.c.version_tx == version_tx)
        elif window.valid_time is not None:
            found = found.where(source_version.c.valid_from <= window.valid_time)
        found = found.order_by(
            space.c.name != MAIN_SPACE, source.c.source_no, source_version.c.version_tx.desc()
        ).limit(1)
        with self._store.reading(tenant) as connection:
            row = connection.execute(found).one_or_none()
        return None if row is None else StoredSource(*row)

    def text(self, tenant: int, stored: StoredSource, start: int = 0, limit: int = 0) -> str:
        """
        The canonical text of that version, from byte *start* on.

        Args:
            limit: Most bytes, 0 for all. The piece ends with a character, and holds at least one if there is one.

        Raises:
            NotFound: It was erased meanwhile.
            RequestInvalid: *start* is beyond the end, or inside a character.
        """
        if start > stored.length:
            raise RequestInvalid(field="text_start", rule=f"must be at most {stored.length:,}, the length of the text")
        size = max(limit, LONGEST_CHARACTER) if limit else stored.length
        wanted = sa.select(sa.func.substr(source_version.c.text, start + 1, size)).where(
            source_version.c.tenant == tenant,
            source_version.c.source_no == stored.source_no,
            source_version.c.version_tx == stored.version_tx,
        )
        with self._store.reading(tenant) as connection:
            text = connection.execute(wanted).scalar_one_or_none()
        if text is None:
            raise NotFound(resource="source")
        piece = bytes(text)
        if piece and piece[0] & 0xC0 == 0x80:
            raise RequestInvalid(field="text_start", rule="must not fall inside a character")
        return piece.decode() if start + len(piece) == stored.length else _whole_characters(piece, limit)

    def page(
        self, tenant: int, spaces: tuple[str, ...] | None, after: tuple[bytes, int] | None, limit: int
    ) -> list[StoredSource]:
        """The newest versions of at most *limit* sources behind *after* (id, number), by id."""
        found = _within(_VERSIONS, tenant, spaces).where(source_version.c.tx_to == OPEN_END)
        if after is not None:
            source_id, source_no = after
            same = sa.and_(source.c.source_id == source_id, source.c.source_no > source_no)
            found = found.where(sa.or_(source.c.source_id > source_id, same))
        found = found.order_by(source.c.source_id, source.c.source_no).limit(limit)
        with self._store.reading(tenant) as connection:
            return [StoredSource(*row) for row in connection.execute(found)]


def _within(found: "sa.Select[Any]", tenant: int, spaces: tuple[str, ...] | None) -> "sa.Select[Any]":
    found = found.where(source.c.tenant == tenant)
    return found if spaces is None else found.where(space.c.name.in_(spaces))


def _whole_characters(piece: bytes, limit: int) -> str:
    text = piece[: max(limit, 1)].decode(errors="ignore")  # what is cut off at the end is the only error there is
    return text or piece.decode(errors="ignore")[:1]

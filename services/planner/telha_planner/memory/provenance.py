"""
The spans that nodes written by API rest on: found, checked and, where the ledger has no row, counted.

Rule: a span that is absent and a span of another space get the same answer. A superseded version is still stored and
can be cited; an erased one cannot.
"""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanRef
from telha_planner.models.tokenizers import token_counts

from .pending import Pending
from .records import NodeRecord
from .spaces import Spaces
from .store import chunks
from .tables import source, source_version, span

_Version = tuple[bytes, int]


class _Stored(NamedTuple):
    source_no: int
    space_no: int
    name: str
    length: int


class Slice(NamedTuple):
    """A span's number, its text, and the name of its source."""

    span_no: int
    text: str
    name: str


class Provenance:
    """
    Resolves the provenance of *records*; new ledger rows go into *pending*.

    Raises:
        RequestInvalid: A span does not exist, is cut inside a character, or stands twice on one node.
    """

    def __init__(self, pending: Pending, records: Sequence[NodeRecord], spaces: Spaces) -> None:
        self._pending = pending
        self._slices: dict[SpanRef, Slice] = {}
        stored = self._versions(records)
        wanted: dict[_Version, dict[SpanRef, str]] = {}
        for index, record in enumerate(records):
            for position, ref in enumerate(record.provenance):
                place = f"nodes[{index}].provenance[{position}]"
                if ref in record.provenance[:position]:
                    raise RequestInvalid(field=place, rule="must not stand twice on one node")
                version = stored.get(ref[:2])  # of one id in several spaces: their versions never share an instant
                if version is None or version.space_no != spaces.known(record.space):
                    raise RequestInvalid(field=place, rule="must be a span of a source that exists in the node's space")
                _check_offsets(place, ref, version.length)
                wanted.setdefault(ref[:2], {}).setdefault(ref, place)
        for key, places in wanted.items():
            self._slice(stored[key], key, places)

    def of(self, record: NodeRecord) -> list[Slice]:
        """The spans of *record*, in its order."""
        return [self._slices[ref] for ref in record.provenance]

    def _versions(self, records: Sequence[NodeRecord]) -> dict[_Version, _Stored]:
        commit = self._pending.commit
        stored: dict[_Version, _Stored] = {}
        for chunk in chunks({ref.source_id for record in records for ref in record.provenance}):
            statement = (
                sa.select(
                    source.c.source_id,
                    source_version.c.version_tx,
                    source.c.source_no,
                    source.c.space_no,
                    source_version.c.name,
                    source_version.c.length,
                )
                .join(
                    source_version,
                    sa.and_(
                        source_version.c.tenant == source.c.tenant, source_version.c.source_no == source.c.source_no
                    ),
                )
                .where(source.c.tenant == commit.tenant, source.c.source_id.in_(chunk))
            )
            for source_id, version_tx, *rest in commit.connection.execute(statement):
                stored[source_id, version_tx] = _Stored(*rest)
        return stored

    def _slice(self, stored: _Stored, key: _Version, places: dict[SpanRef, str]) -> None:
        commit = self._pending.commit
        text = commit.connection.execute(
            sa.select(source_version.c.text).where(
                source_version.c.tenant == commit.tenant,
                source_version.c.source_no == stored.source_no,
                source_version.c.version_tx == key[1],
            )
        ).scalar_one()
        ledger = self._ledger(stored.source_no, key[1])
        for ref, place in places.items():
            for name, offset in (("start", ref.start), ("end", ref.end)):
                if offset < len(text) and text[offset] & 0xC0 == 0x80:
                    raise RequestInvalid(field=f"{place}.{name}", rule="must not fall inside a character")
            piece = text[ref.start : ref.end].decode()
            span_no = ledger.get((ref.start, ref.end))
            if span_no is None:
                span_no = commit.number()
                row = (commit.tenant, span_no, stored.source_no, key[1], ref.start, ref.end, None)
                self._pending.rows(span).append((*row, *token_counts(piece)))
            self._slices[ref] = Slice(span_no, piece, stored.name)

    def _ledger(self, source_no: int, version_tx: int) -> dict[tuple[int, int], int]:
        commit = self._pending.commit
        statement = sa.select(span.c.start, span.c.end, span.c.span_no).where(
            span.c.tenant == commit.tenant, span.c.source_no == source_no, span.c.version_tx == version_tx
        )
        return {(start, end): span_no for start, end, span_no in commit.connection.execute(statement)}


def _check_offsets(place: str, ref: SpanRef, length: int) -> None:
    if not 0 <= ref.start < ref.end:
        raise RequestInvalid(field=f"{place}.end", rule="must be greater than start")
    if ref.end > length:
        raise RequestInvalid(field=f"{place}.end", rule=f"must be at most {length}, the length of the source")

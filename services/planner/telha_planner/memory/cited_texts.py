"""
The texts that nodes written by API rest on, read before their write begins so that they can be embedded.

Versions are immutable, so what is read here is what the write will find. Nothing is refused here: a span that does not
exist leaves its node without a text, and the write then says what is wrong with it.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from telha_planner.core.model import SpanRef

from .embedded import text_to_embed
from .records import NodeRecord
from .store import Store
from .tables import source, source_version, space

_Version = tuple[str, bytes, int]
"""Space, source and version: what lies in another space than the node is not read, so it is not embedded either."""

_TEXT = (
    sa.select(source_version.c.name, source_version.c.text)
    .join(source, sa.and_(source.c.tenant == source_version.c.tenant, source.c.source_no == source_version.c.source_no))
    .join(space, sa.and_(space.c.tenant == source.c.tenant, space.c.space_no == source.c.space_no))
    .where(
        source.c.tenant == sa.bindparam("tenant"),
        space.c.name == sa.bindparam("space"),
        source.c.source_id == sa.bindparam("source_id"),
        source_version.c.version_tx == sa.bindparam("version_tx"),
    )
)


def texts_to_embed(store: Store, tenant: int, records: Sequence[NodeRecord]) -> dict[bytes, str]:
    """By node id, the text of each of *records* that rests on spans and brings no vector of its own."""
    wanted = [record for record in records if record.vector is None and record.provenance]
    versions: dict[_Version, tuple[str, bytes] | None] = {}
    if not wanted:
        return {}
    with store.reading(tenant) as connection:
        for version in sorted({(record.space, *ref[:2]) for record in wanted for ref in record.provenance}):
            where = {"tenant": tenant, **dict(zip(("space", "source_id", "version_tx"), version, strict=True))}
            found = connection.execute(_TEXT, where).one_or_none()
            versions[version] = None if found is None else (str(found.name), bytes(found.text))
    texts = {record.node_id: _text(record.space, record.provenance, versions) for record in wanted}
    return {node_id: text for node_id, text in texts.items() if text is not None}


def _text(space_name: str, spans: Sequence[SpanRef], versions: dict[_Version, tuple[str, bytes] | None]) -> str | None:
    names: dict[str, None] = {}
    pieces: list[str] = []
    for span in spans:
        version = versions[(space_name, *span[:2])]
        if version is None:
            return None
        name, text = version
        try:
            pieces.append(text[span.start : span.end].decode())
        except UnicodeDecodeError:
            return None
        names[name] = None
    return text_to_embed("\n".join(names), pieces)

"""Small documents as ingestion leaves them, a clock to turn by hand, and a dump of everything a store holds."""

import uuid
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from blake3 import blake3
from telha_planner.memory import keys, tables
from telha_planner.memory.records import (
    DocumentRecord,
    PassageEdge,
    PassageNode,
    SpanRecord,
    Terms,
    TokenCounts,
)
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer

NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
DAY = 86_400_000_000
JUNE = 1_780_272_000_000_000
SEPTEMBER = JUNE + 92 * DAY
FIRST_TENANT = 1
"""Number of the tenant that is made first in an empty store."""


class HandClock:
    """A wall clock that moves only when told."""

    def __init__(self, start: int = JUNE) -> None:
        self.time = start

    def __call__(self) -> int:
        return self.time


def uid(name: str) -> bytes:
    """The same 16 bytes for the same name."""
    return uuid.uuid5(NAMESPACE, name).bytes


def counts_of(text: str) -> TokenCounts:
    other = sum(1 for character in text if ord(character) > 0x7F)
    words = max(1, len(text) // 4)
    return TokenCounts(sum(1 for character in text if ord(character) <= 0x7F), other, words, words)


def terms_of(text: str) -> Terms:
    counted: dict[int, int] = {}
    for word in text.split():
        term = int.from_bytes(blake3(word.encode()).digest(8), "little")
        counted[term] = counted.get(term, 0) + 1
    ids = np.array(sorted(counted), dtype="<u8")
    counts = np.array([counted[term] for term in sorted(counted)], dtype="<u4")
    return Terms(ids.tobytes(), counts.tobytes(), sum(counted.values()))


def a_document(
    name: str,
    paragraphs: list[str],
    *,
    space: str = "main",
    valid_from: int | None = None,
    source_id: bytes | None = None,
) -> DocumentRecord:
    """One paragraph per span and node; a node's id comes from the paragraph's first word, an edge joins neighbours."""
    identity = source_id or uid(f"{space}/{name}")
    spans, nodes, position, pieces = [], [], 0, []
    for index, paragraph in enumerate(paragraphs):
        raw = paragraph.encode()
        spans.append(SpanRecord(position, position + len(raw), "paragraph", counts_of(paragraph)))
        label = paragraph.split()[0]
        nodes.append(
            PassageNode(
                uid(f"{identity.hex()}/{label}"), "passage", (index,), f'{{"label":"{label}"}}', terms_of(paragraph)
            )
        )
        pieces.append(raw)
        position += len(raw) + 2
    text = b"\n\n".join(pieces)
    edges = [
        PassageEdge(uid(f"{one.node_id.hex()}-{two.node_id.hex()}"), one.node_id, two.node_id, "next")
        for one, two in pairwise(nodes)
    ]
    return DocumentRecord(
        source_id=identity,
        space=space,
        name=name,
        uri=None,
        media_type="text/plain",
        text=text,
        content_hash=blake3(text).digest(),
        input_hash=blake3(b"input" + name.encode() + b"\0" + text).digest(),
        valid_from=valid_from,
        spans=tuple(spans),
        nodes=tuple(nodes),
        edges=tuple(edges),
    )


def renamed(document: DocumentRecord, name: str) -> DocumentRecord:
    """The same content under another name."""
    return replace(document, name=name, input_hash=blake3(name.encode() + document.input_hash).digest())


def opened(folder: Path) -> Store:
    return Store.open(f"sqlite:///{folder}/memory.db", busy_timeout_ms=10_000)


def a_tenant(store: Store, name: str = "acme", spaces: list[str] | None = None) -> tuple[int, str]:
    """A new tenant's number and a key with every right."""
    key, _ = keys.create(
        store,
        name,
        name="test",
        rights=["read", "write", "admin"],
        spaces=spaces,
        now=lambda: JUNE,
        create_tenant=True,
    )
    with store.reading() as connection:
        found = keys.authenticate(connection, key, lambda: JUNE)
    assert found is not None
    return found[0].tenant, key


def a_writer(store: Store, start: int = JUNE) -> tuple[Writer, HandClock]:
    clock = HandClock(start)
    return Writer(store, clock), clock


def dump(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Everything the store holds, by table."""
    held: dict[str, list[tuple[Any, ...]]] = {}
    with store.reading() as connection:
        for table in tables.DIRECTORY:
            held[table.name] = sorted(tuple(row) for row in connection.execute(sa.select(table)))
        for number in connection.execute(sa.select(tables.tenant.c.tenant)).scalars().all():
            store.act_for(connection, number)
            for table in tables.CONTENT:
                mine = sa.select(table).where(table.c.tenant == number).order_by(*table.primary_key)
                held.setdefault(table.name, []).extend(tuple(row) for row in connection.execute(mine))
    return held


def rows_of(store: Store, tenant: int) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of a tenant by table, without the tenant's number and its keys."""
    held: dict[str, list[tuple[Any, ...]]] = {}
    with store.reading(tenant) as connection:
        for table in tables.metadata.sorted_tables:
            if table.name in {"tenant", "api_key"}:
                continue
            columns = [column for column in table.columns if column.name != "tenant"]
            statement = sa.select(*columns).where(table.c.tenant == tenant).order_by(*table.primary_key)
            held[table.name] = [tuple(row) for row in connection.execute(statement)]
    return held


def visible(store: Store, tenant: int, valid_t: int, tx_t: int) -> dict[bytes, tuple[str, tuple[str, ...]]]:
    """Properties and span texts of every node visible at two instants; fails if a node is visible twice."""
    nodes = sa.text(
        "SELECT o.node_id, n.version_no, n.properties FROM node_version n "
        "JOIN node o ON o.tenant = n.tenant AND o.node_no = n.node_no "
        "WHERE n.tenant = :tenant AND n.tx_from <= :tx AND n.tx_to > :tx "
        "AND n.valid_from <= :valid AND n.valid_to > :valid"
    )
    links = sa.text(
        'SELECT l.version_no, v.text, s.start, s."end" FROM node_span l '
        "JOIN span s ON s.tenant = l.tenant AND s.span_no = l.span_no "
        "JOIN source_version v ON v.tenant = s.tenant AND v.source_no = s.source_no AND v.version_tx = s.version_tx "
        "WHERE l.tenant = :tenant AND l.tx_from <= :tx AND l.tx_to > :tx ORDER BY l.link_no"
    )
    with store.reading(tenant) as connection:
        texts: dict[int, list[str]] = {}
        for version_no, text, start, end in connection.execute(links, {"tenant": tenant, "tx": tx_t}):
            texts.setdefault(version_no, []).append(text[start:end].decode())
        found: dict[bytes, tuple[str, tuple[str, ...]]] = {}
        for node_id, version_no, properties in connection.execute(
            nodes, {"tenant": tenant, "tx": tx_t, "valid": valid_t}
        ):
            assert node_id not in found, "two versions of one node are visible at once"
            found[node_id] = (properties, tuple(texts.get(version_no, ())))
    return found


def visible_edges(store: Store, tenant: int, valid_t: int, tx_t: int) -> list[bytes]:
    """Ids of the edges visible at two instants."""
    edge = tables.edge.c
    statement = sa.select(edge.edge_id).where(
        edge.tenant == tenant,
        edge.tx_from <= tx_t,
        edge.tx_to > tx_t,
        edge.valid_from <= valid_t,
        edge.valid_to > valid_t,
    )
    with store.reading(tenant) as connection:
        return sorted(connection.execute(statement).scalars())

"""Small documents as ingestion leaves them, a clock to turn by hand, and a dump of everything a store holds."""

import sqlite3
import uuid
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from blake3 import blake3
from telha_planner.memory import keys
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
        found = keys.authenticate(connection, key)
    assert found is not None
    return found[0].tenant, key


def a_writer(store: Store, start: int = JUNE) -> tuple[Writer, HandClock]:
    clock = HandClock(start)
    return Writer(store, clock), clock


def dump(folder: Path) -> str:
    """Everything the store holds, as SQL."""
    connection = sqlite3.connect(folder / "memory.db")
    try:
        return "\n".join(connection.iterdump())
    finally:
        connection.close()

"""
What makes two node versions the same: BLAKE3 over the number, the lengths and the bytes of their parts.

Equal state means that nothing is written; so the state covers all that a reader could see, and no coordinate or
instant of an ingested node, since those move when a document is edited elsewhere.
"""

import struct
from collections.abc import Iterable

from blake3 import blake3

from telha_planner.core.model import SpanRef

from .records import Terms


def passage_state(type_name: str, properties: str, terms: Terms, texts: Iterable[bytes]) -> bytes:
    """The state of a node made by ingestion: *texts* are those of its spans, in order."""
    return _digest(b"passage 1", [type_name.encode(), properties.encode(), terms.ids, terms.counts, *texts])


def written_state(type_name: str, properties: str, provenance: Iterable[SpanRef]) -> bytes:
    """The state of a node written by API: the spans of *provenance* are immutable, so coordinates stand for texts."""
    coordinates = [
        b"%s%d:%d:%d" % (span.source_id, span.source_version_tx, span.start, span.end) for span in provenance
    ]
    return _digest(b"written 1", [type_name.encode(), properties.encode(), *coordinates])


def _digest(domain: bytes, parts: list[bytes]) -> bytes:
    lengths = struct.pack(f">{len(parts) + 1}Q", len(parts), *map(len, parts))
    return blake3(b"".join([domain, lengths, *parts])).digest()

"""
Ids and hashes of what ingestion makes: functions of content and place, never of time or order of arrival.

Rule 1: what is hashed is length-delimited (u32 big-endian, then the bytes), so that no two lists of parts collide.
Rule 2: a passage's id comes from its section's titles, its kind and its own text, so inserting a paragraph leaves the
ids of all others alone.
"""

import hashlib
import struct
from collections.abc import Iterable

from blake3 import blake3

NAMESPACE = bytes.fromhex("6f0c1b5e8e0a4c0f9d5b1a7c53e2d941")
"""The namespace of derived source ids; it never changes."""

_LENGTH = struct.Struct(">I").pack


def uuid5(namespace: bytes, parts: Iterable[str | bytes]) -> bytes:
    """The 16 bytes of a UUIDv5 (RFC 9562) in *namespace*, over length-delimited *parts*."""
    return _versioned(hashlib.sha1(namespace + delimited(parts), usedforsecurity=False).digest())


def delimited(parts: Iterable[str | bytes]) -> bytes:
    """*parts* one after the other, each behind its length; strings as UTF-8."""
    pieces: list[bytes] = []
    for part in parts:
        encoded = part.encode() if isinstance(part, str) else part
        pieces += (_LENGTH(len(encoded)), encoded)
    return b"".join(pieces)


def source_id(tenant_name: str, space: str, name: str, uri: str | None) -> bytes:
    """The id of a source for which the caller gave none: by its URI if it has one, else by its name."""
    place = ("name", name) if uri is None else ("uri", uri)
    return uuid5(NAMESPACE, (tenant_name, space, *place))


def edge_id(source: bytes, from_node: bytes, edge_type: str, to_node: bytes) -> bytes:
    """The id of an edge between two nodes of *source*."""
    # What `uuid5` does, spelled out: there are more edges than anything else.
    name = b"".join((_LENGTH(16), from_node, _LENGTH(len(edge_type)), edge_type.encode(), _LENGTH(16), to_node))
    return _versioned(hashlib.sha1(source + name, usedforsecurity=False).digest())


def content_hash(text: bytes) -> bytes:
    """BLAKE3 of *text*, 32 bytes."""
    return blake3(text).digest()


def _versioned(digest: bytes) -> bytes:
    identity = bytearray(digest[:16])
    identity[6] = identity[6] & 0x0F | 0x50
    identity[8] = identity[8] & 0x3F | 0x80
    return bytes(identity)

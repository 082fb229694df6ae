"""Ids of nodes and edges."""

import uuid

from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.ingest import identity

PARTS = st.lists(st.one_of(st.text(max_size=8), st.binary(max_size=8)), max_size=5)
IDS = st.binary(min_size=16, max_size=16)


@settings(deadline=None, max_examples=200)
@given(IDS, PARTS)
def test_ids_are_uuid5(namespace: bytes, parts: list[str | bytes]) -> None:
    """M2: ids are version 5 UUIDs over length-delimited parts."""
    made = uuid.UUID(bytes=identity.uuid5(namespace, parts))
    assert (made.version, made.variant) == (5, uuid.RFC_4122)
    name = "".join(map(chr, identity.delimited(parts)))
    if name.isascii():
        assert made == uuid.uuid5(uuid.UUID(bytes=namespace), name)


@settings(deadline=None, max_examples=200)
@given(PARTS, PARTS)
def test_different_parts_never_read_alike(left: list[str | bytes], right: list[str | bytes]) -> None:
    """M2: what is hashed tells where each part ends."""
    as_bytes = [[part.encode() if isinstance(part, str) else part for part in parts] for parts in (left, right)]
    assert (identity.delimited(left) == identity.delimited(right)) == (as_bytes[0] == as_bytes[1])


@given(IDS, IDS, IDS, st.sampled_from(["contains", "next", "links"]))
@settings(deadline=None)
def test_edges_are_named_by_their_ends(source: bytes, from_node: bytes, to_node: bytes, edge_type: str) -> None:
    """M2: an edge's id is UUIDv5 over source, from, type and to."""
    assert identity.edge_id(source, from_node, edge_type, to_node) == identity.uuid5(
        source, (from_node, edge_type, to_node)
    )

"""
Texts as they are embedded, and the vectors made of them before a write begins.

What is embedded of a node is its preface (names of source and sections, a table's head, …) and then the texts of its
spans, line by line. A vector is known by its model and the hash of that text: equal texts share one vector, which is
made once and copied.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa
from blake3 import blake3

from telha_planner.models.embedders.seam import Model

from .store import Store, chunks
from .tables import vector

HASH_BYTES = 16


class TextVector(NamedTuple):
    """
    A vector made from a text.

    Attributes:
        values: float32 little-endian.
    """

    text_hash: bytes
    values: bytes


@dataclass(frozen=True, slots=True)
class Embedded:
    """
    The vectors of a batch.

    Attributes:
        model: Whose vectors they are.
        text_of: Node id → hash of its text, for every node that is to have a vector.
        values: Hash → vector.
        passed_over: Sources whose documents were not looked at, since they say nothing new.
    """

    model: Model
    text_of: Mapping[bytes, bytes]
    values: Mapping[bytes, bytes]
    passed_over: frozenset[bytes] = frozenset()

    def of(self, node_id: bytes) -> TextVector | None:
        """The vector of a node, None if it is to have none."""
        text_hash = self.text_of.get(node_id)
        return None if text_hash is None else TextVector(text_hash, self.values[text_hash])


class Unprepared(Exception):
    """A document that was passed over turned out to say something new: another writer was faster."""


def text_to_embed(preface: str, texts: Iterable[str]) -> str:
    """The text of a node as it is embedded."""
    return "\n".join(filter(None, (preface, *texts)))


def hash_of(text: str) -> bytes:
    """By what the vector of *text* is known."""
    return blake3(text.encode()).digest(HASH_BYTES)


def known_vectors(store: Store, tenant: int, model: str, hashes: Iterable[bytes]) -> dict[bytes, bytes]:
    """The vectors of *model* that *tenant* has of texts already, by their hashes."""
    found: dict[bytes, bytes] = {}
    with store.reading(tenant) as connection:
        for chunk in chunks(sorted(set(hashes))):
            statement = sa.select(vector.c.text_hash, vector.c["values"]).where(
                vector.c.tenant == tenant, vector.c.model == model, vector.c.text_hash.in_(chunk)
            )
            found.update((bytes(text_hash), bytes(values)) for text_hash, values in connection.execute(statement))
    return found

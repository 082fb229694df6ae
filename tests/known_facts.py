"""Facts written by API over the spans of one remembered source, in as few words as a test can afford."""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from planner_parts import Parts
from telha_planner.caller import MAIN_SPACE
from telha_planner.core.model import SpanRef
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, NodeRecord, VectorRecord

ROOT = uuid.UUID("6ba7b814-9dad-11d1-80b4-00c04fd430c8")


def uid(*names: object) -> bytes:
    """The same 16 bytes for the same names."""
    return uuid.uuid5(ROOT, "/".join(str(name) for name in names)).bytes


class Facts:
    """
    One source of *text* in a space, and what is known from it.

    Attributes:
        sentence: The span of each line of the text.
    """

    def __init__(
        self, parts: Parts, text: str, *, name: str = "facts.txt", space: str = MAIN_SPACE, tenant: str = "acme"
    ) -> None:
        self.parts = parts
        self.space = space
        self.source_id = parts.remember(name, text, tenant=tenant, space=space).bytes
        self.tenant = parts.planning.caller(parts.key(tenant)).tenant
        newest = sa.text(
            "SELECT v.version_tx, v.text FROM source s JOIN source_version v USING (tenant, source_no)"
            " WHERE s.tenant = :tenant AND s.source_id = :source_id ORDER BY v.version_tx DESC LIMIT 1"
        )
        with parts.store.reading(self.tenant) as connection:
            asked = {"tenant": self.tenant, "source_id": self.source_id}
            version = connection.execute(newest, asked).one()
        self.sentence: list[SpanRef] = []
        place = 0
        for line in version.text.split(b"\n"):
            if line:
                self.sentence.append(SpanRef(self.source_id, version.version_tx, place, place + len(line)))
            place += len(line) + 1

    def know(
        self,
        name: object,
        *spans: SpanRef,
        kind: str = "fact",
        valid: tuple[int | None, int | None] = (None, None),
        vector: Sequence[float] | None = None,
        model: str = "m",
    ) -> bytes:
        """A node of type *kind* that rests on *spans*."""
        node_id = uid(self.space, name)
        values = None if vector is None else VectorRecord(model, tuple(vector))
        self.parts.writer.put_nodes(
            self.tenant, [NodeRecord(node_id, self.space, kind, "{}", *valid, provenance=spans, vector=values)]
        )
        return node_id

    def join(self, one: bytes, other: bytes, confidence: float = 1.0, name: object = "") -> None:
        """An edge."""
        edge_id = uid("edge", one.hex(), other.hex(), name)
        self.parts.writer.put_edges(self.tenant, [EdgeRecord(edge_id, one, other, "near", confidence)])

    def doubt(self, name: str, node_id: bytes, state: str = "pending") -> bytes:
        """A clarification, stated or restated."""
        record = ClarificationRecord(uid("doubt", name), node_id, state, f"{name}?")
        self.parts.writer.put_clarifications(self.tenant, [record])
        return record.clarification_id

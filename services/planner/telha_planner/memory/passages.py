"""
The nodes and edges of one document: which are kept, which end, which begin.

Compared by id and state. What is kept keeps its row and its valid start; only its links move to the new version's
spans. A node is true since it says so itself, else since the document is; an edge since both its ends are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from telha_planner.core.request import OPEN_END

from . import standing
from .embedded import Embedded
from .node_vectors import NodeVectors
from .pending import Pending
from .records import DocumentRecord, PassageNode
from .state import passage_state
from .store import chunks
from .tables import edge, node, node_span, node_version
from .validity import Standing, says_already, supersede


@dataclass(slots=True)
class Passages:
    """
    Writes the passages of *document* into *pending*.

    Attributes:
        source_no, space_no: The document's source and its space.
        start: Since when the document is true, µs.
        span_nos: Numbers of the document's spans, in its order.
        fresh: Whether the source is new, so that there is nothing to compare with.
        embedded: Vectors of the passages, None without an embedder.
        opened, closed, kept: Node versions, counted by `write`.
    """

    pending: Pending
    document: DocumentRecord
    source_no: int
    space_no: int
    start: int
    span_nos: range
    fresh: bool
    embedded: Embedded | None = None
    opened: int = 0
    closed: int = 0
    kept: int = 0

    def write(self) -> None:
        """Gather every row to insert and to close."""
        self._write_edges(self._write_nodes())

    def _write_nodes(self) -> dict[bytes, int]:
        pending, document = self.pending, self.document
        commit = pending.commit
        node_nos = {} if self.fresh else standing.nodes_of(commit, self.source_no)
        before = standing.versions_of(commit, node_nos.values())
        vectors = NodeVectors(pending, node_nos.values()) if self.embedded or before else None
        gone = set(before)
        kept: dict[int, tuple[int, ...]] = {}
        texts = [document.text[record.start : record.end] for record in document.spans]
        new_nodes, new_versions = pending.rows(node), pending.rows(node_version)
        for passage in document.nodes:
            own = [texts[position] for position in passage.spans]
            state = passage_state(passage.type, passage.properties, passage.terms, own)
            start = self._start(passage)
            node_no = node_nos.get(passage.node_id)
            if node_no is None:
                node_no = node_nos[passage.node_id] = commit.number()
                new_nodes.append((commit.tenant, node_no, passage.node_id, self.space_no, self.source_no))
            rows = before.get(node_no)
            if rows is not None:
                gone.discard(node_no)
                same = says_already(rows, state, start, OPEN_END)
                if same is not None:
                    kept[same.number] = passage.spans
                    self._embed(vectors, passage, node_no, same.valid_from, kept=True)
                    continue
                self.closed += self._supersede(rows, start)
            self.opened += 1
            version_no = commit.number()
            new_versions.append(
                (
                    commit.tenant,
                    version_no,
                    node_no,
                    commit.tx,
                    OPEN_END,
                    start,
                    OPEN_END,
                    passage.type,
                    passage.properties,
                    state,
                    passage.terms.ids,
                    passage.terms.counts,
                    passage.terms.total,
                    passage.preface,
                )
            )
            self._link(version_no, passage.spans)
            self._embed(vectors, passage, node_no, start, kept=False)
        for node_no in sorted(gone):
            self.closed += self._supersede(before[node_no], self.start)
        self._relink(kept)
        self.kept = len(kept)
        return node_nos

    def _write_edges(self, node_nos: dict[bytes, int]) -> None:
        pending = self.pending
        commit = pending.commit
        before = {} if self.fresh else standing.edges_of(commit, self.source_no)
        new_edges = pending.rows(edge)
        starts = {passage.node_id: self._start(passage) for passage in self.document.nodes}
        for passage in self.document.edges:
            start = max(starts[passage.from_node], starts[passage.to_node])
            rows = before.pop(passage.edge_id, None)
            if rows is not None:
                # The id is made from ends and type, so an edge that stands says the same by itself.
                if says_already(rows, b"", start, OPEN_END) is not None:
                    continue
                self._supersede_edges(rows, start)
            new_edges.append(
                (
                    commit.tenant,
                    commit.number(),
                    passage.edge_id,
                    node_nos[passage.from_node],
                    node_nos[passage.to_node],
                    passage.type,
                    1.0,
                    self.source_no,
                    start,
                    OPEN_END,
                    commit.tx,
                    OPEN_END,
                )
            )
        for edge_id in sorted(before):
            self._supersede_edges(before[edge_id], self.start)

    def _embed(
        self, vectors: NodeVectors | None, passage: PassageNode, node_no: int, start: int, *, kept: bool
    ) -> None:
        if vectors is None:
            return
        made = None if self.embedded is None else self.embedded.of(passage.node_id)
        vector = None if self.embedded is None or made is None else vectors.made(self.embedded.model, made)
        if not kept:
            vectors.replace(node_no, vector, start)
        elif vector is not None:
            vectors.put(node_no, vector, start)

    def _start(self, passage: PassageNode) -> int:
        return self.start if passage.valid_from is None else passage.valid_from

    def _supersede(self, rows: Sequence[Standing], start: int) -> int:
        ended = supersede(rows, start, OPEN_END)
        for row in ended:
            self.pending.supersede_node(row.number, row.remains_until)
        return min(1, len(ended))

    def _supersede_edges(self, rows: Sequence[Standing], start: int) -> None:
        for row in supersede(rows, start, OPEN_END):
            self.pending.supersede_edge(row.number, row.remains_until)

    def _link(self, version_no: int, positions: tuple[int, ...]) -> None:
        commit = self.pending.commit
        links = self.pending.rows(node_span)
        for position in positions:
            links.append((commit.tenant, commit.number(), version_no, self.span_nos[position], commit.tx, OPEN_END))

    def _relink(self, kept: dict[int, tuple[int, ...]]) -> None:
        commit = self.pending.commit
        for chunk in chunks(kept):
            links = sa.select(node_span.c.link_no).where(
                node_span.c.tenant == commit.tenant,
                node_span.c.version_no.in_(chunk),
                commit.stands(node_span),
            )
            for link_no in commit.connection.execute(links).scalars():
                self.pending.close(node_span, link_no)
        for version_no, positions in kept.items():
            self._link(version_no, positions)

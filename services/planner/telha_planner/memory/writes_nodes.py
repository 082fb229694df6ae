"""
Nodes written by API: facts, entities, notes, each resting on spans of stored sources.

A node is stated whole: type, properties, provenance and valid time. Stating the same again writes nothing; stating
something else takes the place of what was said about that time (`validity`). A node that ingestion derived belongs to
its document and cannot be written here. An id means a node of the record's own space: what bears it in another one is
another node, so that nobody can learn of it, or stand in its way.
"""

from collections.abc import Sequence

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import OPEN_END
from telha_planner.models.analysis import term_counts

from . import known_nodes
from .batch import refuse_repeated, valid_time
from .clock import Commit
from .embedded import Embedded, text_to_embed
from .known_nodes import KnownNode
from .node_vectors import NodeVector, NodeVectors
from .pending import Pending
from .provenance import Provenance, Slice
from .records import NodeRecord, Terms
from .spaces import Spaces
from .standing import versions_of
from .state import written_state
from .tables import node, node_span, node_version
from .validity import Standing, says_already, supersede


def write(commit: Commit, records: Sequence[NodeRecord], embedded: Embedded | None = None) -> bool:
    """
    Write *records*; those without a vector of their own get one from *embedded*.

    Returns:
        Whether anything was written.

    Raises:
        RequestInvalid: An item breaks a rule; the field begins with `nodes[i]`.
    """
    refuse_repeated((record.node_id for record in records), "nodes", "node_id")
    spaces = Spaces(commit, (record.space for record in records))
    everywhere = known_nodes.known(commit, (record.node_id for record in records))
    nodes: dict[bytes, KnownNode] = {}
    for record in records:
        space_no = spaces.known(record.space)
        if space_no is not None and space_no in (here := everywhere.get(record.node_id, {})):
            nodes[record.node_id] = here[space_no]
    for index, record in enumerate(records):
        _refuse_ingested(f"nodes[{index}]", nodes.get(record.node_id))
    pending = Pending(commit)
    provenance = Provenance(pending, records, spaces)
    node_nos = [one.node_no for one in nodes.values()]
    before = versions_of(commit, node_nos)
    vectors = NodeVectors(pending, node_nos)
    for index, record in enumerate(records):
        place = f"nodes[{index}]"
        start, end = valid_time(commit, place, record.valid_from, record.valid_to)
        state = written_state(record.type, record.properties, record.provenance)
        found = nodes.get(record.node_id)
        rows: Sequence[Standing] = before.get(found.node_no, ()) if found else ()
        same = says_already(rows, state, start, end)
        if found is None:
            node_no = commit.number()
            space_no = spaces.number(pending, record.space)
            pending.rows(node).append((commit.tenant, node_no, record.node_id, space_no, None))
        else:
            node_no = found.node_no
        if same is None:
            for row in supersede(rows, start, end):
                pending.supersede_node(row.number, row.remains_until)
            _open(pending, node_no, record, (start, end), state, provenance.of(record))
            vectors.replace(node_no, _vector(vectors, place, record, embedded), start)
        elif (vector := _vector(vectors, place, record, embedded)) is not None:
            own_start = record.vector is not None and record.valid_from is not None
            vectors.put(node_no, vector, start if own_start else same.valid_from)
    if pending.empty:
        return False
    pending.flush()
    return True


def _vector(vectors: NodeVectors, place: str, record: NodeRecord, embedded: Embedded | None) -> NodeVector | None:
    if record.vector is not None:
        return vectors.own(place, record.vector)
    made = None if embedded is None else embedded.of(record.node_id)
    return None if embedded is None or made is None else vectors.made(embedded.model, made)


def _open(
    pending: Pending,
    node_no: int,
    record: NodeRecord,
    valid: tuple[int, int],
    state: bytes,
    slices: list[Slice],
) -> None:
    commit = pending.commit
    version_no = commit.number()
    terms = node_terms(slices)
    pending.rows(node_version).append(
        (
            commit.tenant,
            version_no,
            node_no,
            commit.tx,
            OPEN_END,
            *valid,
            record.type,
            record.properties,
            state,
            *terms,
            node_preface(slices),
        )
    )
    pending.rows(node_span).extend(
        (commit.tenant, commit.number(), version_no, piece.span_no, commit.tx, OPEN_END) for piece in slices
    )


def node_terms(slices: Sequence[Slice]) -> Terms:
    """What BM25 counts of a node: the names of its sources, each once, and the texts of its spans."""
    if not slices:
        return Terms.of({})
    return Terms.of(term_counts(text_to_embed(node_preface(slices) or "", (piece.text for piece in slices))))


def node_preface(slices: Sequence[Slice]) -> str | None:
    """What stands before the texts of a node's spans: the names of its sources, each once."""
    return "\n".join(dict.fromkeys(piece.name for piece in slices)) or None


def _refuse_ingested(place: str, found: KnownNode | None) -> None:
    if found is not None and found.source_no is not None:
        raise RequestInvalid(field=f"{place}.node_id", rule="must not name a node that ingestion made")

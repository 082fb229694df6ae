"""
Documents: what a batch of parsed documents adds to the store, and what it ends.

Per document one of three things happens. New: everything is opened. Unchanged: nothing. Changed: the version, its text
and its span ledger are written anew; each node is compared by id, and kept where it says the same (its links then lead
to the new version's spans), closed and reopened where it says something else, closed where it is gone. Old versions
keep their text and spans, because plans as of then still cite them.

A source's id means a source of the document's own space; so do the ids derived from it. What bears them in another
space is something else, of which nobody learns here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import OPEN_END

from .batch import refuse_repeated
from .clock import Commit
from .embedded import Embedded, Unprepared
from .passages import Passages
from .pending import Pending
from .records import DocumentRecord, IngestedSource
from .spaces import Spaces, numbers
from .store import chunks
from .tables import edge, node, source, source_version, span


@dataclass(frozen=True, slots=True)
class _Source:
    """A source as it stands before the commit."""

    source_no: int
    space_no: int
    span_class: int
    version_tx: int
    valid_from: int
    input_hash: bytes


class Words(NamedTuple):
    """How the caller names the items of a batch, the field of their id, and what that id must not name."""

    items: str
    id_field: str
    other_class: str


DOCUMENTS = Words("documents", "source_id", "a derived artifact")


def write(
    commit: Commit, documents: Sequence[DocumentRecord], embedded: Embedded | None = None, words: Words = DOCUMENTS
) -> tuple[bool, tuple[IngestedSource, ...]]:
    """
    Write *documents*, with the vectors of their passages where there are any.

    Returns:
        Whether anything was written, and what became of each document.

    Raises:
        RequestInvalid: A source is named twice, is one of another class, or ids that it derives are taken.
        Unprepared: A document says something new that *embedded* has passed over.
    """
    refuse_repeated((document.source_id for document in documents), words.items, words.id_field)
    sources = _sources(commit.connection, commit.tenant, documents)
    spaces = Spaces(commit, (document.space for document in documents))
    owners = _node_owners(commit, documents, sources, spaces)
    pending = Pending(commit)
    outcomes: list[IngestedSource] = []
    _refuse_taken_edges(commit, documents, sources, spaces, words)
    for index, document in enumerate(documents):
        current = sources.get(document.source_id)
        _refuse_foreign(f"{words.items}[{index}]", words, document, current, owners)
        if current is not None and _is_unchanged(document, current):
            outcome = IngestedSource(
                source_id=document.source_id,
                version_tx=current.version_tx,
                outcome="unchanged",
                spans=len(document.spans),
                nodes_opened=0,
                nodes_closed=0,
                nodes_kept=len(document.nodes),
            )
        elif embedded is not None and document.source_id in embedded.passed_over:
            raise Unprepared
        else:
            outcome = _write_one(pending, document, current, spaces, embedded)
        outcomes.append(outcome)
    if pending.empty:
        return False, tuple(outcomes)
    pending.flush()
    return True, tuple(outcomes)


def unchanged(connection: sa.Connection, tenant: int, documents: Sequence[DocumentRecord]) -> frozenset[bytes]:
    """The sources of which *documents* say nothing new at this moment."""
    sources = _sources(connection, tenant, documents)
    return frozenset(
        document.source_id
        for document in documents
        if (current := sources.get(document.source_id)) is not None and _is_unchanged(document, current)
    )


def _write_one(
    pending: Pending,
    document: DocumentRecord,
    current: _Source | None,
    spaces: Spaces,
    embedded: Embedded | None,
) -> IngestedSource:
    commit = pending.commit
    start = commit.tx if document.valid_from is None else document.valid_from
    if current is None:
        source_no, space_no = commit.number(), spaces.number(pending, document.space)
        row = (commit.tenant, source_no, document.source_id, space_no, int(document.span_class))
        pending.rows(source).append(row)
    else:
        source_no, space_no = current.source_no, current.space_no
        _close_version(commit, current)
    _add_version(pending, document, source_no, start)
    span_nos = _add_spans(pending, document, source_no)
    passages = Passages(
        pending=pending,
        document=document,
        source_no=source_no,
        space_no=space_no,
        start=start,
        span_nos=span_nos,
        fresh=current is None,
        embedded=embedded,
    )
    passages.write()
    return IngestedSource(
        source_id=document.source_id,
        version_tx=commit.tx,
        outcome="created" if current is None else "updated",
        spans=len(document.spans),
        nodes_opened=passages.opened,
        nodes_closed=passages.closed,
        nodes_kept=passages.kept,
    )


def _close_version(commit: Commit, current: _Source) -> None:
    # By its whole key: the table's second key column alone does not name a version.
    commit.connection.execute(
        sa.update(source_version)
        .where(
            source_version.c.tenant == commit.tenant,
            source_version.c.source_no == current.source_no,
            source_version.c.version_tx == current.version_tx,
        )
        .values(tx_to=commit.tx)
    )


def _add_version(pending: Pending, document: DocumentRecord, source_no: int, start: int) -> None:
    commit = pending.commit
    pending.rows(source_version).append(
        (
            commit.tenant,
            source_no,
            commit.tx,
            commit.number(),
            OPEN_END,
            start,
            document.name,
            document.uri,
            document.media_type,
            document.content_hash,
            document.input_hash,
            len(document.text),
            document.text,
        )
    )


def _add_spans(pending: Pending, document: DocumentRecord, source_no: int) -> range:
    commit = pending.commit
    span_nos = pending.commit.numbers(len(document.spans))
    tenant, tx = commit.tenant, commit.tx
    pending.rows(span).extend(
        (
            tenant,
            span_no,
            source_no,
            tx,
            record.start,
            record.end,
            record.kind,
            record.counts.ascii_bytes,
            record.counts.other_chars,
            record.counts.cl100k_base,
            record.counts.o200k_base,
        )
        for span_no, record in zip(span_nos, document.spans, strict=True)
    )
    return span_nos


def _sources(connection: sa.Connection, tenant: int, documents: Sequence[DocumentRecord]) -> dict[bytes, _Source]:
    found: dict[bytes, _Source] = {}
    space_nos = numbers(connection, tenant, (document.space for document in documents))
    homes = {document.source_id: space_nos.get(document.space) for document in documents}
    for chunk in chunks(document.source_id for document in documents):
        statement = (
            sa.select(
                source.c.source_id,
                source.c.source_no,
                source.c.space_no,
                source.c.span_class,
                source_version.c.version_tx,
                source_version.c.valid_from,
                source_version.c.input_hash,
            )
            .join(
                source_version,
                sa.and_(
                    source_version.c.tenant == source.c.tenant,
                    source_version.c.source_no == source.c.source_no,
                    source_version.c.tx_to + 0 == OPEN_END,  # as `Commit.stands`
                ),
            )
            .where(source.c.tenant == tenant, source.c.source_id.in_(chunk))
        )
        for source_id, *rest in connection.execute(statement):
            stands = _Source(*rest)
            if stands.space_no == homes[source_id]:
                found[source_id] = stands
    return found


def _node_owners(
    commit: Commit, documents: Sequence[DocumentRecord], sources: dict[bytes, _Source], spaces: Spaces
) -> dict[bytes, int | None]:
    # Only for documents that will be written; ids are derived from the source, so a hit is almost always its own.
    owners: dict[bytes, int | None] = {}
    homes = {
        passage.node_id: spaces.known(document.space)
        for document in documents
        if (current := sources.get(document.source_id)) is None or not _is_unchanged(document, current)
        for passage in document.nodes
    }
    for chunk in chunks(homes):
        statement = sa.select(node.c.node_id, node.c.source_no, node.c.space_no).where(
            node.c.tenant == commit.tenant, node.c.node_id.in_(chunk)
        )
        rows = commit.connection.execute(statement)
        owners.update((node_id, source_no) for node_id, source_no, space_no in rows if space_no == homes[node_id])
    return owners


def _is_unchanged(document: DocumentRecord, current: _Source) -> bool:
    # The same content, said to be true since earlier than we knew, is news; since later is not.
    earlier = document.valid_from is not None and document.valid_from < current.valid_from
    return document.input_hash == current.input_hash and not earlier


def _refuse_foreign(
    place: str,
    words: Words,
    document: DocumentRecord,
    current: _Source | None,
    owners: dict[bytes, int | None],
) -> None:
    if current is not None and current.span_class != int(document.span_class):
        raise RequestInvalid(field=f"{place}.{words.id_field}", rule=f"must not name {words.other_class}")
    own = None if current is None else current.source_no
    for passage in document.nodes:
        if passage.node_id in owners and (owners[passage.node_id] is None or owners[passage.node_id] != own):
            raise RequestInvalid(
                field=f"{place}.{words.id_field}", rule="must not derive ids that other nodes have taken already"
            )


def _refuse_taken_edges(
    commit: Commit,
    documents: Sequence[DocumentRecord],
    sources: dict[bytes, _Source],
    spaces: Spaces,
    words: Words,
) -> None:
    # Only edges written by API can stand in the way, since a derived id holds its source's; most tenants have none.
    written = sa.and_(edge.c.tenant == commit.tenant, edge.c.source_no.is_(None))
    if commit.connection.execute(sa.select(edge.c.edge_no).where(written).limit(1)).first() is None:
        return
    indices = {
        passage.edge_id: index
        for index, document in enumerate(documents)
        if (current := sources.get(document.source_id)) is None or not _is_unchanged(document, current)
        for passage in document.edges
    }
    for chunk in chunks(indices):
        taken = (
            sa.select(edge.c.edge_id, node.c.space_no)
            .join(node, sa.and_(node.c.tenant == edge.c.tenant, node.c.node_no == edge.c.from_node_no))
            .where(edge.c.tenant == commit.tenant, edge.c.edge_id.in_(chunk), edge.c.source_no.is_(None))
        )
        for edge_id, space_no in commit.connection.execute(taken):
            if space_no == spaces.known(documents[indices[edge_id]].space):
                field = f"{words.items}[{indices[edge_id]}].{words.id_field}"
                raise RequestInvalid(field=field, rule="must not derive ids that other edges have taken already")

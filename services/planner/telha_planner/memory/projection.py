"""
What the columns read from the system of record: everything of one tenant, or what came since.

Rule 1: all that one call returns belongs to one read transaction, so columns never mix two states.
Rule 2: what is new is found by number (`no > seen`), what was closed by `tx_to` after the last instant seen; both
follow from the schema's promise that rows are appended, closed, and otherwise left alone.
Rule 3: an erasure breaks that promise on purpose; then `since` does not help and everything is read again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from telha_planner.core.request import OPEN_END

from . import tables
from .store import Store

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Mark:
    """
    How far a reader has come.

    Attributes:
        last_tx: The tenant's newest commit that was seen.
        last_no: The greatest surrogate number that was given out by then.
        erased_tx: The newest erasure that was seen.
    """

    last_tx: int = 0
    last_no: int = 0
    erased_tx: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """
    Rows as tuples, ascending by their number; closings as (number, tx_to).

    Attributes:
        whole: True if this is everything rather than what came after a mark.
        spaces: (space_no, name)
        sources: (source_no, source_id, span_class)
        source_versions: (version_no, source_no, version_tx, length, name)
        nodes: (node_no, node_id, space_no)
        node_versions: (version_no, node_no, tx_from, tx_to, valid_from, valid_to, type, term_total, term_ids,
            term_counts)
        spans: (span_no, source_no, version_tx, start, end, kind, ascii_bytes, other_chars, cl100k_base, o200k_base)
        node_spans: (link_no, version_no, span_no, tx_from, tx_to)
        edges: (edge_no, edge_id, from, to, type, confidence, source_no, valid_from, valid_to, tx_from, tx_to)
        clarifications: (row_no, clarification_id, node_no, state, question, tx_from, tx_to)
        vector_models: (row_no, model, dimensions, baseline, tx_from)
        vectors: (row_no, node_no, model, valid_from, values, tx_from, tx_to)
        closed_*: Rows that were known before and have ended since.
    """

    mark: Mark
    whole: bool
    spaces: Rows
    sources: Rows
    source_versions: Rows
    nodes: Rows
    node_versions: Rows
    spans: Rows
    node_spans: Rows
    edges: Rows
    clarifications: Rows
    vector_models: Rows
    vectors: Rows
    closed_node_versions: Rows = ()
    closed_node_spans: Rows = ()
    closed_edges: Rows = ()
    closed_clarifications: Rows = ()
    closed_vectors: Rows = ()


def changes(store: Store, tenant: int, since: Mark | None = None) -> Changes:
    """
    Read what *tenant* has gained since *since*; everything if that is None or an erasure came in between.

    Raises:
        Unavailable: The store cannot be read at this moment.
    """
    with store.reading() as connection:
        mark = _mark(connection, tenant)
        if since is not None and since.erased_tx != mark.erased_tx:
            since = None
        seen = since or Mark()
        return Changes(
            mark, since is None, **_new(connection, tenant, seen.last_no), **_closed(connection, tenant, since)
        )


def _mark(connection: sa.Connection, tenant: int) -> Mark:
    clock = tables.clock
    statement = sa.select(clock.c.last_tx, clock.c.next_no, clock.c.erased_tx).where(clock.c.tenant == tenant)
    row = connection.execute(statement).one_or_none()
    return Mark() if row is None else Mark(row.last_tx, row.next_no - 1, row.erased_tx)


def _new(connection: sa.Connection, tenant: int, last_no: int) -> dict[str, Rows]:
    def read(number: sa.Column[int], *columns: sa.Column[Any]) -> Rows:
        statement = sa.select(number, *columns).where(number.table.c.tenant == tenant, number > last_no)
        return _fetch(connection, statement.order_by(number))

    version, span, link, edge = tables.node_version.c, tables.span.c, tables.node_span.c, tables.edge.c
    source, text = tables.source.c, tables.source_version.c
    question, model, vector = tables.clarification.c, tables.vector_model.c, tables.vector.c
    return {
        "spaces": read(tables.space.c.space_no, tables.space.c.name),
        "sources": read(source.source_no, source.source_id, source.span_class),
        "source_versions": read(text.version_no, text.source_no, text.version_tx, text.length, text.name),
        "nodes": read(tables.node.c.node_no, tables.node.c.node_id, tables.node.c.space_no),
        "node_versions": read(
            version.version_no, version.node_no, version.tx_from, version.tx_to, version.valid_from, version.valid_to,
            version.type, version.term_total, version.term_ids, version.term_counts,
        ),
        "spans": read(
            span.span_no, span.source_no, span.version_tx, span.start, span.end, span.kind,
            span.ascii_bytes, span.other_chars, span.cl100k_base, span.o200k_base,
        ),
        "node_spans": read(link.link_no, link.version_no, link.span_no, link.tx_from, link.tx_to),
        "edges": read(
            edge.edge_no, edge.edge_id, edge.from_node_no, edge.to_node_no, edge.type, edge.confidence,
            edge.source_no, edge.valid_from, edge.valid_to, edge.tx_from, edge.tx_to,
        ),
        "clarifications": read(
            question.row_no, question.clarification_id, question.node_no, question.state, question.question,
            question.tx_from, question.tx_to,
        ),
        "vector_models": read(model.row_no, model.model, model.dimensions, model.baseline, model.tx_from),
        "vectors": read(
            vector.row_no, vector.node_no, vector.model, vector.valid_from, vector["values"],
            vector.tx_from, vector.tx_to,
        ),
    }  # fmt: skip


def _closed(connection: sa.Connection, tenant: int, since: Mark | None) -> dict[str, Rows]:
    if since is None:
        return {}
    seen_no, seen_tx = since.last_no, since.last_tx

    def read(number: sa.Column[int]) -> Rows:
        columns = number.table.c
        statement = sa.select(number, columns.tx_to).where(
            columns.tenant == tenant, columns.tx_to > seen_tx, columns.tx_to < OPEN_END, number <= seen_no
        )
        return _fetch(connection, statement)

    return {
        "closed_node_versions": read(tables.node_version.c.version_no),
        "closed_node_spans": read(tables.node_span.c.link_no),
        "closed_edges": read(tables.edge.c.edge_no),
        "closed_clarifications": read(tables.clarification.c.row_no),
        "closed_vectors": read(tables.vector.c.row_no),
    }


def _fetch(connection: sa.Connection, statement: sa.Select[Any]) -> Rows:
    cursor = connection.execute(statement).cursor
    if cursor is None:
        return ()
    # The driver's own tuples: a Row object per row would double the time that a large tenant takes to load.
    rows: Rows = cursor.fetchall()
    return rows

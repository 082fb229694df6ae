"""
What the columns read from the system of record: everything of one tenant, or what came since.

Rule 1: all that one call returns belongs to one read transaction, so columns never mix two states.
Rule 2: what is new is found by number (`no > seen`), what was closed by `tx_to` after the last instant seen; both
follow from the schema's promise that rows are appended, closed, and otherwise left alone.
Rule 3: an erasure breaks that promise on purpose; then `since` does not help and everything is read again.
Rule 4: what is too much for one go comes in `Slices`, table by table. Each is read in a transaction of its own, and yet
they make one state: numbers up to the mark are fixed when the first is read, and a row that is closed later is told
of again after the mark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from telha_planner.core.request import INT64_MAX, OPEN_END

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
        vector_models: (row_no, model, dimensions, baseline)
        active_models: (row_no, model, tx_from)
        vectors: (row_no, node_no, model, valid_from, values, tx_from, tx_to)
        closed_*: Rows that were known before and have ended since.
    """

    mark: Mark
    whole: bool
    spaces: Rows = ()
    sources: Rows = ()
    source_versions: Rows = ()
    nodes: Rows = ()
    node_versions: Rows = ()
    spans: Rows = ()
    node_spans: Rows = ()
    edges: Rows = ()
    clarifications: Rows = ()
    vector_models: Rows = ()
    active_models: Rows = ()
    vectors: Rows = ()
    closed_node_versions: Rows = ()
    closed_node_spans: Rows = ()
    closed_edges: Rows = ()
    closed_clarifications: Rows = ()
    closed_vectors: Rows = ()


class Erased(Exception):
    """An erasure came between two slices: what was read must be thrown away, and everything read again."""


class TenantDeleted(LookupError):
    """The tenant was deleted after its caller was established; the next key check will say so."""


def changes(store: Store, tenant: int, since: Mark | None = None, most_rows: int | None = None) -> Changes | None:
    """
    Read what *tenant* has gained since *since*; everything if that is None or an erasure came in between.

    Args:
        store: The system of record.
        tenant: Whose memory.
        since: How far it was read before.
        most_rows: Most rows to read in one go.

    Returns:
        What is new, or None if it may be more than *most_rows*: then read `Slices`.

    Raises:
        TenantDeleted: There is no such tenant any more.
        Unavailable: The store cannot be read at this moment.
    """
    with store.reading(tenant) as connection:
        mark = _mark(connection, tenant)
        since = _held_against(mark, since)
        seen = since or Mark()
        if most_rows is not None and mark.last_no - seen.last_no > most_rows:
            return None
        bounds = {"tenant": tenant, "last_no": seen.last_no, "to_no": mark.last_no, "most": INT64_MAX}
        new = {name: _fetch(connection, rows, **bounds) for name, rows in _NEW.items()}
        if since is None:
            return Changes(mark, whole=True, **new)
        instants = {"tenant": tenant, "last_no": seen.last_no, "last_tx": seen.last_tx}
        closed = {name: _fetch(connection, rows, **instants) for name, rows in _CLOSED.items()}
        return Changes(mark, whole=False, **new, **closed)


class Slices:
    """
    What *tenant* has gained since *since*, a slice at a time, in an order in which each row comes after what it names.

    A slice that fails may be asked for again.

    Args:
        most_rows: Most rows of a slice, but for the last: it holds every closing.

    Attributes:
        whole: As in `Changes`.

    Raises:
        Unavailable: The store cannot be read at this moment.
    """

    def __init__(self, store: Store, tenant: int, since: Mark | None, most_rows: int) -> None:
        self._store = store
        self._tenant = tenant
        self._most_rows = most_rows
        with store.reading(tenant) as connection:
            self._mark = _mark(connection, tenant)
        since = _held_against(self._mark, since)
        self.whole = since is None
        self._seen = since or Mark()
        self._tables = list(_NEW)
        self._last_no = self._seen.last_no

    def next(self) -> tuple[Changes, bool]:
        """
        Read the next slice.

        Returns:
            The slice, and whether it is the last; its mark stands still until then.

        Raises:
            Unavailable: The store cannot be read at this moment.
            Erased: An erasure came in between.
        """
        with self._store.reading(self._tenant) as connection:
            if _mark(connection, self._tenant).erased_tx != self._mark.erased_tx:
                raise Erased
            if not self._tables:
                return self._last(connection), True
            name = self._tables[0]
            bounds = {"tenant": self._tenant, "last_no": self._last_no, "to_no": self._mark.last_no}
            rows = _fetch(connection, _NEW[name], **bounds, most=self._most_rows)
        if len(rows) < self._most_rows:
            del self._tables[0]
            self._last_no = self._seen.last_no
        else:
            self._last_no = rows[-1][0]
        return Changes(self._seen, whole=self.whole, **{name: rows}), False

    def _last(self, connection: sa.Connection) -> Changes:
        instants = {"tenant": self._tenant, "last_no": self._seen.last_no, "last_tx": self._seen.last_tx}
        closed = {} if self.whole else {name: _fetch(connection, rows, **instants) for name, rows in _CLOSED.items()}
        return Changes(self._mark, whole=self.whole, **closed)


def _held_against(mark: Mark, since: Mark | None) -> Mark | None:
    """*since*, or None if an erasure came after it."""
    return None if since is None or since.erased_tx != mark.erased_tx else since


def _mark(connection: sa.Connection, tenant: int) -> Mark:
    clock = tables.clock
    statement = sa.select(clock.c.last_tx, clock.c.next_no, clock.c.erased_tx).where(clock.c.tenant == tenant)
    row = connection.execute(statement).one_or_none()
    if row is None:
        raise TenantDeleted(tenant)
    return Mark(row.last_tx, row.next_no - 1, row.erased_tx)


def _new_rows(number: sa.Column[int], *columns: sa.Column[Any]) -> sa.Select[Any]:
    among = number > sa.bindparam("last_no"), number <= sa.bindparam("to_no")
    found = sa.select(number, *columns).where(number.table.c.tenant == sa.bindparam("tenant"), *among)
    return found.order_by(number).limit(sa.bindparam("most"))


def _closings(number: sa.Column[int]) -> sa.Select[Any]:
    columns = number.table.c
    return sa.select(number, columns.tx_to).where(
        columns.tenant == sa.bindparam("tenant"),
        columns.tx_to > sa.bindparam("last_tx"),
        columns.tx_to < OPEN_END,
        number <= sa.bindparam("last_no"),
    )


_version, _span, _link, _edge = tables.node_version.c, tables.span.c, tables.node_span.c, tables.edge.c
_source, _text = tables.source.c, tables.source_version.c
_question, _vector = tables.clarification.c, tables.vector.c
_model, _active = tables.vector_model.c, tables.active_model.c

# Made once: a tail runs after every commit, and making the statements would cost more than running them.
_NEW = {
    "spaces": _new_rows(tables.space.c.space_no, tables.space.c.name),
    "sources": _new_rows(_source.source_no, _source.source_id, _source.span_class),
    "source_versions": _new_rows(_text.version_no, _text.source_no, _text.version_tx, _text.length, _text.name),
    "nodes": _new_rows(tables.node.c.node_no, tables.node.c.node_id, tables.node.c.space_no),
    "node_versions": _new_rows(
        _version.version_no, _version.node_no, _version.tx_from, _version.tx_to, _version.valid_from,
        _version.valid_to, _version.type, _version.term_total, _version.term_ids, _version.term_counts,
    ),
    "spans": _new_rows(
        _span.span_no, _span.source_no, _span.version_tx, _span.start, _span.end, _span.kind,
        _span.ascii_bytes, _span.other_chars, _span.cl100k_base, _span.o200k_base,
    ),
    "node_spans": _new_rows(_link.link_no, _link.version_no, _link.span_no, _link.tx_from, _link.tx_to),
    "edges": _new_rows(
        _edge.edge_no, _edge.edge_id, _edge.from_node_no, _edge.to_node_no, _edge.type, _edge.confidence,
        _edge.source_no, _edge.valid_from, _edge.valid_to, _edge.tx_from, _edge.tx_to,
    ),
    "clarifications": _new_rows(
        _question.row_no, _question.clarification_id, _question.node_no, _question.state, _question.question,
        _question.tx_from, _question.tx_to,
    ),
    "vector_models": _new_rows(_model.row_no, _model.model, _model.dimensions, _model.baseline),
    "active_models": _new_rows(_active.row_no, _active.model, _active.tx_from),
    "vectors": _new_rows(
        _vector.row_no, _vector.node_no, _vector.model, _vector.valid_from, _vector["values"],
        _vector.tx_from, _vector.tx_to,
    ),
}  # fmt: skip
_CLOSED = {
    "closed_node_versions": _closings(_version.version_no),
    "closed_node_spans": _closings(_link.link_no),
    "closed_edges": _closings(_edge.edge_no),
    "closed_clarifications": _closings(_question.row_no),
    "closed_vectors": _closings(_vector.row_no),
}


def _fetch(connection: sa.Connection, statement: sa.Select[Any], **values: int) -> Rows:
    cursor = connection.execute(statement, values).cursor
    if cursor is None:
        return ()
    # The driver's own tuples: a Row object per row would double the time that a large tenant takes to load.
    rows: Rows = cursor.fetchall()
    return rows

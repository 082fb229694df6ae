"""
The trace store: what the writer keeps, in one SQLite file or on PostgreSQL.

Rule 1: what `insert` returned from is durable and is there once per (tenant, trace id), however many writers insert.
Rule 2: every read of content names its tenant. Rule 3: errors of the driver become `StoreFailed`.
Rule 4: what was deleted or removed does not come back. A tenant's deletion and retention by age end all that was made
before an instant; an erased trace, or one that went because there were too many, is known by its id. What arrives all
the same is dropped, and only its id is kept.

letters.py, ageing.py and spools.py hold what is done with dead letters, by retention, and with reports of spools.
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa

from . import listing
from .backend import Backend
from .faults import StoreFailed, StoreUnusable, translated
from .gone import Gone, gone_of
from .listing import Filters, Position
from .record import Row
from .tables import (
    EVERY_SPACE,
    trace,
    trace_dead_letter,
    trace_deletion,
    trace_dropped,
    trace_space,
)

__all__ = ["Buried", "Deletion", "Filters", "Inserted", "Store", "StoreFailed", "StoreUnusable"]

_ASKED_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Buried:
    """
    A dead letter as the store keeps it.

    Attributes:
        tenant: Empty if not even the frame could be read.
        trace_id: None if not even the frame could be read.
        recorded_us: When the record was made, as far as that can be told.
        fields: The entry's fields, msgpack.
    """

    entry_id: str
    tenant: str
    trace_id: str | None
    recorded_us: int
    buried_us: int
    reason: str
    fields: bytes


class Inserted(NamedTuple):
    """What became of records: stored, there already, or dropped because their tenant was deleted since."""

    stored: int
    repeated: int
    dropped: int


class Deletion(NamedTuple):
    """What a deletion of a tenant removed, and what of it arrived later and was dropped."""

    traces: int
    dead_letters: int
    dropped: int


class Page(NamedTuple):
    """Traces without their records; *examined*: see `listing.Listed`."""

    rows: list[Row]
    examined: Position | None


class Store:
    """The open store. Safe to use from several threads, processes and, on PostgreSQL, machines."""

    def __init__(self, backend: Backend) -> None:
        """Use `opening.open_store` instead, which also brings the schema up to date."""
        self._backend = backend

    def insert(self, rows: Sequence[Row]) -> Inserted:
        """
        Add *rows* in one transaction; those that are there already are left as they are.

        Raises:
            StoreFailed: None was added.
        """
        with self._inserting(rows) as (connection, gone):
            return self._insert(connection, gone, rows)

    def revive(self, letter: Buried, row: Row) -> Inserted:
        """
        Store the trace of a dead letter that can be read now, and remove the letter, in one transaction.

        Raises:
            StoreFailed: The letter is as it was.
        """
        with self._inserting([row]) as (connection, gone):
            inserted = self._insert(connection, gone, [row])
            connection.execute(sa.delete(trace_dead_letter).where(this_letter(letter)))
        return inserted

    def bury(self, letters: Sequence[Buried]) -> list[Buried]:
        """
        Keep dead letters, each once.

        Returns:
            Those that are kept; a letter of a tenant that was deleted since, or of an age that is gone, is dropped.

        Raises:
            StoreFailed: None was kept.
        """
        ordered = sorted(letters, key=lambda letter: (letter.tenant, letter.entry_id))
        with self._inserting(ordered) as (connection, gone):
            late = [letter for letter in ordered if gone.has(letter)]
            kept = [letter for letter in ordered if not gone.has(letter)]
            self._drop(connection, gone, late)
            self.add(connection, trace_dead_letter, map(_letter_values, kept))
        return kept

    def delete_tenant(self, tenant: str, deleted_us: int) -> Deletion:
        """
        Delete all that was recorded of *tenant* at or before *deleted_us*, and remember that it was.

        Calling it again with the same instant removes what is left, nothing as a rule, and tells the same.

        Raises:
            StoreFailed: Nothing was deleted.
        """
        this = sa.and_(trace_deletion.c.tenant == tenant, trace_deletion.c.deleted_us == deleted_us)
        with self.deleting() as connection:
            gone = {}
            for table in (trace_space, trace, trace_dead_letter):
                doomed = sa.and_(table.c.tenant == tenant, table.c.recorded_us <= deleted_us)
                gone[table] = connection.execute(sa.delete(table).where(doomed)).rowcount
            new = {"tenant": tenant, "deleted_us": deleted_us, "traces": 0, "dead_letters": 0, "dropped": 0}
            self.add(connection, trace_deletion, [new])
            connection.execute(
                sa.update(trace_deletion)
                .where(this)
                .values(
                    traces=trace_deletion.c.traces + gone[trace],
                    dead_letters=trace_deletion.c.dead_letters + gone[trace_dead_letter],
                )
            )
            told = sa.select(trace_deletion.c.traces, trace_deletion.c.dead_letters, trace_deletion.c.dropped)
            deletion = Deletion(*connection.execute(told.where(this)).one())
        self.free()
        return deletion

    def erase(self, tenant: str, trace_id: str) -> bool:
        """
        Delete one trace of *tenant* for good, wherever it is on its way; whether it was stored.

        Raises:
            StoreFailed: Nothing was deleted.
        """
        number = UUID(trace_id).bytes
        stored = 0
        with self.deleting() as connection:
            for table in (trace_space, trace_dead_letter, trace):
                this = sa.and_(table.c.tenant == tenant, table.c.trace_id == number)
                stored = connection.execute(sa.delete(table).where(this)).rowcount
            self.add(connection, trace_dropped, [{"tenant": tenant, "trace_id": number}])
        self.free()
        return stored > 0

    def is_gone(self, row: Row) -> bool:
        """
        Whether *row* was made before its tenant's deletion, is of an age that was removed, or was erased.

        Raises:
            StoreFailed: It cannot be told now.
        """
        with self.transaction(row.tenant) as connection:
            return gone_of(connection, [row]).has(row)

    def fetch(self, tenant: str, trace_id: str) -> Row | None:
        """
        One trace of *tenant*.

        Raises:
            StoreFailed: It cannot be read now.
        """
        this = sa.and_(trace.c.tenant == tenant, trace.c.trace_id == UUID(trace_id).bytes)
        with self.transaction(tenant) as connection:
            found = connection.execute(sa.select(*listing.SHOWN, trace.c.record).where(this)).first()
        return None if found is None else _row(found)

    def browse(self, tenant: str, filters: Filters, before: Position | None, limit: int) -> list[Row]:
        """Traces of *tenant*, newest first, without their records; arguments and faults as of `page`."""
        return self.page(tenant, filters, before, limit).rows

    def page(self, tenant: str, filters: Filters, before: Position | None, limit: int) -> Page:
        """
        As `browse`, and where the next page goes on if it was the looking that ended this one.

        Args:
            before: The last trace of the previous page, or where that said to go on.
            limit: Most traces.

        Raises:
            StoreFailed: They cannot be read now.
        """
        with self.transaction(tenant) as connection:
            listed = listing.read(connection, tenant, filters, before, limit)
        return Page([_row((*found, b"")) for found in listed.found], listed.examined)

    def persisted(self, trace_ids: Sequence[str]) -> list[str]:
        """
        Those of *trace_ids* that are settled here: stored, kept as a dead letter, or dropped after a deletion.

        Raises:
            StoreFailed: It cannot be told now.
        """
        settled: list[str] = []
        with self.transaction() as connection:
            for start in range(0, len(trace_ids), _ASKED_AT_ONCE):
                asked = [UUID(trace_id).bytes for trace_id in trace_ids[start : start + _ASKED_AT_ONCE]]
                statement = sa.union(
                    *(
                        sa.select(table.c.trace_id).where(table.c.trace_id.in_(asked))
                        for table in (trace, trace_dead_letter, trace_dropped)
                    )
                )
                settled.extend(str(UUID(bytes=found)) for found in connection.execute(statement).scalars())
        return settled

    def close(self) -> None:
        """Close every connection after the work at hand."""
        self._backend.engine.dispose()

    def free(self) -> None:
        """
        Overwrite or free what was deleted, as far as the database lets its user.

        Raises:
            StoreFailed: Some is left for the next time.
        """
        with translated():
            self._backend.scrub()

    def make_shrinkable(self) -> None:
        """
        See to it that `free` can make the store smaller; may take long, once.

        Raises:
            StoreFailed: It cannot be done now.
        """
        with translated():
            self._backend.make_shrinkable()

    @contextmanager
    def transaction(self, tenant: str | None = None, *, writes: bool = False) -> Iterator[sa.Connection]:
        """
        One transaction that sees *tenant* alone, None every tenant.

        Raises:
            StoreFailed: It was rolled back.
        """
        with translated(), self._backend.engine.connect() as connection:
            connection.execution_options(telha_writes=writes)
            with connection.begin():
                self._backend.scope(connection, tenant)
                yield connection

    @contextmanager
    def deleting(self) -> Iterator[sa.Connection]:
        """
        A writing transaction beside which nothing is inserted: what is inserted after it knows what it deleted.

        Raises:
            StoreFailed: It was rolled back.
        """
        with self.transaction(writes=True) as connection:
            self._backend.lock_for_deletion(connection)
            yield connection

    def add(self, connection: sa.Connection, table: sa.Table, rows: Iterable[dict[str, Any]]) -> int:
        """Insert *rows* but those that are there already; how many were new."""
        values = list(rows)
        if not values:
            return 0
        statement = self._backend.adding(table).execution_options(preserve_rowcount=True)
        return connection.execute(statement, values).rowcount

    @contextmanager
    def _inserting(self, made: Sequence[Row | Buried]) -> Iterator[tuple[sa.Connection, Gone]]:
        with self.transaction(writes=True) as connection:
            self._backend.lock_for_insert(connection)
            yield connection, gone_of(connection, made)

    def _insert(self, connection: sa.Connection, gone: Gone, rows: Sequence[Row]) -> Inserted:
        # Two writers that are given the same entries lock rows in the same order, and so cannot block one another.
        ordered = sorted(rows, key=lambda row: (row.tenant, row.trace_id))
        late = [row for row in ordered if gone.has(row)]
        kept = [row for row in ordered if not gone.has(row)]
        self._drop(connection, gone, late)
        newest = connection.execute(sa.select(sa.func.max(trace.c.arrived_us))).scalar() or 0
        # A clock that stepped back must not make what arrives now older than what is there.
        arrived = {"arrived_us": max(newest, time.time_ns() // 1000)}
        stored = self.add(connection, trace, (_values(row) | arrived for row in kept))
        self.add(connection, trace_space, (space for row in kept for space in _spaces(row)))
        return Inserted(stored, len(kept) - stored, len(late))

    def _drop(self, connection: sa.Connection, gone: Gone, late: Iterable[Row | Buried]) -> None:
        counts: dict[str, int] = {}
        for made in late:
            if made.trace_id is None:
                continue
            new = {"tenant": made.tenant, "trace_id": UUID(made.trace_id).bytes}
            added = self.add(connection, trace_dropped, [new])
            if made.recorded_us <= gone.deleted.get(made.tenant, made.recorded_us - 1):
                counts[made.tenant] = counts.get(made.tenant, 0) + added
        for tenant, count in counts.items():
            this = sa.and_(trace_deletion.c.tenant == tenant, trace_deletion.c.deleted_us == gone.deleted[tenant])
            connection.execute(sa.update(trace_deletion).where(this).values(dropped=trace_deletion.c.dropped + count))


def this_letter(letter: Buried) -> sa.ColumnElement[bool]:
    """The condition that finds *letter*."""
    return sa.and_(trace_dead_letter.c.tenant == letter.tenant, trace_dead_letter.c.entry_id == letter.entry_id)


def _values(row: Row) -> dict[str, Any]:
    return {
        "tenant": row.tenant,
        "trace_id": UUID(row.trace_id).bytes,
        "recorded_us": row.recorded_us,
        "kind": row.kind,
        "key_id": row.key_id,
        "spaces": None if row.spaces is None else json.dumps(row.spaces, ensure_ascii=False),
        "plan_hash": row.plan_hash,
        "budget": row.budget,
        "used": row.used,
        "items": row.items,
        "stranded": row.stranded,
        "record": row.record,
        "bytes": len(row.record),
        "used_share": _used_share(row),
    }


def _spaces(row: Row) -> Iterator[dict[str, Any]]:
    place = {"tenant": row.tenant, "recorded_us": row.recorded_us, "trace_id": UUID(row.trace_id).bytes}
    for space in sorted({EVERY_SPACE} if row.spaces is None else set(row.spaces)):
        yield place | {"space": space, "kind": row.kind, "used_share": _used_share(row), "stranded": row.stranded}


def _used_share(row: Row) -> float:
    return min(1.0, row.used / row.budget) if row.budget else 0.0


def _letter_values(letter: Buried) -> dict[str, Any]:
    return {
        "tenant": letter.tenant,
        "entry_id": letter.entry_id,
        "trace_id": None if letter.trace_id is None else UUID(letter.trace_id).bytes,
        "recorded_us": letter.recorded_us,
        "buried_us": letter.buried_us,
        "reason": letter.reason,
        "fields": letter.fields,
    }


def _row(found: Sequence[Any]) -> Row:
    tenant, trace_id, recorded_us, kind, key_id, spaces, *rest = found
    read = None if spaces is None else tuple(json.loads(spaces))
    return Row(tenant, str(UUID(bytes=trace_id)), recorded_us, kind, key_id, read, *rest)

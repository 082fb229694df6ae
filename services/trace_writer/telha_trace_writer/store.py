"""
The trace store: what the writer keeps, in one SQLite file or on PostgreSQL.

Rule 1: what `insert` returned from is durable and is there once per (tenant, trace id), however many writers insert.
Rule 2: every read of content names its tenant. Rule 3: errors of the driver become `StoreFailed`.
Rule 4: what was deleted does not come back: a record that was made before its tenant's deletion and arrives after it
is dropped, and only its id is kept.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa

from . import listing
from .backend import Backend
from .faults import StoreFailed, StoreUnusable, translated
from .listing import Filters
from .record import Row
from .tables import EVERY_SPACE, UNKNOWN_TENANT, trace, trace_dead_letter, trace_deletion, trace_dropped, trace_space

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
        # Two writers that are given the same entries lock rows in the same order, and so cannot block one another.
        ordered = sorted(rows, key=lambda row: (row.tenant, row.trace_id))
        with self._inserting({row.tenant for row in ordered}) as (connection, deleted):
            late = [row for row in ordered if _is_late(row, deleted)]
            kept = [row for row in ordered if not _is_late(row, deleted)]
            self._drop(connection, deleted, [(row.tenant, row.trace_id) for row in late])
            stored = self._add(connection, trace, map(_values, kept))
            self._add(connection, trace_space, (space for row in kept for space in _spaces(row)))
        return Inserted(stored, len(kept) - stored, len(late))

    def bury(self, letters: Sequence[Buried]) -> list[Buried]:
        """
        Keep dead letters, each once.

        Returns:
            Those that are kept; a letter of a tenant that was deleted since is dropped.

        Raises:
            StoreFailed: None was kept.
        """
        ordered = sorted(letters, key=lambda letter: (letter.tenant, letter.entry_id))
        with self._inserting({letter.tenant for letter in ordered} - {UNKNOWN_TENANT}) as (connection, deleted):
            late = [letter for letter in ordered if _is_late(letter, deleted)]
            kept = [letter for letter in ordered if not _is_late(letter, deleted)]
            named = [(letter.tenant, letter.trace_id) for letter in late if letter.trace_id is not None]
            self._drop(connection, deleted, named)
            self._add(connection, trace_dead_letter, map(_letter_values, kept))
        return kept

    def delete_tenant(self, tenant: str, deleted_us: int) -> Deletion:
        """
        Delete all that was recorded of *tenant* at or before *deleted_us*, and remember that it was.

        Calling it again with the same instant removes what is left, nothing as a rule, and tells the same.

        Raises:
            StoreFailed: Nothing was deleted.
        """
        this = sa.and_(trace_deletion.c.tenant == tenant, trace_deletion.c.deleted_us == deleted_us)
        with self._transaction(writes=True) as connection:
            self._backend.lock_for_deletion(connection)
            gone = {}
            for table in (trace_space, trace, trace_dead_letter):
                doomed = sa.and_(table.c.tenant == tenant, table.c.recorded_us <= deleted_us)
                gone[table] = connection.execute(sa.delete(table).where(doomed)).rowcount
            new = {"tenant": tenant, "deleted_us": deleted_us, "traces": 0, "dead_letters": 0, "dropped": 0}
            self._add(connection, trace_deletion, [new])
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
        with translated():
            self._backend.scrub()
        return deletion

    def deleted_until(self, tenant: str) -> int | None:
        """
        Until when *tenant*'s records were deleted, µs; None if they never were.

        Raises:
            StoreFailed: It cannot be told now.
        """
        statement = sa.select(sa.func.max(trace_deletion.c.deleted_us)).where(trace_deletion.c.tenant == tenant)
        with self._transaction(tenant) as connection:
            found = connection.execute(statement).scalar()
        return None if found is None else int(found)

    def fetch(self, tenant: str, trace_id: str) -> Row | None:
        """
        One trace of *tenant*.

        Raises:
            StoreFailed: It cannot be read now.
        """
        this = sa.and_(trace.c.tenant == tenant, trace.c.trace_id == UUID(trace_id).bytes)
        with self._transaction(tenant) as connection:
            found = connection.execute(sa.select(*listing.SHOWN, trace.c.record).where(this)).first()
        return None if found is None else _row(found)

    def browse(self, tenant: str, filters: Filters, before: tuple[int, str] | None, limit: int) -> list[Row]:
        """
        Traces of *tenant*, newest first, without their records.

        Args:
            before: `(recorded_us, trace_id)` of the last trace of the previous page.
            limit: Most traces.

        Raises:
            StoreFailed: They cannot be read now.
        """
        statement = listing.page(tenant, filters, before, limit)
        with self._transaction(tenant) as connection:
            return [_row((*found, b"")) for found in connection.execute(statement)]

    def persisted(self, trace_ids: Sequence[str]) -> list[str]:
        """
        Those of *trace_ids* that are settled here: stored, kept as a dead letter, or dropped after a deletion.

        Raises:
            StoreFailed: It cannot be told now.
        """
        settled: list[str] = []
        with self._transaction() as connection:
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

    def dead_letters(self) -> list[Buried]:
        """
        Every dead letter, oldest first.

        Raises:
            StoreFailed: They cannot be read now.
        """
        letter = trace_dead_letter.c
        statement = sa.select(
            letter.entry_id,
            letter.tenant,
            letter.trace_id,
            letter.recorded_us,
            letter.buried_us,
            letter.reason,
            letter.fields,
        )
        with self._transaction() as connection:
            found = [
                Buried(row[0], row[1], None if row[2] is None else str(UUID(bytes=row[2])), *row[3:])
                for row in connection.execute(statement)
            ]
        return sorted(found, key=lambda letter: tuple(map(int, letter.entry_id.split("-"))))

    def close(self) -> None:
        """Close every connection after the work at hand."""
        self._backend.engine.dispose()

    @contextmanager
    def _inserting(self, tenants: set[str]) -> Iterator[tuple[sa.Connection, dict[str, int]]]:
        deletion = trace_deletion.c
        statement = (
            sa.select(deletion.tenant, sa.func.max(deletion.deleted_us))
            .where(deletion.tenant.in_(sorted(tenants)))
            .group_by(deletion.tenant)
        )
        with self._transaction(writes=True) as connection:
            self._backend.lock_for_insert(connection)
            yield connection, {tenant: int(us) for tenant, us in connection.execute(statement)} if tenants else {}

    def _drop(self, connection: sa.Connection, deleted: Mapping[str, int], late: Sequence[tuple[str, str]]) -> None:
        counts: dict[str, int] = {}
        for tenant, trace_id in late:
            new = {"tenant": tenant, "trace_id": UUID(trace_id).bytes}
            counts[tenant] = counts.get(tenant, 0) + self._add(connection, trace_dropped, [new])
        for tenant, count in counts.items():
            this = sa.and_(trace_deletion.c.tenant == tenant, trace_deletion.c.deleted_us == deleted[tenant])
            connection.execute(sa.update(trace_deletion).where(this).values(dropped=trace_deletion.c.dropped + count))

    def _add(self, connection: sa.Connection, table: sa.Table, rows: Iterable[dict[str, Any]]) -> int:
        values = list(rows)
        if not values:
            return 0
        statement = self._backend.adding(table).execution_options(preserve_rowcount=True)
        return connection.execute(statement, values).rowcount

    @contextmanager
    def _transaction(self, tenant: str | None = None, *, writes: bool = False) -> Iterator[sa.Connection]:
        with translated(), self._backend.engine.connect() as connection:
            connection.execution_options(telha_writes=writes)
            with connection.begin():
                self._backend.scope(connection, tenant)
                yield connection


def _is_late(made: Row | Buried, deleted: Mapping[str, int]) -> bool:
    return made.tenant in deleted and made.recorded_us <= deleted[made.tenant]


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
    }


def _spaces(row: Row) -> Iterator[dict[str, Any]]:
    place = {"tenant": row.tenant, "recorded_us": row.recorded_us, "trace_id": UUID(row.trace_id).bytes}
    for space in sorted({EVERY_SPACE} if row.spaces is None else set(row.spaces)):
        yield place | {"space": space, "kind": row.kind}


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

"""
The trace store: one SQLite file that the writer owns.

Rule 1: what `insert` returned from is durable (WAL, synchronous FULL) and is there once per (tenant, trace id).
Rule 2: every read of content names its tenant. Rule 3: errors of the driver become `StoreFailed`.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from .record import Row

_MIGRATIONS: Final = (
    (
        """
        CREATE TABLE trace (
            tenant TEXT NOT NULL,
            trace_id BLOB NOT NULL,
            recorded_us INTEGER NOT NULL,
            kind TEXT NOT NULL,
            spaces TEXT,
            plan_hash TEXT,
            budget INTEGER NOT NULL,
            used INTEGER NOT NULL,
            items INTEGER NOT NULL,
            stranded INTEGER NOT NULL,
            record BLOB NOT NULL,
            PRIMARY KEY (tenant, trace_id)
        )
        """,
        "CREATE INDEX trace_by_time ON trace (tenant, recorded_us, trace_id)",
        "CREATE INDEX trace_by_id ON trace (trace_id)",
        """
        CREATE TABLE dead_letter (
            entry_id TEXT PRIMARY KEY,
            trace_id BLOB,
            buried_us INTEGER NOT NULL,
            reason TEXT NOT NULL,
            fields BLOB NOT NULL
        )
        """,
        "CREATE INDEX dead_letter_by_trace ON dead_letter (trace_id)",
    ),
)
"""The statements that lead from each version of the file to the next."""

_LISTED: Final = "tenant, trace_id, recorded_us, kind, spaces, plan_hash, budget, used, items, stranded"
_ASKED_AT_ONCE: Final = 500


class StoreUnusable(Exception):
    """The file cannot be a trace store; the message is one sentence with path and cause."""


class StoreFailed(Exception):
    """The store cannot answer at this moment (disk full, locked, damaged); nothing was half written."""


@dataclass(frozen=True, slots=True)
class Buried:
    """
    A dead letter as the store keeps it.

    Attributes:
        trace_id: None if not even the frame could be read.
        fields: The entry's fields, msgpack.
    """

    entry_id: str
    trace_id: str | None
    buried_us: int
    reason: str
    fields: bytes


@dataclass(frozen=True, slots=True)
class Filters:
    """
    Which traces of a tenant to list.

    Attributes:
        allowed: Spaces the caller may see; None is all. A trace is seen when all that it read is allowed.
        from_us, to_us: Recorded at or after, recorded before.
    """

    allowed: tuple[str, ...] | None = None
    kind: str | None = None
    space: str | None = None
    from_us: int | None = None
    to_us: int | None = None


class Store:
    """The open file. Safe to use from several threads; one writes and one reads at a time."""

    def __init__(self, writing: sqlite3.Connection, reading: sqlite3.Connection) -> None:
        """Use `open` instead."""
        self._writing, self._write_lock = writing, threading.Lock()
        self._reading, self._read_lock = reading, threading.Lock()

    @classmethod
    def open(cls, path: Path, busy_timeout_ms: int) -> "Store":
        """
        Open *path*, made or migrated as needed.

        Raises:
            StoreUnusable: It cannot be written, is no trace store, or was written by a newer version.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            writing = _connected(path, busy_timeout_ms)
            _migrate(writing, path)
            return cls(writing, _connected(path, busy_timeout_ms))
        except OSError as fault:
            raise StoreUnusable(f"the trace store {path} cannot be used: {fault.strerror}") from fault
        except sqlite3.Error as fault:
            raise StoreUnusable(f"the trace store {path} cannot be used: {fault}") from fault

    def insert(self, rows: Sequence[Row]) -> int:
        """
        Add *rows* in one transaction; those that are there already are left as they are.

        Returns:
            How many were new.

        Raises:
            StoreFailed: None was added.
        """
        statement = f"INSERT INTO trace ({_LISTED}, record) VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING"  # noqa: S608  # our own names
        with self._transaction() as connection:
            before = connection.total_changes
            connection.executemany(statement, map(_values, rows))
            return connection.total_changes - before

    def bury(self, letters: Sequence[Buried]) -> None:
        """
        Keep dead letters, each once.

        Raises:
            StoreFailed: None was kept.
        """
        values = [(b.entry_id, _bytes(b.trace_id), b.buried_us, b.reason, b.fields) for b in letters]
        with self._transaction() as connection:
            connection.executemany("INSERT INTO dead_letter VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING", values)

    def fetch(self, tenant: str, trace_id: str) -> Row | None:
        """
        One trace of *tenant*.

        Raises:
            StoreFailed: It cannot be read now.
        """
        statement = f"SELECT {_LISTED}, record FROM trace WHERE tenant = ? AND trace_id = ?"  # noqa: S608  # our names
        found = self._read(statement, (tenant, _bytes(trace_id)))
        return _row(found[0]) if found else None

    def browse(self, tenant: str, filters: Filters, before: tuple[int, str] | None, limit: int) -> list[Row]:
        """
        Traces of *tenant*, newest first, without their records.

        Args:
            before: `(recorded_us, trace_id)` of the last trace of the previous page.
            limit: Most traces.

        Raises:
            StoreFailed: They cannot be read now.
        """
        conditions, values = ["tenant = ?"], [tenant]
        for condition, given in _conditions(filters, before):
            conditions.append(condition)
            values.extend(given)
        statement = (
            f"SELECT {_LISTED}, x'' FROM trace WHERE {' AND '.join(conditions)} "  # noqa: S608  # our own names and conditions
            "ORDER BY recorded_us DESC, trace_id DESC LIMIT ?"
        )
        return [_row(found) for found in self._read(statement, (*values, limit))]

    def persisted(self, trace_ids: Sequence[str]) -> list[str]:
        """
        Those of *trace_ids* that are settled here: stored, or kept as a dead letter.

        Raises:
            StoreFailed: It cannot be told now.
        """
        settled: list[str] = []
        for start in range(0, len(trace_ids), _ASKED_AT_ONCE):
            asked = [_bytes(trace_id) for trace_id in trace_ids[start : start + _ASKED_AT_ONCE]]
            marks = ",".join("?" * len(asked))
            statement = (
                f"SELECT trace_id FROM trace WHERE trace_id IN ({marks}) UNION "  # noqa: S608  # question marks
                f"SELECT trace_id FROM dead_letter WHERE trace_id IN ({marks})"
            )
            settled.extend(str(UUID(bytes=found[0])) for found in self._read(statement, (*asked, *asked)))
        return settled

    def dead_letters(self) -> list[Buried]:
        """
        Every dead letter, oldest first.

        Raises:
            StoreFailed: They cannot be read now.
        """
        found = self._read("SELECT entry_id, trace_id, buried_us, reason, fields FROM dead_letter ORDER BY rowid", ())
        return [Buried(row[0], None if row[1] is None else str(UUID(bytes=row[1])), *row[2:]) for row in found]

    def close(self) -> None:
        """Close the file after the work at hand."""
        with self._write_lock, self._read_lock:
            self._reading.close()
            self._writing.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._write_lock:
            connection = self._writing
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except sqlite3.Error as fault:
                raise StoreFailed(str(fault)) from fault
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _read(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        with self._read_lock:
            try:
                return self._reading.execute(statement, values).fetchall()
            except sqlite3.Error as fault:
                raise StoreFailed(str(fault)) from fault


def _connected(path: Path, busy_timeout_ms: int) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy_timeout_ms / 1000, isolation_level=None, check_same_thread=False)
    # Checked before anything is changed: a file that is not ours stays as it is.
    _version(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _version(connection: sqlite3.Connection, path: Path) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(_MIGRATIONS):
        raise StoreUnusable(f"the trace store {path} has version {version}; this program knows {len(_MIGRATIONS)}")
    return int(version)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if _version(connection, path) == len(_MIGRATIONS):
        return
    # Another writer may start on the same file at the same time, so look again under the lock.
    connection.execute("BEGIN IMMEDIATE")
    for statements in _MIGRATIONS[_version(connection, path) :]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")
    connection.execute("COMMIT")


def _conditions(filters: Filters, before: tuple[int, str] | None) -> Iterator[tuple[str, list[Any]]]:
    simple: tuple[tuple[str, object], ...] = (
        ("kind = ?", filters.kind),
        ("recorded_us >= ?", filters.from_us),
        ("recorded_us < ?", filters.to_us),
    )
    for condition, value in simple:
        if value is not None:
            yield condition, [value]
    if filters.space is not None:
        yield "(spaces IS NULL OR EXISTS (SELECT 1 FROM json_each(spaces) WHERE value = ?))", [filters.space]
    if filters.allowed is not None:
        marks = ",".join("?" * len(filters.allowed))
        outside = f"SELECT 1 FROM json_each(spaces) WHERE value NOT IN ({marks})"  # noqa: S608  # question marks
        yield f"spaces IS NOT NULL AND spaces <> '[]' AND NOT EXISTS ({outside})", list(filters.allowed)
    if before is not None:
        yield "(recorded_us, trace_id) < (?, ?)", [before[0], _bytes(before[1])]


def _values(row: Row) -> tuple[Any, ...]:
    spaces = None if row.spaces is None else json.dumps(row.spaces, ensure_ascii=False)
    counts = (row.budget, row.used, row.items, row.stranded)
    return (row.tenant, _bytes(row.trace_id), row.recorded_us, row.kind, spaces, row.plan_hash, *counts, row.record)


def _row(found: Sequence[Any]) -> Row:
    spaces = None if found[4] is None else tuple(json.loads(found[4]))
    return Row(found[0], str(UUID(bytes=found[1])), found[2], found[3], spaces, *found[5:])


def _bytes(trace_id: str | None) -> bytes | None:
    return None if trace_id is None else UUID(trace_id).bytes

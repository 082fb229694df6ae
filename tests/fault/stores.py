"""
The stores of a system under faults, and how they are looked into from outside: without any code that they are kept by.

SQLite files, or a PostgreSQL of the run's own with a database for each.
"""

import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

import msgpack
import psycopg
from fault.journal import Coordinate
from fixtures.postgres import ROLE, OwnPostgres, PostgresServer

Row = tuple[Any, ...]
_OPEN_END = 2**63 - 1

_LAWS = {
    "source versions without a source": "SELECT count(*) FROM source_version v WHERE NOT EXISTS (SELECT 1 FROM source s"
    " WHERE s.tenant = v.tenant AND s.source_no = v.source_no)",
    "spans without their version": "SELECT count(*) FROM span s WHERE NOT EXISTS (SELECT 1 FROM source_version v"
    " WHERE v.tenant = s.tenant AND v.source_no = s.source_no AND v.version_tx = s.version_tx)",
    "node versions without a node": "SELECT count(*) FROM node_version v WHERE NOT EXISTS (SELECT 1 FROM node n"
    " WHERE n.tenant = v.tenant AND n.node_no = v.node_no)",
    "links without their span": "SELECT count(*) FROM node_span l WHERE NOT EXISTS (SELECT 1 FROM span s"
    " WHERE s.tenant = l.tenant AND s.span_no = l.span_no)",
    "links without their node version": "SELECT count(*) FROM node_span l WHERE NOT EXISTS (SELECT 1"
    " FROM node_version v WHERE v.tenant = l.tenant AND v.version_no = l.version_no)",
    "edges without their nodes": "SELECT count(*) FROM edge e WHERE (SELECT count(*) FROM node n WHERE"
    " n.tenant = e.tenant AND n.node_no IN (e.from_node_no, e.to_node_no)) < 2 AND e.from_node_no <> e.to_node_no",
    "versions after the last commit": "SELECT count(*) FROM source_version v JOIN clock c ON c.tenant = v.tenant"
    " WHERE v.version_tx > c.last_tx",
    "sources with two open versions": "SELECT count(*) FROM (SELECT source_no FROM source_version"
    f" WHERE tx_to = {_OPEN_END} GROUP BY tenant, source_no HAVING count(*) > 1) twice",
}
"""What holds in memory, whatever was interrupted; each counts what breaks it."""

_TRACE_LAWS = {
    "spaces without their trace": "SELECT count(*) FROM trace_space s WHERE NOT EXISTS (SELECT 1 FROM trace t"
    " WHERE t.tenant = s.tenant AND t.trace_id = s.trace_id)",
    "dead letters": "SELECT count(*) FROM trace_dead_letter",
}


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """
    A trace as the store holds it.

    Attributes:
        first: Source id of the first fragment of a Select's pool; empty for other kinds.
    """

    trace_id: str
    kind: str
    question: str
    first: str
    plan_hash: str
    coordinates: tuple[Coordinate, ...]


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version of a source as the store holds it."""

    source_id: str
    version: int
    text: str


class Stores(Protocol):
    """
    Where a system keeps what it keeps.

    Attributes:
        memory, traces: As the settings spell them.
        environ: Variables that the services need for it.
    """

    name: str
    memory: str
    traces: str
    environ: dict[str, str]

    def prepare(self) -> None:
        """Make what has to be there before a service starts."""

    def crash(self) -> bool:
        """Crash the database and bring it back; False if it has no process of its own."""

    def rows(self, of: str, statement: str) -> Sequence[Row]:
        """The answer of the store *of* (`memory` or `traces`) to a statement."""

    def damage(self) -> list[str]:
        """What the engine itself finds wrong with its files."""


class Files:
    """SQLite files in *folder*."""

    name = "SQLite"

    def __init__(self, folder: Path) -> None:
        self.paths = {"memory": folder / "memory.db", "traces": folder / "traces.db"}
        self.memory, self.traces = f"sqlite:///{self.paths['memory']}", str(self.paths["traces"])
        self.environ: dict[str, str] = {}

    def prepare(self) -> None:
        """See `Stores`."""

    def crash(self) -> bool:
        """See `Stores`."""
        return False

    def rows(self, of: str, statement: str) -> Sequence[Row]:
        """See `Stores`."""
        with closing(sqlite3.connect(f"file:{self.paths[of]}?mode=ro", uri=True, timeout=20)) as connection:
            return connection.execute(statement).fetchall()

    def damage(self) -> list[str]:
        """See `Stores`."""
        found = []
        for name in self.paths:
            told = [str(row[0]) for row in self.rows(name, "PRAGMA integrity_check")]
            found += [f"{name}: {line}" for line in told if line != "ok"]
            found += [f"{name}: foreign key {row}" for row in self.rows(name, "PRAGMA foreign_key_check")]
        return found


class Databases:
    """Databases of *server*, which nothing else uses."""

    name = "PostgreSQL"

    def __init__(self, server: OwnPostgres) -> None:
        self._own = server
        self._server = PostgresServer(server.admin)
        self._databases = {name: self._server.create() for name in ("memory", "traces")}
        place = f"postgresql://{ROLE}@127.0.0.1:{server.port}"
        address = {name: f"{place}/{made}" for name, made in self._databases.items()}
        self.memory, self.traces = address["memory"], address["traces"]
        self.environ = {"PGPASSWORD": self._server.password}

    def prepare(self) -> None:
        """See `Stores`."""

    def crash(self) -> bool:
        """See `Stores`."""
        self._own.stop(signal.SIGQUIT)
        self._own.start()
        return True

    def rows(self, of: str, statement: str) -> Sequence[Row]:
        """See `Stores`."""
        with psycopg.connect(self._server.as_admin(self._databases[of]), autocommit=True) as connection:
            return connection.execute(statement).fetchall()

    def damage(self) -> list[str]:
        """See `Stores`; by `amcheck`, every index of the database against its table."""
        found = []
        for name in self._databases:
            with psycopg.connect(self._server.as_admin(self._databases[name]), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
                try:
                    connection.execute(
                        "SELECT bt_index_check(c.oid, true) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid"
                        " JOIN pg_am a ON a.oid = c.relam AND a.amname = 'btree'"
                        " JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'"
                    )
                except psycopg.Error as fault:
                    found.append(f"{name}: {fault}")
        return found


def broken_laws(stores: Stores) -> list[str]:
    """Laws of the stored rows that do not hold, and what the engine finds damaged."""
    found = stores.damage()
    for of, laws in (("memory", _LAWS), ("traces", _TRACE_LAWS)):
        for law, statement in laws.items():
            count = stores.rows(of, statement)[0][0]
            found += [f"{of}: {count} {law}"] if count else []
    return found


def stored_traces(stores: Stores) -> list[StoredTrace]:
    """Every trace of the store, one for each row."""
    return [_trace(bytes(record)) for (record,) in stores.rows("traces", "SELECT record FROM trace")]


def recorded_before(stores: Stores, instant_us: int) -> int:
    """How many traces say that they were recorded before *instant_us*."""
    return int(stores.rows("traces", f"SELECT count(*) FROM trace WHERE recorded_us < {instant_us}")[0][0])


def stored_versions(stores: Stores) -> list[StoredVersion]:
    """Every version of every source of the store."""
    statement = (
        "SELECT s.source_id, v.version_tx, v.text FROM source_version v"
        " JOIN source s ON s.tenant = v.tenant AND s.source_no = v.source_no"
    )
    return [
        StoredVersion(str(UUID(bytes=bytes(source))), version, bytes(text).decode())
        for source, version, text in stores.rows("memory", statement)
    ]


def _trace(packed: bytes) -> StoredTrace:
    record = msgpack.unpackb(packed)
    pool = record["pool"] or [[""]]
    return StoredTrace(
        record["trace_id"],
        record["kind"],
        record["request"].get("question", ""),
        pool[0][0],
        record["plan_hash"] or "",
        tuple(tuple(place) for place in record["item_coords"]),
    )

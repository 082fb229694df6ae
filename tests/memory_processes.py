"""What the processes of the two-process test do; each reports through a queue."""

import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from typing import Any

import sqlalchemy as sa
from memory_builders import a_document
from telha_planner.memory import clock, keys, tables
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer

PARAGRAPHS = ["alpha", "beta", "gamma"]
FEWEST = 10
"""Commits, and reads, that each makes however slow the machine is."""


def _now() -> int:
    return time.time_ns() // 1000


def write(url: str, name: str, seconds: float, barrier: Barrier, report: "Queue[Any]") -> None:
    """Open the store and the tenant together with the others, then commit as fast as it goes."""
    try:
        barrier.wait()
        store = Store.open(url, busy_timeout_ms=20_000)
        key, _ = keys.create(store, "acme", name=name, rights=["write"], spaces=None, now=_now, create_tenant=True)
        with store.reading() as connection:
            found = keys.authenticate(connection, key, _now)
        assert found is not None
        writer = Writer(store, _now)
        commits = []
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(commits) < FEWEST:
            paragraphs = [f"{word} {len(commits)}" for word in PARAGRAPHS]
            commits.append(writer.write_documents(found[0].tenant, [a_document(name, paragraphs)]).tx)
        store.close()
        report.put(("commits", commits))
    except BaseException as error:
        report.put(("error", f"{name}: {error!r}"))
        raise


def read(url: str, seconds: float, barrier: Barrier, report: "Queue[Any]") -> None:
    """Check over and over that one snapshot is whole and never older than the one before."""
    try:
        barrier.wait()
        store = Store.open(url, busy_timeout_ms=20_000)
        seen, reads = 0, 0
        end = time.monotonic() + seconds
        while time.monotonic() < end or reads < FEWEST:
            with store.reading(1) as connection:
                last = clock.last_tx(connection, 1)
                versions, newest = connection.execute(
                    sa.select(sa.func.count(), sa.func.max(tables.source_version.c.version_tx))
                ).one()
                spans = connection.execute(sa.select(sa.func.count()).select_from(tables.span)).scalar_one()
            assert last >= seen
            assert spans == versions * len(PARAGRAPHS)
            assert (newest or 0) == last
            seen, reads = last, reads + 1
        store.close()
        report.put(("reads", reads))
    except BaseException as error:
        report.put(("error", f"reader: {error!r}"))
        raise


def write_the_same(url: str, documents: int, barrier: Barrier, report: "Queue[Any]") -> None:
    """Ingest the documents that the others ingest too; reports outcome and version of each."""
    try:
        barrier.wait()
        store = Store.open(url, busy_timeout_ms=20_000)
        keys.create(store, "acme", name="key", rights=["write"], spaces=None, now=_now, create_tenant=True)
        writer = Writer(store, _now)
        barrier.wait()
        told = []
        for number in range(documents):
            document = a_document(f"document {number}", [f"{word} {number}" for word in PARAGRAPHS])
            source = writer.write_documents(1, [document]).sources[0]
            told.append((source.outcome, source.version_tx))
        store.close()
        report.put(("told", told))
    except BaseException as error:
        report.put(("error", repr(error)))
        raise

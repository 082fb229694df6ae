"""
Open a trace store, and bring its schema up to date: at the writer's start, and for `telha migrate`.

Rule 1: a database that is not ours, or is newer than this program, is left as it is. Rule 2: all steps of a migration
are one transaction, and of several programs that begin it at once, one does the work.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from . import migrations
from .backend import Backend
from .config import POSTGRES_SCHEMES
from .faults import StoreUnusable
from .postgres import Postgres
from .sqlite import SQLite
from .store import Store


class Schema(NamedTuple):
    """Where a store stands: its *place*, the *revision* it was found at (None: empty) and the *newest*."""

    place: str
    revision: str | None
    newest: str

    @property
    def pending(self) -> bool:
        """Whether there is anything to migrate."""
        return self.revision != self.newest


def open_store(place: str | Path, busy_timeout_ms: int) -> Store:
    """
    Open the store at *place*, a path or `postgresql://…`, made or migrated as needed.

    Raises:
        StoreUnusable: It cannot be reached or written, is no trace store, or was written by a newer version.
    """
    backend = _backend(place, busy_timeout_ms)
    try:
        _migrate(backend)
    except BaseException:
        backend.engine.dispose()
        raise
    return Store(backend)


def migrate(place: str | Path, busy_timeout_ms: int) -> Schema:
    """
    Bring the store at *place* up to date; tells where it stood.

    Raises:
        StoreUnusable: As `open_store`; nothing was changed.
    """
    backend = _backend(place, busy_timeout_ms)
    try:
        return _migrate(backend)
    finally:
        backend.engine.dispose()


def examine(place: str | Path, busy_timeout_ms: int) -> Schema:
    """
    Tell where the store at *place* stands, and change nothing; a SQLite file that does not exist is not made.

    Raises:
        StoreUnusable: As `open_store`.
    """
    if not _is_url(place) and not Path(place).exists():
        return Schema(str(place), None, migrations.HEAD)
    backend = _backend(place, busy_timeout_ms)
    try:
        with _told(backend), backend.engine.connect() as connection:
            return _stands(backend, connection)
    finally:
        backend.engine.dispose()


def _migrate(backend: Backend) -> Schema:
    with _told(backend):
        # Looked at before anything is changed: a file that is not ours stays as it is.
        with backend.engine.connect() as connection:
            stood = _stands(backend, connection)
        backend.prepare()
        if stood.pending:
            with backend.engine.connect() as connection:
                connection.execution_options(telha_writes=True)
                with connection.begin():
                    backend.lock_for_migration(connection)
                    stood = _stands(backend, connection)
                    if stood.pending:
                        backend.scope(connection, None)
                        migrations.upgrade(connection)
    return stood


def _stands(backend: Backend, connection: sa.Connection) -> Schema:
    revision = migrations.current(connection)
    backend.refuse_foreign(connection, revision)
    if revision is not None and revision != migrations.HEAD and not migrations.known(revision):
        raise StoreUnusable(
            f"the trace store {backend.place} was written by a newer version (schema {revision}, "
            f"this version knows {migrations.HEAD}); update this installation"
        )
    return Schema(backend.place, revision, migrations.HEAD)


def _backend(place: str | Path, busy_timeout_ms: int) -> Backend:
    if _is_url(place):
        return Postgres(str(place), busy_timeout_ms)
    return SQLite(Path(place), busy_timeout_ms)


def _is_url(place: str | Path) -> bool:
    return isinstance(place, str) and place.startswith(POSTGRES_SCHEMES)


@contextmanager
def _told(backend: Backend) -> Iterator[None]:
    try:
        yield
    except sa.exc.DBAPIError as fault:
        cause = " ".join(str(fault.orig).split())
        raise StoreUnusable(f"the trace store {backend.place} cannot be used: {cause}") from fault

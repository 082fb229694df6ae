"""
Open a trace store, and bring its schema up to date: at the writer's start, and for `telha migrate`.

Rule 1: a database that is not ours, or is newer than this program, is left as it is. Rule 2: all steps of a migration
are one transaction, and of several programs that begin it at once, one does the work. Rule 3: a writer makes the schema
of an empty database; that of a database which others use too it migrates only when it is told to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from . import migrations
from .backend import Backend
from .config import POSTGRES_SCHEMES
from .faults import DRIVER_FAULTS, StoreUnusable, cause_of
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


def open_store(place: str | Path, busy_timeout_ms: int, *, migrates: bool = False) -> Store:
    """
    Open the store at *place*, a path or `postgresql://…`; an empty one gets the schema.

    Args:
        migrates: Whether to migrate an older schema on PostgreSQL; a file is always migrated.

    Raises:
        StoreUnusable: It cannot be reached or written, is no trace store, is older and may not be migrated, or was
            written by a newer version.
    """
    backend = _backend(place, busy_timeout_ms)
    try:
        with _told(backend):
            with backend.engine.connect() as connection:
                found = _standing(backend, connection)
            if found.revision is not None and found.pending and not (migrates or backend.made_alone):
                raise StoreUnusable(
                    f"the trace store {backend.place} stands at schema {found.revision} and this version needs "
                    f'{found.newest}; run telha-trace-writer migrate, or set writer.migrate = "auto"'
                )
            _migrate(backend, found)
    except BaseException:
        backend.engine.dispose()
        raise
    return Store(backend)


def must_be_there(place: str | Path) -> None:
    """
    Refuse a place where no store is yet, for whoever only looks at one.

    Raises:
        StoreUnusable: *place* is the path of no file.
    """
    if not _is_url(place) and not Path(place).is_file():
        raise StoreUnusable(f"there is no trace store at {place}")


def migrate(place: str | Path, busy_timeout_ms: int) -> Schema:
    """
    Bring the store at *place* up to date; tells where it stood.

    Raises:
        StoreUnusable: It cannot be reached or written, is no trace store, or was written by a newer version. Nothing
            was changed.
    """
    backend = _backend(place, busy_timeout_ms)
    try:
        with _told(backend):
            with backend.engine.connect() as connection:
                found = _standing(backend, connection)
            return _migrate(backend, found)
    finally:
        backend.engine.dispose()


def examine(place: str | Path, busy_timeout_ms: int) -> Schema:
    """
    Tell where the store at *place* stands, and change nothing; a SQLite file that does not exist is not made.

    Raises:
        StoreUnusable: As `migrate`.
    """
    if not _is_url(place) and not Path(place).exists():
        return Schema(str(place), None, migrations.HEAD)
    backend = _backend(place, busy_timeout_ms)
    try:
        with _told(backend), backend.engine.connect() as connection:
            return _standing(backend, connection)
    finally:
        backend.engine.dispose()


def _migrate(backend: Backend, found: Schema) -> Schema:
    backend.prepare()
    if not found.pending:
        return found
    with backend.engine.connect() as connection:
        connection.execution_options(telha_writes=True)
        with connection.begin():
            backend.scope(connection, None)
            backend.lock_for_migration(connection)
            # Somebody else may have done it meanwhile.
            found = _standing(backend, connection)
            if found.pending:
                migrations.upgrade(connection)
    return found


def _standing(backend: Backend, connection: sa.Connection) -> Schema:
    revision = migrations.current(connection)
    backend.refuse_foreign(connection, newest=revision == migrations.HEAD)
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
    except DRIVER_FAULTS as fault:
        raise StoreUnusable(f"the trace store {backend.place} cannot be used: {cause_of(fault)}") from fault

"""How the trace store fails; no error of a driver leaves it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

DRIVER_FAULTS = (sa.exc.DBAPIError, sqlite3.Error)
"""What comes from a driver: through SQLAlchemy, or from its own cursor."""


class StoreUnusable(Exception):
    """The store cannot be opened; the message is one sentence with place and cause, without a password."""


class StoreFailed(Exception):
    """The store cannot answer at this moment (disk full, locked, away); nothing was half written."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn errors of the driver into `StoreFailed`."""
    try:
        yield
    except DRIVER_FAULTS as fault:
        raise StoreFailed(cause_of(fault)) from fault
    except sa.exc.TimeoutError as fault:
        raise StoreFailed("every connection is in use") from fault


def cause_of(fault: Exception) -> str:
    """What the driver said, on one line and without the values that PostgreSQL quotes in its details."""
    original = getattr(fault, "orig", fault)
    diagnosis = getattr(original, "diag", None)
    said = getattr(diagnosis, "message_primary", None) or str(original)
    return " ".join(said.split())

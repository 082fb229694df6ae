"""How the trace store fails; no error of a driver leaves it."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa


class StoreUnusable(Exception):
    """The store cannot be opened; the message is one sentence with place and cause, without a password."""


class StoreFailed(Exception):
    """The store cannot answer at this moment (disk full, locked, away); nothing was half written."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn errors of the driver into `StoreFailed`."""
    try:
        yield
    except sa.exc.DBAPIError as fault:
        raise StoreFailed(cause_of(fault)) from fault
    except sa.exc.TimeoutError as fault:
        raise StoreFailed("every connection is in use") from fault


def cause_of(fault: sa.exc.DBAPIError) -> str:
    """What the driver said, on one line and without the values that PostgreSQL quotes in its details."""
    diagnosis = getattr(fault.orig, "diag", None)
    said = getattr(diagnosis, "message_primary", None) or str(fault.orig)
    return " ".join(said.split())

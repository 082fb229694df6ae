"""
How long somebody waits for the work that runs on this thread, so that long work can end with its caller.

Whoever runs work for a call says so with `lasting`; whatever loops over much asks `check` now and then. Rule 1: work
that nobody limited is never ended. Rule 2: `check` stands where nothing is half-done: not inside a transaction, nor
while something shared is being changed.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from telha_planner.core.errors import DeadlineExceeded


class Patience:
    """
    Of one caller.

    Args:
        deadline: `time.monotonic()` at which it ends; infinite by default.
    """

    __slots__ = ("_deadline", "_ended")

    def __init__(self, deadline: float = math.inf) -> None:
        self._deadline = deadline
        self._ended = False

    def end(self) -> None:
        """The caller has gone; may be called from any thread and from a signal handler."""
        self._ended = True

    def check(self) -> None:
        """Raise `DeadlineExceeded` if nobody waits any more."""
        if self._ended or time.monotonic() >= self._deadline:
            raise DeadlineExceeded


_WITHOUT_END = Patience()
_current: ContextVar[Patience] = ContextVar("patience", default=_WITHOUT_END)


@contextmanager
def lasting(patience: Patience) -> Iterator[None]:
    """Limit the work in the block by *patience*."""
    token = _current.set(patience)
    try:
        yield
    finally:
        _current.reset(token)


def check() -> None:
    """Raise `DeadlineExceeded` if nobody waits any more for the work that runs here."""
    _current.get().check()

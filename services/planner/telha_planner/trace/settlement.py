"""
What this planner and the trace writer tell one another: which records are settled, and up to when all are.

A report names, per spool, the instant before which every record of it is settled. The writer needs it to answer for a
trace that it does not have: on its way, or never made.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from .ids import made_us
from .spool import Spool

UNDER_WAY_US: Final = 30_000_000
"""A call's id is made this much before its record is appended, at most, as far as a report goes."""


@dataclass(frozen=True, slots=True)
class Settled:
    """
    How far one spool is.

    Attributes:
        spool: Its name.
        before_us: Every record whose id was made before this instant is settled, µs since 1970 UTC.
        gone: The spool is empty and removed; no record of it will come.
    """

    spool: str
    before_us: int
    gone: bool = False


class Writer(Protocol):
    """What is asked of the trace writer; made in `server/` from the gRPC stub."""

    async def persisted(self, trace_ids: Sequence[str], spools: Sequence[Settled] = ()) -> Collection[str]:
        """Those of *trace_ids*, at most 1,000, that are settled, and report *spools*; raises `Unavailable`."""


class Settlement:
    """Reports to *writer* how far *spool* and those that it took over are."""

    def __init__(self, spool: Spool, writer: Writer, now_us: Callable[[], int]) -> None:
        self._spool = spool
        self._writer = writer
        self._now_us = now_us
        self._gone: list[str] = []

    async def report(self) -> None:
        """
        Tell how far the spools are.

        Raises:
            Unavailable: The writer is away; the next report says the same and more.
        """
        self._gone += self._spool.finished()
        gone = list(self._gone)
        now_us = self._now_us()
        states = [Settled(name, _before(oldest, now_us)) for name, oldest in self._spool.oldest_of_each().items()]
        await self._writer.persisted((), [*states, *(Settled(name, now_us, gone=True) for name in gone)])
        self._gone = [name for name in self._gone if name not in gone]


def _before(oldest: str | None, now_us: int) -> int:
    made = None if oldest is None else made_us(oldest)
    # Records are appended nearly in the order of their ids.
    return max(0, min(now_us, now_us if made is None else made) - UNDER_WAY_US)

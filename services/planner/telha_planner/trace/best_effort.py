"""
`trace.required = false`: a call whose record cannot be kept is answered all the same, without a trace id.

Rule: nothing is missed in silence. Each is counted, and the log says when it begins, ends, and how many there were.
"""

import logging
from typing import Protocol

from telha_planner.core.errors import TraceBacklogFull, Unavailable

_log = logging.getLogger(__name__)


class Records(Protocol):
    """Where records become durable."""

    async def append(self, record: bytes, trace_id: str) -> bool:
        """Return when *record* is kept; raises `TraceBacklogFull`, `Unavailable`."""

    def get(self, tenant: str, trace_id: str) -> bytes | None:
        """The record of *trace_id* if it is *tenant*'s and still here."""

    def erase(self, tenant: str, trace_id: str) -> None:
        """Forget the record of *trace_id* if it is *tenant*'s."""

    def roll(self) -> None:
        """Begin another file."""

    def spools(self) -> list[str]:
        """Names of the spools in which `get` looks."""


class BestEffort:
    """
    *records* without its refusals.

    Attributes:
        missed: Records that were not kept since the start.
    """

    def __init__(self, records: Records) -> None:
        self._records = records
        self._missing = 0
        self.missed = 0

    async def append(self, record: bytes, trace_id: str) -> bool:
        """Whether *record* is kept."""
        try:
            await self._records.append(record, trace_id)
        except (TraceBacklogFull, Unavailable) as fault:
            if not self._missing:
                _log.error("calls are answered without traces: %s", fault)
            self._missing += 1
            self.missed += 1
            return False
        if self._missing:
            _log.warning("calls have traces again; %d were answered without", self._missing)
            self._missing = 0
        return True

    def get(self, tenant: str, trace_id: str) -> bytes | None:
        """As *records* says."""
        return self._records.get(tenant, trace_id)

    def erase(self, tenant: str, trace_id: str) -> None:
        """As *records* does."""
        self._records.erase(tenant, trace_id)

    def roll(self) -> None:
        """As *records* does."""
        self._records.roll()

    def spools(self) -> list[str]:
        """As *records* says."""
        return self._records.spools()

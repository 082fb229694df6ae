"""
One trace, as the key of a call may see it: from this planner's spool, or from the trace writer.

Rule 1: a key that is limited to spaces sees a trace only if every space that the trace read is allowed; one that read
no memory (Select) is seen by unlimited keys and by its own key. Rule 2: absent and foreign get the same answer; one
that may be on its way from another planner is pending, not absent.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

from telha.trace.v1 import traces_pb2

from telha_planner.caller import Caller
from telha_planner.replay import may_see
from telha_planner.trace.recorded import Gave, Recorded, RecordUnreadable, read_gave, read_record

from .ports import Records, TraceStore
from .translate_trace import trace_message

R = TypeVar("R", Recorded, Gave)


class TraceReader:
    """Reads traces for whoever may see them."""

    def __init__(self, records: Records, writer: TraceStore) -> None:
        self._records = records
        self._writer = writer

    async def find(self, caller: Caller, trace_id: str, deadline: float) -> traces_pb2.GetResponse | None:
        """
        The trace, or None if there is none that *caller* may see.

        Args:
            deadline: Until when the caller waits, `time.monotonic()`.

        Raises:
            TracePending: It cannot be told at this moment.
        """
        searched = self._records.spools()
        record = self._records.get(caller.tenant_name, trace_id)
        found: traces_pb2.GetResponse | None = None
        if record is not None:
            # The pool of a Select has up to 100,000 rows; other calls go on meanwhile.
            found = await asyncio.to_thread(trace_message, record)
        if found is None or not _may_see(caller, found):
            # A foreign trace is looked for as an absent one is, so that both end alike when the writer is away.
            found = await self._writer.fetch(
                caller.tenant_name, caller.spaces or (), caller.key_id, trace_id, searched, deadline
            )
        return found if found is not None and _may_see(caller, found) else None

    async def recorded(self, caller: Caller, trace_id: str, deadline: float) -> Recorded | None:
        """
        As `find`: the record, read back.

        Raises:
            RecordUnreadable: The trace is there, and this version cannot make its plan anew.
            TracePending: It cannot be told at this moment.
        """
        return await self._read(read_record, caller, trace_id, deadline)

    async def gave(self, caller: Caller, trace_id: str, deadline: float) -> Gave | None:
        """
        As `find`: which spans the call returned.

        Raises:
            RecordUnreadable: The trace is there, and does not say what it read.
            TracePending: It cannot be told at this moment.
        """
        return await self._read(read_gave, caller, trace_id, deadline)

    async def _read(self, read: Callable[[bytes], R], caller: Caller, trace_id: str, deadline: float) -> R | None:
        searched = self._records.spools()
        written = self._records.get(caller.tenant_name, trace_id)
        found: R | None = None
        if written is not None:
            # Of one that cannot be read nobody knows whose it is; the trace writer looks at what it persisted.
            with contextlib.suppress(RecordUnreadable):
                found = await asyncio.to_thread(read, written)
        if found is None or not may_see(caller, found):
            written = await self._writer.fetch_as_written(
                caller.tenant_name, caller.spaces or (), caller.key_id, trace_id, searched, deadline
            )
            found = None if written is None else await asyncio.to_thread(read, written)
        return found if found is not None and may_see(caller, found) else None


def _may_see(caller: Caller, found: traces_pb2.GetResponse) -> bool:
    if caller.spaces is None:
        return True
    if found.summary.spaces:
        return set(found.summary.spaces) <= set(caller.spaces)
    return found.record.fields["key_id"].string_value == caller.key_id

"""
Finding a caller's trace wherever it is: this planner's spool, the stream, the trace writer's store.

Rule 1: absent and foreign get the same answer, after the same questions; one that may be on its way from another
planner is pending, not absent. Rule 2: who may see a trace is decided by tenant and spaces of the key
(`telha_planner.replay.may_see`).
"""

from telha_planner.caller import Caller
from telha_planner.core.errors import NotFound, RequestInvalid
from telha_planner.core.request import parse_uuid
from telha_planner.replay import may_see
from telha_planner.trace.recorded import Recorded, RecordUnreadable, read_record

from .call import Call
from .dispatch import PlanThread
from .ports import Planning, Records, TraceStore


class TraceLookup:
    """Finds traces as they were written."""

    def __init__(self, planning: Planning, thread: PlanThread, records: Records, writer: TraceStore) -> None:
        self._planning = planning
        self._thread = thread
        self._records = records
        self._writer = writer

    async def reader(self, call: Call) -> Caller:
        """Who calls; raises `PermissionDenied` without the right to read."""
        credential = call.need_credential()
        caller = await self._thread.run(lambda: self._planning.caller(credential), call.deadline, call.holder)
        call.tenant = caller.tenant_name
        caller.need("read")
        return caller

    async def recorded(self, place: str, trace_id: str, caller: Caller, call: Call) -> Recorded:
        """
        The trace that the field *place* names.

        Raises:
            RequestInvalid: It is no id, or the trace is of a kind that cannot be planned anew.
            NotFound: There is none that the caller may see.
            TracePending: It cannot be told at this moment.
        """
        parse_uuid(place, trace_id)
        searched = self._records.spools()
        found = await self._read(place, self._records.get(caller.tenant_name, trace_id), call)
        if found is None or not may_see(caller, found):
            # A foreign trace is looked for as an absent one is, so that both end alike when the writer is away.
            written = await self._writer.fetch_as_written(
                caller.tenant_name, caller.spaces or (), caller.key_id, trace_id, searched, call.deadline
            )
            found = await self._read(place, written, call)
        if found is None or not may_see(caller, found):
            raise NotFound(resource="trace")
        return found

    async def _read(self, place: str, record: bytes | None, call: Call) -> Recorded | None:
        if record is None:
            return None
        try:
            # The pool of a Select has up to 100,000 rows.
            return await self._thread.run(lambda: read_record(record), call.deadline, call.holder)
        except RecordUnreadable as fault:
            raise RequestInvalid(field=place, rule=str(fault)) from None

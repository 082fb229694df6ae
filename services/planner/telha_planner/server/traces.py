"""
`Traces`: a caller reads its own writes, from this planner's spool or from the trace writer, and erases them.

Rule 1: tenant and spaces come from the key; `trace_reader` says what it sees. Rule 2: a trace can always be read: of a
pool too large for one message the last rows are left out, and counted; so are those of an explanation. Rule 3:
a trace is erased at the trace writer first, which then drops it however often it is sent again.
"""

import asyncio
from collections.abc import Sequence

from telha.trace.v1 import traces_pb2

from telha_planner.caller import Caller
from telha_planner.core.errors import NotFound, RequestInvalid
from telha_planner.core.request import ALL_SPACES, INT64_MIN, OPEN_END
from telha_planner.core.value import check_name, check_range, check_share, parse_uuid

from .call import Call, Service
from .dispatch import PlanThread
from .earlier import coordinates
from .page_token import page_size
from .ports import Planning, Records, Replaying, TraceStore
from .trace_reader import TraceReader
from .translate_trace import shorten
from .wire import decode

DEFAULT_PAGE = 50
LARGEST_PAGE = 1000


class TracesSurface:
    """
    Serves `telha.trace.v1.Traces`.

    Args:
        max_message_bytes: Largest answer.
    """

    def __init__(
        self,
        planning: Planning,
        replaying: Replaying,
        thread: PlanThread,
        records: Records,
        writer: TraceStore,
        max_message_bytes: int,
    ) -> None:
        self._planning = planning
        self._replaying = replaying
        self._thread = thread
        self._records = records
        self._writer = writer
        self._reader = TraceReader(records, writer)
        self._max_message_bytes = max_message_bytes

    def service(self) -> Service:
        """The service for the listener."""
        return Service("telha.trace.v1.Traces", {"Get": self.get, "List": self.list, "Delete": self.delete})

    async def get(self, raw: bytes, call: Call) -> traces_pb2.GetResponse:
        """Read one trace."""
        caller = await self._caller(call, "read")
        found = await self._found(decode(traces_pb2.GetRequest, raw).trace_id, caller, call)
        found.erased_items.extend(await self._erased_items(found, caller, call))
        if found.ByteSize() > self._max_message_bytes:
            await asyncio.to_thread(shorten, found, self._max_message_bytes)
        return found

    async def list(self, raw: bytes, call: Call) -> traces_pb2.ListResponse:
        """List traces, newest first."""
        caller = await self._caller(call, "read")
        request = _checked(decode(traces_pb2.ListRequest, raw), caller)
        return await self._writer.browse(caller.tenant_name, caller.spaces or (), caller.key_id, request, call.deadline)

    async def delete(self, raw: bytes, call: Call) -> traces_pb2.DeleteResponse:
        """Erase one trace."""
        caller = await self._caller(call, "admin")
        trace_id = decode(traces_pb2.DeleteRequest, raw).trace_id
        found = await self._found(trace_id, caller, call)
        await self._writer.delete_trace(caller.tenant_name, trace_id, call.deadline)
        self._records.erase(caller.tenant_name, trace_id)
        return traces_pb2.DeleteResponse(trace=found.summary)

    async def _erased_items(self, found: traces_pb2.GetResponse, caller: Caller, call: Call) -> Sequence[int]:
        if not found.summary.spaces:
            return ()  # its spans are the caller's own
        try:
            spans = coordinates("trace_id", found)
        except RequestInvalid:
            return ()  # what names no spans has lost none
        return await self._thread.run(lambda: self._replaying.erased_of(caller, spans), call.deadline, call.holder)

    async def _found(self, trace_id: str, caller: Caller, call: Call) -> traces_pb2.GetResponse:
        parse_uuid("trace_id", trace_id)
        call.trace_id = trace_id
        found = await self._reader.find(caller, trace_id, call.deadline)
        if found is None:
            raise NotFound(resource="trace")
        return found

    async def _caller(self, call: Call, right: str) -> Caller:
        credential = call.need_credential()
        caller = await self._thread.run(lambda: self._planning.caller(credential), call.deadline, call.holder)
        call.tenant = caller.tenant_name
        caller.need(right)
        return caller


def _checked(request: traces_pb2.ListRequest, caller: Caller) -> traces_pb2.ListRequest:
    if request.HasField("kind"):
        check_name("kind", request.kind)
    if request.HasField("space"):
        check_name("space", request.space)
        if request.space == ALL_SPACES:
            raise RequestInvalid(field="space", rule="must name one space")
        caller.readable((request.space,))
    for name in ("from_us", "to_us"):
        if request.HasField(name):
            check_range(name, getattr(request, name), INT64_MIN, OPEN_END - 1)
    for name in ("min_used_share", "max_used_share"):
        if request.HasField(name):
            check_share(name, getattr(request, name))
    if request.HasField("max_used_share") and request.max_used_share < request.min_used_share:
        raise RequestInvalid(field="max_used_share", rule="must be at least min_used_share")
    request.page_size = page_size(request.page_size, DEFAULT_PAGE, LARGEST_PAGE)
    return request

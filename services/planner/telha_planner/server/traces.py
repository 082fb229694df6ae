"""
`Traces`: a caller reads its own writes, from this planner's spool or from the trace writer.

Rule 1: tenant and spaces come from the key. Rule 2: a key that is limited to spaces sees a trace only if every space
that the trace read is allowed; one that read no memory (Select) is seen by unlimited keys and by its own key.
Rule 3: absent and foreign get the same answer; one that
may be on its way from another planner is pending, not absent. Rule 4: a trace can always be read: of a pool too large
for one message the last rows are left out, and counted; so are those of an explanation.
"""

import asyncio

from telha.trace.v1 import traces_pb2

from telha_planner.caller import Caller
from telha_planner.core.errors import NotFound, RequestInvalid
from telha_planner.core.request import ALL_SPACES, INT64_MIN, OPEN_END, check_name, check_range, parse_uuid

from .call import Call, Service
from .dispatch import PlanThread
from .page_token import page_size
from .ports import Planning, Records, TraceStore
from .translate_trace import shorten, trace_message
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
        self, planning: Planning, thread: PlanThread, records: Records, writer: TraceStore, max_message_bytes: int
    ) -> None:
        self._planning = planning
        self._thread = thread
        self._records = records
        self._writer = writer
        self._max_message_bytes = max_message_bytes

    def service(self) -> Service:
        """The service for the listener."""
        return Service("telha.trace.v1.Traces", {"Get": self.get, "List": self.list})

    async def get(self, raw: bytes, call: Call) -> traces_pb2.GetResponse:
        """Read one trace."""
        caller = await self._reader(call)
        trace_id = decode(traces_pb2.GetRequest, raw).trace_id
        parse_uuid("trace_id", trace_id)
        call.trace_id = trace_id
        searched = self._records.spools()
        record = self._records.get(caller.tenant_name, trace_id)
        found: traces_pb2.GetResponse | None = None
        if record is not None:
            # The pool of a Select has up to 100,000 rows; other calls go on meanwhile.
            found = await asyncio.to_thread(trace_message, record)
        if found is None or not _may_see(caller, found):
            # A foreign trace is looked for as an absent one is, so that both end alike when the writer is away.
            found = await self._writer.fetch(
                caller.tenant_name, caller.spaces or (), caller.key_id, trace_id, searched, call.deadline
            )
        if found is None or not _may_see(caller, found):
            raise NotFound(resource="trace")
        if found.ByteSize() > self._max_message_bytes:
            await asyncio.to_thread(shorten, found, self._max_message_bytes)
        return found

    async def list(self, raw: bytes, call: Call) -> traces_pb2.ListResponse:
        """List traces, newest first."""
        caller = await self._reader(call)
        request = _checked(decode(traces_pb2.ListRequest, raw), caller)
        return await self._writer.browse(caller.tenant_name, caller.spaces or (), caller.key_id, request, call.deadline)

    async def _reader(self, call: Call) -> Caller:
        credential = call.need_credential()
        caller = await self._thread.run(lambda: self._planning.caller(credential), call.deadline, call.holder)
        call.tenant = caller.tenant_name
        caller.need("read")
        return caller


def _may_see(caller: Caller, found: traces_pb2.GetResponse) -> bool:
    if caller.spaces is None:
        return True
    if found.summary.spaces:
        return set(found.summary.spaces) <= set(caller.spaces)
    return found.record.fields["key_id"].string_value == caller.key_id


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
    request.page_size = page_size(request.page_size, DEFAULT_PAGE, LARGEST_PAGE)
    return request

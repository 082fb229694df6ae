"""
`Planner.Replay` and `Planner.Diff`.

A replay is admitted, counted against the key's quota and served in its turn as a plan is, since it costs as much. It
leaves no trace, and the counters of plans do not see it.
"""

from telha.planner.v1 import replay_pb2

from telha_planner.caller import Caller
from telha_planner.core.difference import difference
from telha_planner.core.errors import NotFound, RequestInvalid
from telha_planner.core.request import check_subjects
from telha_planner.core.value import parse_uuid
from telha_planner.trace.compared import pair
from telha_planner.trace.recorded import Recorded, RecordUnreadable

from .call import Call, Handler
from .dispatch import PlanThread
from .ports import Planning, Replaying
from .quota import Quota
from .trace_reader import TraceReader
from .translate_difference import compared_message, difference_message, recorded_request, replay_message
from .translate_subjects import read_subjects
from .wire import decode


class Replays:
    """
    Two methods of `telha.planner.v1.Planner`.

    Args:
        traces: Reads what was recorded.
        quota: Calls of each key, those of Plan and Select among them.
        max_message_bytes: Largest answer; an explanation takes what the rest leaves of it.
    """

    def __init__(
        self,
        planning: Planning,
        replaying: Replaying,
        thread: PlanThread,
        traces: TraceReader,
        quota: Quota,
        max_message_bytes: int,
    ) -> None:
        self._planning = planning
        self._replaying = replaying
        self._thread = thread
        self._traces = traces
        self._quota = quota
        self._max_message_bytes = max_message_bytes

    @property
    def methods(self) -> dict[str, Handler]:
        """The methods for the service."""
        return {"Replay": self.replay, "Diff": self.diff}

    async def replay(self, raw: bytes, call: Call) -> replay_pb2.ReplayResponse:
        """Make the plan of a trace anew and compare."""
        credential = call.admitted(self._quota)
        request = decode(replay_pb2.ReplayRequest, raw)
        parse_uuid("trace_id", request.trace_id)
        subjects, _ = read_subjects(request.why_not)
        check_subjects(subjects)
        caller = await self._caller(credential, call)
        recorded = await self._recorded("trace_id", request.trace_id, caller, call)
        call.trace_id = request.trace_id

        def work() -> replay_pb2.ReplayResponse:
            asked = recorded_request("trace_id", recorded)
            replayed = self._replaying.replay(credential, recorded, asked, explain=request.explain, why_not=subjects)
            return replay_message(recorded, replayed, self._max_message_bytes)

        return await self._thread.run(work, call.deadline, call.holder)

    async def diff(self, raw: bytes, call: Call) -> replay_pb2.DiffResponse:
        """Compare the plans of two traces."""
        credential = call.admitted(self._quota)
        request = decode(replay_pb2.DiffRequest, raw)
        parse_uuid("trace_id", request.trace_id)
        parse_uuid("other_trace_id", request.other_trace_id)
        caller = await self._caller(credential, call)
        before = await self._recorded("trace_id", request.trace_id, caller, call)
        after = await self._recorded("other_trace_id", request.other_trace_id, caller, call)

        def work() -> replay_pb2.DiffResponse:
            names = self._replaying.names(credential, [*before.held, *after.held])
            return replay_pb2.DiffResponse(
                before=compared_message(before),
                after=compared_message(after),
                difference=difference_message(difference(*pair(before, after)), names),
            )

        return await self._thread.run(work, call.deadline, call.holder)

    async def _caller(self, credential: str, call: Call) -> Caller:
        caller = await self._thread.run(lambda: self._planning.caller(credential), call.deadline, call.holder)
        call.tenant = caller.tenant_name
        caller.need("read")
        return caller

    async def _recorded(self, place: str, trace_id: str, caller: Caller, call: Call) -> Recorded:
        try:
            found = await self._traces.recorded(caller, trace_id, call.deadline)
        except RecordUnreadable as fault:
            raise RequestInvalid(field=place, rule=str(fault)) from None
        if found is None:
            raise NotFound(resource="trace")
        return found

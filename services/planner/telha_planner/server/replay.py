"""
`Planner.Replay` and `Planner.Diff`.

A replay is admitted, counted against the key's quota and served in its turn as a plan is, since it costs as much. It
leaves no trace, and the counters of plans do not see it.
"""

from telha.planner.v1 import replay_pb2

from telha_planner.core.difference import difference
from telha_planner.trace.compared import pair

from .call import Call, Handler
from .dispatch import PlanThread
from .ports import Replaying
from .quota import Quota
from .trace_lookup import TraceLookup
from .translate_difference import compared_message, difference_message, recorded_request, replay_message
from .wire import decode


class Replays:
    """
    Two methods of `telha.planner.v1.Planner`.

    Args:
        quota: Calls of each key, those of Plan and Select among them.
    """

    def __init__(self, replaying: Replaying, thread: PlanThread, lookup: TraceLookup, quota: Quota) -> None:
        self._replaying = replaying
        self._thread = thread
        self._lookup = lookup
        self._quota = quota

    @property
    def methods(self) -> dict[str, Handler]:
        """The methods for the service."""
        return {"Replay": self.replay, "Diff": self.diff}

    async def replay(self, raw: bytes, call: Call) -> replay_pb2.ReplayResponse:
        """Make the plan of a trace anew and compare."""
        credential = call.admitted(self._quota)
        request = decode(replay_pb2.ReplayRequest, raw)
        caller = await self._lookup.reader(call)
        recorded = await self._lookup.recorded("trace_id", request.trace_id, caller, call)
        call.trace_id = request.trace_id

        def work() -> replay_pb2.ReplayResponse:
            asked = recorded_request("trace_id", recorded)
            return replay_message(recorded, self._replaying.replay(credential, recorded, asked))

        return await self._thread.run(work, call.deadline, call.holder)

    async def diff(self, raw: bytes, call: Call) -> replay_pb2.DiffResponse:
        """Compare the plans of two traces."""
        call.admitted(self._quota)
        request = decode(replay_pb2.DiffRequest, raw)
        caller = await self._lookup.reader(call)
        before = await self._lookup.recorded("trace_id", request.trace_id, caller, call)
        after = await self._lookup.recorded("other_trace_id", request.other_trace_id, caller, call)
        found = difference(*pair(before, after))
        return replay_pb2.DiffResponse(
            before=compared_message(before),
            after=compared_message(after),
            difference=difference_message(found, {}),
        )

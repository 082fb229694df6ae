"""`Context.Build`: the plan as items for an agent."""

from telha.context.v1 import context_pb2

from telha_planner.answers import ContextAnswer
from telha_planner.core.errors import ContextDisabled

from .call import Call, Service
from .dispatch import PlanThread
from .planner import proven
from .ports import Planning, Records
from .quota import Quota
from .translate_context import build_response, read_build
from .wire import decode


class ContextSurface:
    """
    Serves `telha.context.v1.Context`.

    Args:
        quota: Calls of each key.
        enabled: `[context] enabled`; when false every call is refused as unimplemented.
    """

    INVALID_REASON = "CONTEXT_INVALID"

    def __init__(
        self, planning: Planning, thread: PlanThread, records: Records, quota: Quota, *, enabled: bool
    ) -> None:
        self._planning = planning
        self._thread = thread
        self._records = records
        self._quota = quota
        self._enabled = enabled

    def service(self) -> Service:
        """The service for the listener."""
        return Service("telha.context.v1.Context", {"Build": self.build}, invalid_reason=self.INVALID_REASON)

    async def build(self, raw: bytes, call: Call) -> context_pb2.BuildResponse:
        """Plan from memory and present the plan as items."""
        if not self._enabled:
            raise ContextDisabled
        credential = call.admitted(self._quota)

        def work() -> tuple[ContextAnswer, context_pb2.BuildResponse]:
            request, wanted, sent = read_build(decode(context_pb2.BuildRequest, raw))
            answer = self._planning.context(credential, request, sent)
            return answer, build_response(answer, wanted)

        answer, response = await self._thread.run(work, call.deadline)
        await proven(self._records, answer, call)
        return response

"""`Context.Build`: the plan as items for an agent."""

import time

from telha.context.v1 import context_pb2

from telha_planner.answers import ContextAnswer
from telha_planner.core.errors import ContextDisabled
from telha_planner.models.embedders.questions import QuestionVector

from .call import Call, Service
from .earlier import Earlier, Given, excluding
from .meters import Meters
from .planner import proven
from .ports import Planning, Records
from .questions import QuestionThreads
from .quota import Quota
from .trace_reader import TraceReader
from .translate_context import PROMPT, build_response, read_build
from .translate_explanation import explain
from .translate_suggestion import suggest
from .wire import decode


class ContextSurface:
    """
    Serves `telha.context.v1.Context`.

    Args:
        quota: Calls of each key.
        traces: Read for what a request excludes.
        meters: Counts what was answered, by tenant (requirement C9).
        max_message_bytes: Largest answer; an explanation takes what the items leave of it.
        enabled: `[context] enabled`; when false every call is refused as unimplemented.
    """

    INVALID_REASON = "CONTEXT_INVALID"

    def __init__(
        self,
        planning: Planning,
        threads: QuestionThreads,
        records: Records,
        quota: Quota,
        meters: Meters,
        traces: TraceReader,
        max_message_bytes: int,
        *,
        enabled: bool,
    ) -> None:
        self._planning = planning
        self._earlier = Earlier(threads, traces)
        self._records = records
        self._quota = quota
        self._meters = meters
        self._max_message_bytes = max_message_bytes
        self._enabled = enabled

    def service(self) -> Service:
        """The service for the listener."""
        return Service("telha.context.v1.Context", {"Build": self.build}, invalid_reason=self.INVALID_REASON)

    async def build(self, raw: bytes, call: Call) -> context_pb2.BuildResponse:
        """Plan from memory and present the plan as items."""
        if not self._enabled:
            raise ContextDisabled
        credential = call.admitted(self._quota)

        def work(
            question: QuestionVector | None, given: Given | None
        ) -> tuple[ContextAnswer, float, context_pb2.BuildResponse]:
            message = decode(context_pb2.BuildRequest, raw)
            request, wanted, sent = read_build(message)
            request = excluding(request, message.exclude, given, self._planning, credential)
            started = time.perf_counter()
            answer = self._planning.context(credential, request, sent, question, prompt=PROMPT in wanted)
            planner_ms = (time.perf_counter() - started) * 1000
            response = suggest(build_response(answer, wanted), answer)
            return answer, planner_ms, explain(response, answer, self._max_message_bytes)

        answer, planner_ms, response = await self._earlier.run(work, call)
        kept = await proven(self._records, answer, call, self._meters)
        if not kept:
            response.trace_id = ""
        self._meters.context_answered(answer, planner_ms, traced=kept)
        return response

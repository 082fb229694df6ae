"""`Planner.Plan` and `Planner.Select`; `Planner.Replay` and `Planner.Diff` stand in replay.py."""

import time
from collections.abc import Callable
from typing import TypeVar

from telha.planner.v1 import planner_pb2

from telha_planner.answers import Answer
from telha_planner.core.errors import InsufficientEvidence
from telha_planner.core.plan import RecallStats
from telha_planner.models.embedders.questions import QuestionVector

from .call import Call, Service
from .earlier import Earlier, Given, excluding
from .meters import Meters
from .ports import Planning, Records
from .questions import QuestionThreads
from .quota import Quota
from .replay import Replays
from .trace_reader import TraceReader
from .translate_explanation import explain
from .translate_plan import plan_message, read_plan, read_select, window_message
from .translate_suggestion import suggest
from .wire import decode

R = TypeVar("R", planner_pb2.PlanResponse, planner_pb2.SelectResponse)


async def proven(records: Records, answer: Answer, call: Call, meters: Meters) -> bool:
    """
    Make the record of *answer* durable; only then may the answer, or its refusal, leave. It is counted.

    Returns:
        Whether there is a trace. If not, the answer must not name one.

    Raises:
        TraceBacklogFull, Unavailable: The record cannot be kept.
        InsufficientEvidence: The pool was empty; its record is kept all the same.
    """
    call.tenant = answer.tenant
    meters.planned(call.method, answer)
    began = time.monotonic()
    kept = answer.record is not None and await records.append(answer.record, answer.trace_id)
    meters.stage("trace", time.monotonic() - began)
    call.trace_id = answer.trace_id if kept else ""
    if answer.insufficient:
        recall = answer.plan.stats.recall or RecallStats()
        raise InsufficientEvidence(
            trace_id=call.trace_id,
            below_floor=recall.below_floor,
            min_similarity=recall.min_similarity,
            excluded=recall.excluded,
        )
    return kept


class PlannerSurface:
    """
    Serves `telha.planner.v1.Planner`.

    Args:
        quota: Calls of each key, those of *replays* among them.
        replays: The methods about traces.
        traces: Read for what a request excludes.
        max_message_bytes: Largest answer; an explanation takes what the plan leaves of it.
    """

    def __init__(
        self,
        planning: Planning,
        threads: QuestionThreads,
        records: Records,
        quota: Quota,
        meters: Meters,
        replays: Replays,
        traces: TraceReader,
        max_message_bytes: int,
    ) -> None:
        self._replays = replays
        self._max_message_bytes = max_message_bytes
        self._meters = meters
        self._planning = planning
        self._earlier = Earlier(threads, traces)
        self._records = records
        self._quota = quota

    def service(self) -> Service:
        """The service for the listener."""
        return Service("telha.planner.v1.Planner", {"Plan": self.plan, "Select": self.select, **self._replays.methods})

    async def plan(self, raw: bytes, call: Call) -> planner_pb2.PlanResponse:
        """Recall, weigh and select from memory."""
        credential = call.admitted(self._quota)

        def work(question: QuestionVector | None, given: Given | None) -> tuple[Answer, planner_pb2.PlanResponse]:
            message = decode(planner_pb2.PlanRequest, raw)
            request, sent = read_plan(message)
            request = excluding(request, message.exclude, given, self._planning, credential)
            answer = self._planning.plan(credential, request, sent, question)
            plan = plan_message(answer.plan, answer.trace_id)
            response = planner_pb2.PlanResponse(plan=plan, window=window_message(answer.window))
            return answer, explain(suggest(response, answer), answer, self._max_message_bytes)

        return await self._answered(work, call)

    async def select(self, raw: bytes, call: Call) -> planner_pb2.SelectResponse:
        """Select from the caller's pool."""
        credential = call.admitted(self._quota)

        def work(_: QuestionVector | None, __: Given | None) -> tuple[Answer, planner_pb2.SelectResponse]:
            request, sent = read_select(decode(planner_pb2.SelectRequest, raw))
            answer = self._planning.select(credential, request, sent)
            response = planner_pb2.SelectResponse(plan=plan_message(answer.plan, answer.trace_id))
            return answer, explain(suggest(response, answer), answer, self._max_message_bytes)

        return await self._answered(work, call)

    async def _answered(self, work: Callable[[QuestionVector | None, Given | None], tuple[Answer, R]], call: Call) -> R:
        answer, response = await self._earlier.run(work, call)
        if not await proven(self._records, answer, call, self._meters):
            response.plan.trace_id = ""
        return response

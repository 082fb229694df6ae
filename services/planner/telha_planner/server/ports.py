"""What the servicers need from below, as small as they need it; bootstrap hands in the real parts."""

from collections.abc import Mapping
from typing import Any, Protocol

from telha_planner.answers import Answer, ContextAnswer
from telha_planner.caller import Caller
from telha_planner.core.request import PlanRequest, SelectRequest


class Planning(Protocol):
    """The pipeline; every method runs on the plan thread and is given the bearer token as sent."""

    def caller(self, credential: str) -> Caller:
        """Who is calling; raises `Unauthenticated`."""

    def plan(self, credential: str, request: PlanRequest, sent: Mapping[str, Any]) -> Answer:
        """Plan from memory; *sent* is the request as sent, for the trace."""

    def context(self, credential: str, request: PlanRequest, sent: Mapping[str, Any]) -> ContextAnswer:
        """Plan from memory under the limits of Context, as items."""

    def select(self, credential: str, request: SelectRequest, sent: Mapping[str, Any]) -> Answer:
        """Select from the caller's own pool."""


class Emitter(Protocol):
    """Where trace records become durable."""

    async def emit(self, record: bytes, trace_id: str) -> None:
        """Return when *record* survives a crash; raises `TraceBacklogFull`."""

"""Records of calls, made as a servicer makes them, and replays of them, in process."""

from typing import Any

import msgpack
from google.protobuf.message import Message
from planner_parts import Parts
from telha.context.v1 import context_pb2
from telha.planner.v1 import planner_pb2, replay_pb2
from telha_planner.models.embedders.questions import embedded_first
from telha_planner.replay import Replayed, Replaying
from telha_planner.server.translate_context import read_build
from telha_planner.server.translate_difference import recorded_request, replay_message
from telha_planner.server.translate_plan import read_plan, read_select
from telha_planner.trace.recorded import read_record

OUTCOMES = {number: name.rpartition("_")[2].lower() for name, number in replay_pb2.ReplayOutcome.items()}


def recorded(parts: Parts, message: Message, *, tenant: str = "acme", spaces: tuple[str, ...] | None = None) -> bytes:
    """The record that a call with *message* leaves, a message of Plan, Context or Select."""
    key = parts.key(tenant, spaces)
    if isinstance(message, planner_pb2.SelectRequest):
        answer = parts.planning.select(key, *read_select(message))
    elif isinstance(message, context_pb2.BuildRequest):
        request, _, sent = read_build(message)
        answer = embedded_first(parts.questions, lambda vector: parts.planning.context(key, request, sent, vector))
    else:
        request, sent = read_plan(message)
        answer = embedded_first(parts.questions, lambda vector: parts.planning.plan(key, request, sent, vector))
    return answer.record


def plan_of(parts: Parts, question: str, *, tenant: str = "acme", key_spaces=None, **fields: Any) -> bytes:
    """The record of a Plan."""
    message = planner_pb2.PlanRequest(question=question, allow_ungrounded=True, **fields)
    return recorded(parts, message, tenant=tenant, spaces=key_spaces)


def replayed(parts: Parts, record: bytes, *, tenant: str = "acme", spaces: tuple[str, ...] | None = None) -> Replayed:
    """The plan of *record* made anew."""
    planning = parts.planning
    replaying = Replaying(planning, parts.store, planning._config, planning._tokenizers)
    found = read_record(record)
    return replaying.replay(parts.key(tenant, spaces), found, recorded_request("trace_id", found))


def outcome(parts: Parts, record: bytes, **scope: Any) -> str:
    """The outcome of its replay, as the wire says it; a changed one names at least one cause."""
    again = replayed(parts, record, **scope)
    message = replay_message(read_record(record), again, 4 << 20)
    assert message.difference.identical == (message.outcome == replay_pb2.REPLAY_OUTCOME_IDENTICAL)
    assert message.difference.identical or message.difference.changes
    assert message.difference.because
    return OUTCOMES[message.outcome]


def causes(again: Replayed) -> dict[str, tuple[str, str]]:
    """The inputs that differ, by name, with the values before and after."""
    return {change.input.name: (change.before, change.after) for change in again.difference.changes}


def changed(record: bytes, **fields: Any) -> bytes:
    """*record* with other fields; `...` leaves one out."""
    content: dict[str, Any] = msgpack.unpackb(record) | fields
    return msgpack.packb({name: value for name, value in content.items() if value is not ...})

"""
A planner that runs elsewhere, as the evaluation reaches it: a plain client of the contract, one call at a time.

It needs a key with the rights `read` and `write`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import grpc
from telha.memory.v1 import memory_pb2, memory_pb2_grpc
from telha.planner.v1 import planner_pb2, planner_pb2_grpc

from telha_planner.core.model import SpanRef
from telha_planner.core.request import PlanRequest
from telha_planner.core.value import format_uuid, parse_uuid
from telha_planner.ingest.document import DocumentInput

from .translate_plan import window_message

_TIMEOUT_S = 120.0
_MAX_ANSWER_BYTES = 64 * 1024 * 1024


class RemoteRefused(Exception):
    """The planner could not be reached or refused a call; the message is one sentence."""


class RemoteSpan(NamedTuple):
    """A span of a plan that came over the wire."""

    span: SpanRef
    text: str
    tokens: int
    weight: float


class RemotePlan(NamedTuple):
    """A plan that came over the wire, as far as the evaluation looks at it."""

    spans: tuple[RemoteSpan, ...]
    budget: int
    used: int
    plan_hash: str
    plan_model: str
    score_model: str


class RemotePlanner:
    """
    A client of `Planner` and `Memory`.

    Args:
        address: `host:port`, without TLS.
        key: The API key.
    """

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        options = (("grpc.max_receive_message_length", _MAX_ANSWER_BYTES), ("grpc.enable_http_proxy", 0))
        self._channel = grpc.insecure_channel(address, options=options)
        self._planner = planner_pb2_grpc.PlannerStub(self._channel)
        self._memory = memory_pb2_grpc.MemoryStub(self._channel)
        self._metadata = (("authorization", f"Bearer {key}"),)

    def ingest(self, documents: Sequence[DocumentInput]) -> None:
        """
        Write *documents* in one call.

        Raises:
            RemoteRefused: See the class.
        """
        messages = [
            memory_pb2.Document(
                source_id=None if document.source_id is None else format_uuid(document.source_id),
                name=document.name,
                uri=document.uri,
                space=document.space,
                media_type=document.media_type or "",
                content=document.content,
                valid_from_us=document.valid_from,
            )
            for document in documents
        ]
        self._call(self._memory.Ingest, memory_pb2.IngestRequest(documents=messages))

    def plan(self, request: PlanRequest) -> RemotePlan:
        """
        The plan for *request*, of which question, window, budget, share and spaces are sent.

        Raises:
            RemoteRefused: See the class.
        """
        message = planner_pb2.PlanRequest(
            question=request.question,
            window=window_message(request.window),
            budget={"max_tokens": request.max_tokens},
            max_frac_per_source=request.max_frac_per_source,
            spaces=request.spaces,
            allow_ungrounded=request.allow_ungrounded,
        )
        plan = self._call(self._planner.Plan, message).plan
        spans = tuple(
            RemoteSpan(
                SpanRef(
                    parse_uuid("source_id", planned.span.source_id),
                    planned.span.source_version_tx,
                    planned.span.start,
                    planned.span.end,
                ),
                planned.text,
                planned.tokens,
                planned.weight,
            )
            for planned in plan.spans
        )
        return RemotePlan(spans, plan.budget, plan.used, plan.plan_hash, plan.plan_model, plan.stats.score_model)

    def erase(self, source_id: bytes) -> None:
        """
        Erase a source.

        Raises:
            RemoteRefused: See the class.
        """
        self._call(self._memory.EraseSource, memory_pb2.EraseSourceRequest(source_id=format_uuid(source_id)))

    def close(self) -> None:
        """Hang up."""
        self._channel.close()

    def _call(self, method: Callable[..., Any], message: object) -> Any:  # noqa: ANN401 - one response type per method
        try:
            return method(message, metadata=self._metadata, timeout=_TIMEOUT_S)
        except grpc.RpcError as failure:
            code, details = failure.code().name, failure.details()
            raise RemoteRefused(f"the planner at {self._address} answered {code}: {details}") from None

"""
Failures as the caller of REST sees them: RFC 9457 problem documents, and the one table from gRPC codes to statuses.

Rule 1: what the planner says in `ErrorInfo`, `BadRequest` and `RetryInfo` decides; its message text is only shown.
Rule 2: a failure without those details comes from the transport; its own words may name hosts and never go out.
Rule 3: no problem carries a stack trace.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

import grpc
import grpc.aio
import msgspec
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from telha_gateway.faults import RequestFault
from telha_gateway.field_paths import in_rest_words, pointer_of

CHALLENGE = 'Bearer realm="telha"'
MEDIA_TYPE = "application/problem+json"
TYPE_BASE = "https://telha.dev/errors#"
DETAILS_KEY = "grpc-status-details-bin"
DOMAIN = "telha.dev"

TITLES: dict[str, str] = {
    "INVALID_REQUEST": "The request breaks a rule",
    "CONTEXT_INVALID": "The context request breaks a rule",
    "CONTEXT_DISABLED": "The context service is disabled",
    "UNAUTHENTICATED": "A valid API key is required",
    "PERMISSION_DENIED": "The key lacks a right",
    "NOT_FOUND": "Not found",
    "METHOD_NOT_ALLOWED": "The path does not take this method",
    "NOT_ACCEPTABLE": "The caller accepts no JSON",
    "INSUFFICIENT_EVIDENCE": "No evidence was found",
    "VECTOR_LEG_UNAVAILABLE": "The semantic leg cannot run",
    "IDEMPOTENCY_KEY_REUSED": "The idempotency key belongs to another request",
    "OVERLOADED": "The planner is busy",
    "RATE_LIMITED": "The key has used up its rate",
    "MESSAGE_TOO_LARGE": "Too large",
    "DOCUMENT_TOO_LARGE": "The document is too large",
    "UNSUPPORTED_MEDIA_TYPE": "The body is of a kind that is not read",
    "REQUEST_TIMEOUT": "The body did not arrive in time",
    "DEADLINE_EXCEEDED": "Too late",
    "TRACE_BACKLOG_FULL": "The trace spool is full",
    "TRACE_PENDING": "The trace cannot be read yet",
    "DRAINING": "The planner is stopping",
    "UNAVAILABLE": "Not available",
    "INTERNAL": "Internal error",
}
"""Every `code` that this version sends, with its title; callers must accept codes that they do not know."""

_STATUSES: dict[grpc.StatusCode, int] = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.OUT_OF_RANGE: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.FAILED_PRECONDITION: 422,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.CANCELLED: 503,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
}
_BY_REASON: dict[str, int] = {"MESSAGE_TOO_LARGE": 413, "DOCUMENT_TOO_LARGE": 413, "CONTEXT_DISABLED": 404}
"""Reasons whose status differs from that of their gRPC code."""

_TRANSPORT: dict[grpc.StatusCode, tuple[str, str, int | None]] = {
    grpc.StatusCode.UNAVAILABLE: ("UNAVAILABLE", "the planner is not available; try again", 500),
    # A planner that stops cancels what has reached its transport and nobody yet; that a caller left is found elsewhere.
    grpc.StatusCode.CANCELLED: ("UNAVAILABLE", "the planner is not available; try again", 500),
    grpc.StatusCode.DEADLINE_EXCEEDED: ("DEADLINE_EXCEEDED", "the deadline passed", None),
    grpc.StatusCode.RESOURCE_EXHAUSTED: ("MESSAGE_TOO_LARGE", "the message is larger than the planner accepts", None),
}
"""Failures that the transport reports itself: code, words and milliseconds to wait."""


class Problem(msgspec.Struct, omit_defaults=True, rename="camel", kw_only=True):
    """
    A failure, as RFC 9457 lays it out.

    `code` is stable and meant for programs, `detail` for people. `pointer` is the RFC 6901 place of the fault in the
    request body (for parameters: `/` and the name). `retryAfterMs` is there only where the same request may succeed.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    pointer: str | None = None
    trace_id: str | None = None
    request_id: str
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """
    What a problem document says, before it is written.

    Attributes:
        headers: Response headers beside the document.
    """

    status: int
    code: str
    detail: str
    pointer: str | None = None
    trace_id: str | None = None
    retry_after_ms: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def document(self, request_id: str) -> bytes:
        """The problem document, as JSON."""
        problem = Problem(
            type=TYPE_BASE + self.code,
            title=TITLES.get(self.code, "Failed"),
            status=self.status,
            detail=self.detail,
            code=self.code,
            pointer=self.pointer,
            trace_id=self.trace_id,
            request_id=request_id,
            retry_after_ms=self.retry_after_ms,
        )
        return msgspec.json.encode(problem)

    def all_headers(self) -> dict[str, str]:
        """Headers that belong to the status, and *headers*."""
        found = dict(self.headers)
        if self.status == 401:
            found["www-authenticate"] = CHALLENGE
        if self.retry_after_ms is not None:
            found["retry-after"] = str(-(-self.retry_after_ms // 1000))
        return found


class Refused(Exception):
    """Ends a request with *failure*."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.detail)


def of_fault(fault: RequestFault, code: str) -> Failure:
    """The failure for a fault that the gateway found."""
    return Failure(400, code, str(fault), pointer=fault.pointer)


def internal() -> Failure:
    """Our fault; the request id finds the cause in the log."""
    return Failure(500, "INTERNAL", "internal error; the request id finds the cause in the log")


def is_draining(error: grpc.aio.AioRpcError) -> bool:
    """Whether a planner refused the call because it is about to end."""
    info = error_details_pb2.ErrorInfo()
    found = any(any_.Unpack(info) for any_ in _details(error).details)
    return found and (info.domain, info.reason) == (DOMAIN, "DRAINING")


def of_rpc(error: grpc.aio.AioRpcError, renames: Mapping[str, str]) -> Failure:
    """The failure for what the planner, or the way to it, answered."""
    details = _details(error)
    info = error_details_pb2.ErrorInfo()
    if not any(any_.Unpack(info) for any_ in details.details) or info.domain != DOMAIN:
        return _of_transport(error.code())
    violations, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    for any_ in details.details:
        any_.Unpack(violations)
        any_.Unpack(retry)
    pointer, detail = None, details.message
    if violations.field_violations:
        violation = violations.field_violations[0]
        pointer = pointer_of(violation.field, renames)
        detail = f"{pointer or 'the body'} {in_rest_words(violation.description)}"
    return Failure(
        status=_BY_REASON.get(info.reason, _STATUSES.get(error.code(), 500)),
        code=info.reason,
        detail=detail,
        pointer=pointer,
        trace_id=info.metadata.get("trace_id") or None,
        retry_after_ms=retry.retry_delay.ToMilliseconds() if retry.HasField("retry_delay") else None,
    )


def _details(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    packed = dict(cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())).get(DETAILS_KEY, b"")
    try:
        return status_pb2.Status.FromString(packed if isinstance(packed, bytes) else b"")
    except DecodeError:
        return status_pb2.Status()


def _of_transport(code: grpc.StatusCode) -> Failure:
    if code not in _TRANSPORT:
        return internal()
    reason, words, wait = _TRANSPORT[code]
    return Failure(_BY_REASON.get(reason, _STATUSES[code]), reason, words, retry_after_ms=wait)

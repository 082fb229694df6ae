"""
Failures as Python exceptions.

    TelhaError
    ├── InvalidRequest         a field breaks a rule
    ├── Unauthenticated        no key that holds
    ├── PermissionDenied       the key lacks a right or a space
    ├── NotFound               absent, or not yours
    ├── IdempotencyKeyReused   the idempotency key belongs to another request
    ├── InsufficientEvidence   nothing bears on this request; has a trace
    ├── DeadlineExceeded       too late
    ├── MessageTooLarge        the request or the answer is larger than the server accepts
    └── Unavailable            busy or away; `retry_after` says when to try again

Reasons that this version does not know arrive as the class of their code, or as `TelhaError` itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2

_DETAILS_KEY = "grpc-status-details-bin"
_DOMAIN = "telha.dev"
STOPPED_AGAIN_S = 0.1
"""When a read may be repeated that a server's transport ended without a word because it stopped."""
_CANCELLED_HERE = frozenset({"Channel closed!", "Locally cancelled by application!"})
"""How gRPC for Python tells a cancellation by this side from one by the server's."""


class TelhaError(Exception):
    """
    A call failed.

    Attributes:
        code: Name of the gRPC code, such as `INVALID_ARGUMENT`.
        reason: Stable reason, such as `CONTEXT_INVALID`; empty when the failure came from the transport.
        message: A sentence for people.
        field: Path of the field at fault, or None.
        rule: What the field must be, or None.
        retry_after: Seconds after which the same call may succeed, or None where repeating cannot help.
        metadata: Every variable part of the message.
        request_id: Finds the call in the server's log.
    """

    def __init__(
        self,
        *,
        code: str,
        message: str,
        reason: str = "",
        field: str | None = None,
        rule: str | None = None,
        retry_after: float | None = None,
        metadata: Mapping[str, str] | None = None,
        request_id: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.field = field
        self.rule = rule
        self.retry_after = retry_after
        self.metadata = dict(metadata or {})
        self.request_id = request_id

    def __str__(self) -> str:
        return f"{self.reason or self.code}: {self.message}"


class InvalidRequest(TelhaError):
    """`field` breaks `rule`."""


class Unauthenticated(TelhaError):
    """No key, or one that is malformed, unknown or revoked."""


class PermissionDenied(TelhaError):
    """The key lacks a right or a space."""


class NotFound(TelhaError):
    """What was asked for does not exist, or is somebody else's."""


class IdempotencyKeyReused(TelhaError):
    """The idempotency key was sent before, with another request."""


class InsufficientEvidence(TelhaError):
    """Memory holds no span for this request."""

    @property
    def trace_id(self) -> str:
        """The trace that says what was tried."""
        return self.metadata.get("trace_id", "")

    @property
    def below_floor(self) -> int:
        """How many nodes were found and left out because their evidence is below `min_similarity`."""
        return int(self.metadata.get("below_floor", "0"))

    @property
    def min_similarity(self) -> float:
        """The floor that was applied; 0 is none."""
        return float(self.metadata.get("min_similarity", "0"))

    @property
    def excluded(self) -> int:
        """How many spans were found and left out because the calls that `exclude` named gave them."""
        return int(self.metadata.get("excluded", "0"))


class DeadlineExceeded(TelhaError):
    """The deadline passed."""


class MessageTooLarge(TelhaError):
    """The request or the answer is larger than the server accepts."""


class Unavailable(TelhaError):
    """The planner, or a part of it, is busy or away."""


_BY_REASON: dict[str, type[TelhaError]] = {
    "DOCUMENT_TOO_LARGE": MessageTooLarge,
    "IDEMPOTENCY_KEY_REUSED": IdempotencyKeyReused,
    "INSUFFICIENT_EVIDENCE": InsufficientEvidence,
    "MESSAGE_TOO_LARGE": MessageTooLarge,
    "OVERLOADED": Unavailable,
    "RATE_LIMITED": Unavailable,
}
_BY_CODE: dict[str, type[TelhaError]] = {
    "INVALID_ARGUMENT": InvalidRequest,
    "UNAUTHENTICATED": Unauthenticated,
    "PERMISSION_DENIED": PermissionDenied,
    "NOT_FOUND": NotFound,
    "DEADLINE_EXCEEDED": DeadlineExceeded,
    "UNAVAILABLE": Unavailable,
}


def invalid(field: str, rule: str) -> InvalidRequest:
    """A refusal that this side makes, because the request could not even be written."""
    return InvalidRequest(
        code="INVALID_ARGUMENT",
        reason="INVALID_REQUEST",
        message=f"{field} {rule}",
        field=field,
        rule=rule,
        metadata={"field": field, "rule": rule},
    )


def from_rpc(failure: grpc.RpcError) -> TelhaError:
    """What a failed call means."""
    call: Any = failure  # every RpcError of a call is a grpc.Call too, which the stubs do not say
    code: str = call.code().name
    trailers: dict[str, str | bytes] = dict(call.trailing_metadata() or ())
    details = _details(trailers.get(_DETAILS_KEY))
    info = details.info if details.info.domain == _DOMAIN else error_details_pb2.ErrorInfo()
    violation = next(iter(details.bad.field_violations), None)
    request_id = trailers.get("x-request-id", "")
    if code == "RESOURCE_EXHAUSTED" and not info.reason:
        # The transport itself refused, in words of its own: the server takes no message near this size.
        return MessageTooLarge(
            code=code, reason="MESSAGE_TOO_LARGE", message="the message is larger than the server accepts"
        )
    if code == "CANCELLED" and not info.reason and call.details() not in _CANCELLED_HERE:
        # The server's transport ends so what it has not handed on when it stops.
        return Unavailable(code=code, reason="", message="the server stopped", retry_after=STOPPED_AGAIN_S)
    return _BY_REASON.get(info.reason, _BY_CODE.get(code, TelhaError))(
        code=code,
        reason=info.reason,
        message=details.message or call.details() or code,
        field=violation.field if violation else None,
        rule=violation.description if violation else None,
        retry_after=details.retry_after,
        metadata=info.metadata,
        request_id=request_id if isinstance(request_id, str) else "",
    )


@dataclass(slots=True)
class _Details:
    info: error_details_pb2.ErrorInfo
    bad: error_details_pb2.BadRequest
    retry_after: float | None
    message: str = ""


def _details(raw: str | bytes | None) -> _Details:
    found = _Details(error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), None)
    if not isinstance(raw, bytes):
        return found
    retry = error_details_pb2.RetryInfo()
    status = status_pb2.Status.FromString(raw)
    found.message = status.message  # the words as they are; the header has them in ASCII, with escapes
    for detail in status.details:
        if detail.Unpack(retry):
            found.retry_after = retry.retry_delay.ToTimedelta().total_seconds()
        elif not detail.Unpack(found.info):
            detail.Unpack(found.bad)
    return found

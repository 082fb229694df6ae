"""
What a failure looks like on the wire: the one table from kinds to gRPC codes.

Every refusal is a `google.rpc.Status` with exactly one `ErrorInfo` (domain `telha.dev`), a `BadRequest` that names
field and rule where a field is at fault, and a `RetryInfo` only where trying again helps. docs/errors.md lists them.
"""

import grpc
from google.protobuf import any_pb2
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from telha_planner.core.errors import Kind, TelhaError

DOMAIN = "telha.dev"
DETAILS_KEY = "grpc-status-details-bin"
MAX_MESSAGE_CHARS = 1024
"""Longest status message; clients limit their headers to about 8 kB, and the details carry the fields again."""

CODES: dict[Kind, grpc.StatusCode] = {
    Kind.INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    Kind.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    Kind.FORBIDDEN: grpc.StatusCode.PERMISSION_DENIED,
    Kind.ABSENT: grpc.StatusCode.NOT_FOUND,
    Kind.PRECONDITION: grpc.StatusCode.FAILED_PRECONDITION,
    Kind.EXHAUSTED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Kind.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Kind.LATE: grpc.StatusCode.DEADLINE_EXCEEDED,
    Kind.UNIMPLEMENTED: grpc.StatusCode.UNIMPLEMENTED,
    Kind.BUG: grpc.StatusCode.INTERNAL,
}


def code_of(error: TelhaError) -> grpc.StatusCode:
    """The gRPC code of *error*."""
    return CODES[error.kind]


def message_of(error: TelhaError) -> str:
    """The message of *error* in printable ASCII: the one thing that every client's header parser accepts."""
    escaped = "".join(c if " " <= c <= "~" else c.encode("unicode_escape").decode() for c in str(error))
    return escaped[:MAX_MESSAGE_CHARS]


def _in_words(error: TelhaError) -> str:
    """The message of *error* as it is, as long as a header may carry it: a protobuf field needs no escapes."""
    words = str(error).encode("utf-8", "backslashreplace")[:MAX_MESSAGE_CHARS]
    return words.decode("utf-8", "ignore")


def details_of(error: TelhaError, reason: str) -> bytes:
    """The serialised `google.rpc.Status` of *error*, as it travels in `grpc-status-details-bin`."""
    details: list[Message] = [error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=error.fields)]
    if "field" in error.fields and "rule" in error.fields:
        field, rule = error.fields["field"], error.fields["rule"]
        violation = error_details_pb2.BadRequest.FieldViolation(field=field, description=rule)
        details.append(error_details_pb2.BadRequest(field_violations=[violation]))
    if error.retry_after_ms is not None:
        delay = Duration()
        delay.FromMilliseconds(error.retry_after_ms)
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    packed = []
    for detail in details:
        packed.append(any_pb2.Any())
        packed[-1].Pack(detail)
    number: int = code_of(error).value[0]
    status = status_pb2.Status(code=number, message=_in_words(error), details=packed)
    return bytes(status.SerializeToString())

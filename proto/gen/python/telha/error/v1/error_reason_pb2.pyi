from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class ErrorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_REASON_UNSPECIFIED: _ClassVar[ErrorReason]
    ERROR_REASON_INVALID_REQUEST: _ClassVar[ErrorReason]
    ERROR_REASON_CONTEXT_INVALID: _ClassVar[ErrorReason]
    ERROR_REASON_CONTEXT_DISABLED: _ClassVar[ErrorReason]
    ERROR_REASON_UNAUTHENTICATED: _ClassVar[ErrorReason]
    ERROR_REASON_PERMISSION_DENIED: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_INSUFFICIENT_EVIDENCE: _ClassVar[ErrorReason]
    ERROR_REASON_VECTOR_LEG_UNAVAILABLE: _ClassVar[ErrorReason]
    ERROR_REASON_OVERLOADED: _ClassVar[ErrorReason]
    ERROR_REASON_MESSAGE_TOO_LARGE: _ClassVar[ErrorReason]
    ERROR_REASON_DEADLINE_EXCEEDED: _ClassVar[ErrorReason]
    ERROR_REASON_TRACE_BACKLOG_FULL: _ClassVar[ErrorReason]
    ERROR_REASON_TRACE_PENDING: _ClassVar[ErrorReason]
    ERROR_REASON_UNAVAILABLE: _ClassVar[ErrorReason]
    ERROR_REASON_INTERNAL: _ClassVar[ErrorReason]
    ERROR_REASON_RATE_LIMITED: _ClassVar[ErrorReason]
    ERROR_REASON_IDEMPOTENCY_KEY_REUSED: _ClassVar[ErrorReason]
    ERROR_REASON_DOCUMENT_TOO_LARGE: _ClassVar[ErrorReason]
    ERROR_REASON_DRAINING: _ClassVar[ErrorReason]
ERROR_REASON_UNSPECIFIED: ErrorReason
ERROR_REASON_INVALID_REQUEST: ErrorReason
ERROR_REASON_CONTEXT_INVALID: ErrorReason
ERROR_REASON_CONTEXT_DISABLED: ErrorReason
ERROR_REASON_UNAUTHENTICATED: ErrorReason
ERROR_REASON_PERMISSION_DENIED: ErrorReason
ERROR_REASON_NOT_FOUND: ErrorReason
ERROR_REASON_INSUFFICIENT_EVIDENCE: ErrorReason
ERROR_REASON_VECTOR_LEG_UNAVAILABLE: ErrorReason
ERROR_REASON_OVERLOADED: ErrorReason
ERROR_REASON_MESSAGE_TOO_LARGE: ErrorReason
ERROR_REASON_DEADLINE_EXCEEDED: ErrorReason
ERROR_REASON_TRACE_BACKLOG_FULL: ErrorReason
ERROR_REASON_TRACE_PENDING: ErrorReason
ERROR_REASON_UNAVAILABLE: ErrorReason
ERROR_REASON_INTERNAL: ErrorReason
ERROR_REASON_RATE_LIMITED: ErrorReason
ERROR_REASON_IDEMPOTENCY_KEY_REUSED: ErrorReason
ERROR_REASON_DOCUMENT_TOO_LARGE: ErrorReason
ERROR_REASON_DRAINING: ErrorReason

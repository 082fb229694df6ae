"""
Every way in which a call can fail, as the caller sees it.

    TelhaError
    ├── RequestInvalid        the caller broke a rule; names field and rule
    ├── Unauthenticated       no key, or none that holds
    ├── PermissionDenied      the key lacks a right or a space
    ├── NotFound              absent, or not the caller's: the answer is the same
    ├── InsufficientEvidence  recall found nothing at all, or the caller's pool holds nothing
    ├── VectorLegUnavailable  the semantic leg was named and cannot run
    ├── IdempotencyKeyReused  the idempotency key belongs to another request
    ├── ContextDisabled       the operator switched the surface off
    ├── Overloaded            too much is waiting; try again
    ├── RateLimited           the key has spent its calls; try again later
    ├── MessageTooLarge       more bytes than the server accepts or sends
    ├── DocumentTooLarge      a document of more bytes than the server accepts, in whatever messages
    ├── DeadlineExceeded      too late
    ├── TraceBacklogFull      the call cannot be proven; try again
    ├── TracePending          the trace cannot be read at this moment; try again
    ├── Draining              the planner is about to end; another one takes the call
    ├── Unavailable           a part is away or busy; try again
    └── Bug                   our fault

Rule 1: fields are keyword-only, and both the message and the metadata are made from them, so they cannot disagree.
Rule 2: this module names kinds, never gRPC codes or HTTP statuses; the edges map them.
"""

from enum import Enum
from typing import ClassVar


class Kind(Enum):
    """What went wrong, in words that any transport can map."""

    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    ABSENT = "absent"
    PRECONDITION = "precondition"
    EXHAUSTED = "exhausted"
    UNAVAILABLE = "unavailable"
    LATE = "late"
    UNIMPLEMENTED = "unimplemented"
    BUG = "bug"


class TelhaError(Exception):
    """
    The base of all errors that a caller may see.

    Attributes:
        fields: Every variable part of the message, as sent in `ErrorInfo.metadata`.
        retry_after_ms: Milliseconds after which the same call may succeed; None where trying again cannot help.
    """

    kind: ClassVar[Kind]
    reason: ClassVar[str]
    template: ClassVar[str]
    retry_after_ms: int | None = None

    def __init__(self, **fields: str) -> None:
        self.fields = fields
        super().__init__(self.template.format(**fields))

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross the border of the ingest process; keyword-only constructors need help there.
        return _rebuilt, (type(self), self.fields)


def _rebuilt(error: type[TelhaError], fields: dict[str, str]) -> TelhaError:
    instance = error.__new__(error)
    TelhaError.__init__(instance, **fields)
    return instance


class RequestInvalid(TelhaError):
    """
    A field breaks a rule.

    `field` is a path in the request's own spelling, such as `documents[3].content`; `rule` completes the sentence
    "the field …".
    """

    kind = Kind.INVALID
    reason = "INVALID_REQUEST"
    template = "{field} {rule}"

    def __init__(self, *, field: str, rule: str) -> None:
        super().__init__(field=field, rule=rule)

    @property
    def field(self) -> str:
        """The path of the field."""
        return self.fields["field"]

    @property
    def rule(self) -> str:
        """What the field must be."""
        return self.fields["rule"]

    def under(self, prefix: str) -> "RequestInvalid":
        """The same fault, seen from a message that holds the field under *prefix*."""
        separator = "" if not self.field or self.field.startswith("[") else "."
        return type(self)(field=f"{prefix}{separator}{self.field}", rule=self.rule)


class Unauthenticated(TelhaError):
    """No key, or one that is malformed, unknown or revoked: all get the same words."""

    kind = Kind.UNAUTHENTICATED
    reason = "UNAUTHENTICATED"
    template = "a valid API key is required"


class PermissionDenied(TelhaError):
    """The key is valid and lacks *right*."""

    kind = Kind.FORBIDDEN
    reason = "PERMISSION_DENIED"
    template = "the key lacks {right}"

    def __init__(self, *, right: str) -> None:
        super().__init__(right=right)


class NotFound(TelhaError):
    """*resource* does not exist or belongs to somebody else."""

    kind = Kind.ABSENT
    reason = "NOT_FOUND"
    template = "no such {resource}"

    def __init__(self, *, resource: str) -> None:
        super().__init__(resource=resource)


class InsufficientEvidence(TelhaError):
    """
    Recall found no span, or the caller's pool holds none; the trace *trace_id* says what was tried.

    Of *below_floor* nodes the evidence was below *min_similarity*, the floor applied; *excluded* spans were found and
    left out, because the caller has been given them before; 0 is none, of all three.
    """

    kind = Kind.PRECONDITION
    reason = "INSUFFICIENT_EVIDENCE"
    template = "no evidence was found for this request (trace {trace_id})"

    def __init__(self, *, trace_id: str, below_floor: int = 0, min_similarity: float = 0.0, excluded: int = 0) -> None:
        super().__init__(
            trace_id=trace_id,
            below_floor=str(below_floor),
            min_similarity=str(min_similarity),
            excluded=str(excluded),
        )


class VectorLegUnavailable(TelhaError):
    """The semantic leg was named and cannot run; `cause` says why."""

    kind = Kind.PRECONDITION
    reason = "VECTOR_LEG_UNAVAILABLE"
    template = "the semantic leg cannot run: {cause}"

    def __init__(self, *, cause: str) -> None:
        super().__init__(cause=cause)


class IdempotencyKeyReused(TelhaError):
    """The idempotency key was used before, for a request that was another one."""

    kind = Kind.PRECONDITION
    reason = "IDEMPOTENCY_KEY_REUSED"
    template = "{field} {rule}"

    def __init__(
        self, *, field: str = "idempotency_key", rule: str = "was used for another request; take a new one"
    ) -> None:
        super().__init__(field=field, rule=rule)


class ContextDisabled(TelhaError):
    """The operator disabled the Context service."""

    kind = Kind.UNIMPLEMENTED
    reason = "CONTEXT_DISABLED"
    template = "the context service is disabled by configuration"


class Overloaded(TelhaError):
    """As much is waiting as the planner accepts."""

    kind = Kind.EXHAUSTED
    reason = "OVERLOADED"
    template = "the planner is busy; try again"
    retry_after_ms = 50

    def __init__(self, *, retry_after_ms: int = 50) -> None:
        super().__init__()
        self.retry_after_ms = retry_after_ms


class RateLimited(TelhaError):
    """The key has spent the calls that it may make in a minute; the next is free after *retry_after_ms*."""

    kind = Kind.EXHAUSTED
    reason = "RATE_LIMITED"
    template = "the key has spent its calls for this minute; try again later"

    def __init__(self, *, retry_after_ms: int) -> None:
        super().__init__()
        self.retry_after_ms = retry_after_ms


class MessageTooLarge(TelhaError):
    """The request or the answer exceeds the server's limit."""

    kind = Kind.EXHAUSTED
    reason = "MESSAGE_TOO_LARGE"
    template = "the message is larger than the {limit} bytes that are accepted"

    def __init__(self, *, limit: int) -> None:
        super().__init__(limit=str(limit))


class DocumentTooLarge(TelhaError):
    """A document has more bytes than the server accepts; *field* held the byte that was one too many."""

    kind = Kind.EXHAUSTED
    reason = "DOCUMENT_TOO_LARGE"
    template = "{field} {rule}"

    def __init__(self, *, field: str, rule: str) -> None:
        super().__init__(field=field, rule=rule)

    @classmethod
    def at(cls, field: str, limit: int) -> "DocumentTooLarge":
        """The refusal at *field* of a document of more than *limit* bytes."""
        return cls(field=field, rule=f"belongs to a document of more than the {limit:,} bytes that are accepted")


class DeadlineExceeded(TelhaError):
    """The deadline passed before the work began or ended."""

    kind = Kind.LATE
    reason = "DEADLINE_EXCEEDED"
    template = "the deadline passed"


class TraceBacklogFull(TelhaError):
    """The spool is full or cannot be written."""

    kind = Kind.UNAVAILABLE
    reason = "TRACE_BACKLOG_FULL"
    template = "the trace spool cannot take another record; the call was not answered because it could not be proven"
    retry_after_ms = 1000


class TracePending(TelhaError):
    """The trace may exist but cannot be read at this moment."""

    kind = Kind.UNAVAILABLE
    reason = "TRACE_PENDING"
    template = "trace {trace_id} cannot be read at this moment; try again"
    retry_after_ms = 500

    def __init__(self, *, trace_id: str) -> None:
        super().__init__(trace_id=trace_id)


class Draining(TelhaError):
    """The planner is about to end and had not looked at the call: even a write may be made again."""

    kind = Kind.UNAVAILABLE
    reason = "DRAINING"
    template = "the planner is stopping; try again"
    retry_after_ms = 100


class Unavailable(TelhaError):
    """*part* is away or busy; the same call may succeed later."""

    kind = Kind.UNAVAILABLE
    reason = "UNAVAILABLE"
    template = "{part} is not available; try again"
    retry_after_ms = 500

    def __init__(self, *, part: str) -> None:
        super().__init__(part=part)


class Bug(TelhaError):
    """Our fault. The caller learns the request id and nothing else."""

    kind = Kind.BUG
    reason = "INTERNAL"
    template = "internal error (request {request_id})"

    def __init__(self, *, request_id: str) -> None:
        super().__init__(request_id=request_id)

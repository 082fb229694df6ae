"""
Fields of a request, filled: what the wire cannot carry is refused here, with the place of the field.

Rule: a fault of the value raises `InvalidRequest`, as the server would; one of the program raises `TypeError`.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.message import Message

from .errors import invalid
from .inputs import Instant

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def put(message: Message, name: str, value: object, place: str = "") -> None:
    """Set the field *name* of *message*; None leaves it absent. *place* is where the message stands in the request."""
    if value is None:
        return
    field = f"{place}.{name}" if place else name
    try:
        setattr(message, name, value)
    except UnicodeEncodeError:
        raise invalid(field, "must not contain lone surrogates") from None
    except ValueError as fault:
        raise invalid(field, f"cannot be sent: {fault}") from None
    except TypeError:
        raise TypeError(f"{field} cannot be a {type(value).__name__}") from None


def extend(repeated: Any, values: Iterable[Any], field: str) -> None:  # noqa: ANN401 (a protobuf list of any type)
    """Add *values* to the list *field*."""
    if isinstance(values, str):
        raise TypeError(f"{field} must be a list, not a string")
    try:
        repeated.extend(values)
    except UnicodeEncodeError:
        raise invalid(field, "must not contain lone surrogates") from None
    except ValueError as fault:
        raise invalid(field, f"cannot be sent: {fault}") from None


def named(values: Mapping[str, Any], name: str, field: str) -> Any:  # noqa: ANN401 (an enum's number)
    """What the wire has for *name*."""
    if name not in values:
        raise invalid(field, f"must be one of {', '.join(values)}")
    return values[name]


def utf8(text: str, field: str) -> bytes:
    """*text* as bytes."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise invalid(field, "must not contain lone surrogates") from None


def micros(instant: Instant | None, field: str) -> int | None:
    """*instant* as µs since 1970 UTC."""
    if instant is None or isinstance(instant, int):
        return instant
    if not isinstance(instant, datetime):
        told = type(instant).__name__
        raise TypeError(f"{field} must be a datetime with a time zone, or an int of µs since 1970 UTC, not {told}")
    if instant.tzinfo is None:
        raise invalid(field, "must have a time zone; a naive datetime names no instant")
    return (instant - _EPOCH) // timedelta(microseconds=1)

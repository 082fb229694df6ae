"""
Page tokens: opaque to callers, bound to the filters they were made for.

A token carries no right: the scope of every page comes from the caller's key alone.
"""

import base64
import binascii

from blake3 import blake3

from telha_planner.core.errors import RequestInvalid

_BOUND_BYTES = 8


def write(position: bytes, filters: bytes) -> str:
    """A token for the page after *position*, good for *filters* only."""
    return base64.urlsafe_b64encode(_bound(filters) + position).decode().rstrip("=")


def read(token: str, filters: bytes) -> bytes:
    """
    The position in *token*.

    Raises:
        RequestInvalid: The token is malformed, or was made for other filters.
    """
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if raw[:_BOUND_BYTES] != _bound(filters):
        raise invalid()
    return raw[_BOUND_BYTES:]


def invalid() -> RequestInvalid:
    """The refusal of a token that the server did not write, or wrote for something else."""
    return RequestInvalid(field="page_token", rule="must be the token of the previous page, with the same filters")


def page_size(asked: int, default: int, largest: int) -> int:
    """
    The size of a page: *default* for 0, never above *largest*.

    Raises:
        RequestInvalid: *asked* is negative.
    """
    if asked < 0:
        raise RequestInvalid(field="page_size", rule="must be at least 0")
    return min(asked or default, largest)


def _bound(filters: bytes) -> bytes:
    return blake3(filters).digest(length=_BOUND_BYTES)

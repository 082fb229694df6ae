"""
Page tokens of listings: where the next page begins, bound to the filters of the first.

A token is opaque to callers and no secret: it holds a position and a digest of the filters, and grants nothing.
"""

import base64
import binascii
import dataclasses
from typing import Final
from uuid import UUID

import msgpack
import xxhash

from .store import Filters

DEFAULT_SIZE: Final = 50
LARGEST_SIZE: Final = 1000


class TokenInvalid(Exception):
    """The token is none of ours, or belongs to other filters."""


def size_of(asked: int) -> int:
    """Traces per page for *asked* ≥ 0: 0 is 50, more than 1000 is 1000."""
    return min(asked, LARGEST_SIZE) if asked else DEFAULT_SIZE


def token(tenant: str, filters: Filters, last: tuple[int, str]) -> str:
    """The token of the page behind *last*, `(recorded_us, trace_id)`."""
    content = msgpack.packb([last[0], UUID(last[1]).bytes, _digest(tenant, filters)])
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def position(text: str, tenant: str, filters: Filters) -> tuple[int, str] | None:
    """
    Where the page of the token *text* begins; None for the first page.

    Raises:
        TokenInvalid: See there.
    """
    if not text:
        return None
    try:
        content = msgpack.unpackb(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
        recorded_us, trace_id, digest = content
        last = (_instant(recorded_us), str(UUID(bytes=trace_id)))
    except (ValueError, TypeError, binascii.Error, msgpack.UnpackException) as fault:
        raise TokenInvalid("must be a token of a previous page") from fault
    if digest != _digest(tenant, filters):
        raise TokenInvalid("belongs to a listing with other filters")
    return last


def _instant(value: object) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise ValueError("no instant of a trace")
    return value


def _digest(tenant: str, filters: Filters) -> bytes:
    allowed = None if filters.allowed is None else sorted(filters.allowed)
    parts = [tenant, *dataclasses.astuple(dataclasses.replace(filters, allowed=None)), allowed]
    return xxhash.xxh3_64_digest(msgpack.packb(parts))

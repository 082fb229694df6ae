"""
Dead letters: entries that can never become traces, set aside with a reason, so that they block nobody.

Rule 1: first into the store, which is durable, then into the dead-letter stream beside its acknowledgement, in one
Redis transaction. A crash in between only repeats.
Rule 2: a dead letter counts as settled when a planner asks, or it would be sent for ever.
Rule 3: a dead letter is its tenant's: when the tenant is deleted, it goes from both places, and a later one is dropped.
letters.py and dead_letters.py look at them and bring them back.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

import msgpack
from redis.typing import EncodableT, FieldT
from telha_runtime import frame
from telha_runtime.frame import FrameMalformed, FrameUnknown

from . import record
from .store import Buried, Store
from .stream import Delivery, Stream
from .tables import UNKNOWN_TENANT

_KEPT_IN_STREAM: Final = 10_000
_PAGE: Final = 256
_UUID7: Final = 7
_TIME_AT: Final = 80
"""Below the 48 bits of a UUIDv7 that are milliseconds."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Dead:
    """An entry and why it can never be a trace."""

    delivery: Delivery
    reason: str


def settle(store: Store, dead: Sequence[Dead], now_us: Callable[[], int]) -> list[Dead]:
    """
    Make *dead* durable in the store.

    Returns:
        Those that are kept; the others belong to tenants that were deleted since.

    Raises:
        StoreFailed: Nothing was kept.
    """
    letters = {letter.delivery.entry_id.decode(): letter for letter in dead}
    kept = store.bury([_buried(entry_id, letter, now_us()) for entry_id, letter in letters.items()])
    return [letters[buried.entry_id] for buried in kept]


async def announce(stream: Stream, dead: Sequence[Dead]) -> None:
    """Move *dead*, which is durable, into the dead-letter stream."""
    pipeline = stream.redis.pipeline(transaction=True)
    for letter in dead:
        content = cast("dict[FieldT, EncodableT]", dict(letter.delivery.fields or {}))
        content |= {b"reason": letter.reason.encode(), b"entry_id": letter.delivery.entry_id}
        pipeline.xadd(stream.dead_key, content, maxlen=_KEPT_IN_STREAM, approximate=True)
        pipeline.xack(stream.key, stream.group, letter.delivery.entry_id)
        pipeline.xdel(stream.key, letter.delivery.entry_id)
        _log.error("entry %s is a dead letter: %s", letter.delivery.entry_id.decode(), letter.reason)
    await pipeline.execute()


async def forget(stream: Stream, tenant: str, deleted_us: int) -> int:
    """
    Remove from the dead-letter stream what *tenant* recorded at or before *deleted_us*; returns how many entries went.

    Raises:
        RedisError, OSError: Some may be left.
    """

    def doomed(entry_id: bytes, fields: Mapping[bytes, bytes]) -> bool:
        of, _, recorded_us = origin(fields, _added_us(entry_id.decode()))
        return of == tenant and recorded_us <= deleted_us

    return await _remove(stream, doomed)


async def forget_trace(stream: Stream, tenant: str, trace_id: str) -> int:
    """
    Remove from the dead-letter stream the entries of one trace; returns how many went.

    Raises:
        RedisError, OSError: Some may be left.
    """

    def doomed(entry_id: bytes, fields: Mapping[bytes, bytes]) -> bool:
        return origin(fields, _added_us(entry_id.decode()))[:2] == (tenant, trace_id)

    return await _remove(stream, doomed)


async def withdraw(stream: Stream, entry_ids: Collection[str]) -> int:
    """
    Remove from the dead-letter stream what was announced of *entry_ids*; returns how many entries went.

    Raises:
        RedisError, OSError: Some may be left.
    """
    wanted = {entry_id.encode() for entry_id in entry_ids}
    return await _remove(stream, lambda _, fields: fields.get(b"entry_id") in wanted)


async def _remove(stream: Stream, doomed: Callable[[bytes, Mapping[bytes, bytes]], bool]) -> int:
    gone, oldest = 0, "-"
    while True:
        entries = cast("Sequence[Any]", await stream.redis.xrange(stream.dead_key, min=oldest, count=_PAGE))
        found = [entry_id for entry_id, fields in entries if doomed(entry_id, fields)]
        if found:
            gone += await stream.redis.xdel(stream.dead_key, *found)
        if len(entries) < _PAGE:
            return gone
        oldest = f"({entries[-1][0].decode()}"


def origin(fields: Mapping[bytes, bytes], otherwise_us: int) -> tuple[str, str | None, int]:
    """
    Tenant, trace id and time of recording of an entry, as far as its frame tells.

    Args:
        otherwise_us: The time of an entry whose trace id carries none.
    """
    try:
        found = frame.decode(fields)
    except (FrameMalformed, FrameUnknown):
        return UNKNOWN_TENANT, None, otherwise_us
    trace_id = UUID(found.trace_id)
    recorded_us = (trace_id.int >> _TIME_AT) * 1000 if trace_id.version == _UUID7 else otherwise_us
    return found.tenant if record.is_name(found.tenant) else UNKNOWN_TENANT, found.trace_id, recorded_us


def _buried(entry_id: str, letter: Dead, now_us: int) -> Buried:
    fields = dict(letter.delivery.fields or {})
    tenant, trace_id, recorded_us = origin(fields, _added_us(entry_id))
    return Buried(entry_id, tenant, trace_id, recorded_us, now_us, letter.reason, msgpack.packb(fields))


def _added_us(entry_id: str) -> int:
    return int(entry_id.partition("-")[0]) * 1000

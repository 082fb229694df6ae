"""
Dead letters: entries that can never become traces, set aside with a reason, so that they block nobody.

Rule 1: first into the store, which is durable, then into the dead-letter stream beside its acknowledgement, in one
Redis transaction. A crash in between only repeats.
Rule 2: a dead letter counts as settled when a planner asks, or it would be sent for ever.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, cast

import msgpack
from redis.typing import EncodableT, FieldT
from telha_runtime import frame
from telha_runtime.frame import FrameMalformed, FrameUnknown

from .store import Buried, Store
from .stream import Delivery, Stream

_KEPT_IN_STREAM: Final = 10_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Dead:
    """An entry and why it can never be a trace."""

    delivery: Delivery
    reason: str


def settle(store: Store, dead: Sequence[Dead], now_us: Callable[[], int]) -> None:
    """
    Make *dead* durable in the store.

    Raises:
        StoreFailed: Nothing was kept.
    """
    store.bury(
        [
            Buried(
                entry_id=letter.delivery.entry_id.decode(),
                trace_id=_trace_id(letter.delivery),
                buried_us=now_us(),
                reason=letter.reason,
                fields=msgpack.packb(dict(letter.delivery.fields or {})),
            )
            for letter in dead
        ]
    )


async def announce(stream: Stream, dead: Sequence[Dead]) -> None:
    """Move *dead*, which is durable, into the dead-letter stream."""
    pipeline = stream.redis.pipeline(transaction=True)
    for letter in dead:
        content = cast("dict[FieldT, EncodableT]", dict(letter.delivery.fields or {}))
        content |= {b"reason": letter.reason.encode(), b"entry_id": letter.delivery.entry_id}
        pipeline.xadd(stream.dead_key, content, maxlen=_KEPT_IN_STREAM, approximate=True)
        pipeline.xack(stream.key, stream.group, letter.delivery.entry_id)
        _log.error("entry %s is a dead letter: %s", letter.delivery.entry_id.decode(), letter.reason)
    await pipeline.execute()


def _trace_id(delivery: Delivery) -> str | None:
    try:
        return frame.decode(delivery.fields or {}).trace_id
    except (FrameMalformed, FrameUnknown):
        return None

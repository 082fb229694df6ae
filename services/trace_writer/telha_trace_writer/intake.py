"""
What happens to delivered entries: stored, buried or held; then acknowledged.

    delivery ──► frame? ──► delivered too often? ──► record? ──► one transaction ──► acknowledged
                   │ unknown version: held      │ poison        │ malformed: dead letter

Rule 1: an entry that was delivered too often is buried before its record is parsed: the parser may be what kills us.
Rule 2: a store that refuses is no fault of an entry: what is in hand is tried again without a new delivery.
Rule 3: a frame of an unknown version is neither stored nor buried; it stays pending for a newer writer, and its
deliveries do not count.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from telha_runtime import frame
from telha_runtime.backoff import Backoff
from telha_runtime.frame import FrameMalformed, FrameUnknown

from . import deadletter
from .deadletter import Dead
from .record import RecordMalformed, Row, row_of
from .store import Store, StoreFailed
from .stream import Delivery, Stream

_TOLD: Final = 10
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Intake:
    """
    Takes deliveries in.

    Attributes:
        stored: Traces stored since the start.
        repeated: Entries whose trace was there already.
        dropped: Entries that came after their tenant was deleted, or after traces of their age were removed.
        buried: Dead letters since the start.
        held: Ids of entries of an unknown version.
        observe: Hears of each batch how many records were stored, and in how many seconds.
        turn: Held while entries are in hand, so that nobody takes them over from ourselves meanwhile.
    """

    store: Store
    stream: Stream
    max_deliveries: int
    now_us: Callable[[], int]
    stored: int = 0
    repeated: int = 0
    dropped: int = 0
    buried: int = 0
    held: set[bytes] = field(default_factory=set)
    observe: Callable[[int, float], object] = lambda _count, _seconds: None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def settle(self, deliveries: Sequence[Delivery], stop: asyncio.Event) -> None:
        """
        Take *deliveries* in, again and again while the store refuses; what is left at the *stop* stays pending.

        Raises:
            RedisError, OSError: As `take`.
        """
        backoff = Backoff(stop)
        while True:
            try:
                await self.take(deliveries)
            except StoreFailed as fault:
                _log.error("the trace store refuses %d entries: %s", len(deliveries), fault)
                if stop.is_set():
                    return
                await backoff.pause()
            else:
                return

    async def take(self, deliveries: Sequence[Delivery]) -> None:
        """
        Settle *deliveries*; those that are held stay pending.

        Raises:
            StoreFailed: Nothing of them is acknowledged; try again.
            RedisError, OSError: They are durable, but perhaps not acknowledged; they will be delivered again.
        """
        rows: list[Row] = []
        done: list[bytes] = []
        dead: list[Dead] = []
        held: list[bytes] = []
        for delivery in deliveries:
            try:
                row = self._row(delivery)
            except FrameUnknown as unknown:
                held.append(delivery.entry_id)
                self._hold(delivery, unknown)
                continue
            except (FrameMalformed, RecordMalformed) as fault:
                dead.append(Dead(delivery, str(fault)))
                continue
            done.append(delivery.entry_id)
            if row is not None:
                rows.append(row)
        if rows:
            begun = time.monotonic()
            inserted = await asyncio.to_thread(self.store.insert, rows)
            self.observe(len(rows), time.monotonic() - begun)
            self.stored += inserted.stored
            self.repeated += inserted.repeated
            self._tell_dropped(inserted.dropped)
        await self.stream.acknowledge(done)
        await self.stream.hold(held)
        if dead:
            kept = await asyncio.to_thread(deadletter.settle, self.store, dead, self.now_us)
            await deadletter.announce(self.stream, kept)
            await self.stream.acknowledge([letter.delivery.entry_id for letter in dead if letter not in kept])
            self.buried += len(kept)
            self._tell_dropped(len(dead) - len(kept))

    def _row(self, delivery: Delivery) -> Row | None:
        if delivery.fields is None:
            return None
        found = frame.decode(delivery.fields)
        if delivery.deliveries > self.max_deliveries:
            raise RecordMalformed(f"it was delivered {delivery.deliveries} times and never acknowledged")
        return row_of(found)

    def _tell_dropped(self, count: int) -> None:
        if count:
            self.dropped += count
            _log.info(
                "dropped %d records that came after their tenant's deletion, or after their age was removed", count
            )

    def _hold(self, delivery: Delivery, unknown: FrameUnknown) -> None:
        if delivery.entry_id not in self.held:
            self.held.add(delivery.entry_id)
            # Of many, each thousandth.
            if len(self.held) <= _TOLD or len(self.held) % 1000 == 0:
                count = len(self.held)
                _log.warning("entry %s waits for a newer writer, %d in all: %s", delivery.entry_id, count, unknown)

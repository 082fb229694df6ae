"""
The door before the door: whether a call may bring its message at all.

gRPC buffers a message whole before anybody sees it. So each method takes its request as a stream, and reads the one
message only once there is room for it; a stream so reads its first, for which no upload can count yet (`uploads`).
Rule 1: what the plan thread would refuse is refused before its message is read. Rule 2: a message that is being read
counts for the largest that the transport lets through, which is `max_read_bytes`: up to twice `max_message_bytes`, so
that what is over the limit can be refused in words. Then it counts for its size, until its call ends or its upload
counts. All calls together hold at most `max_held_bytes` of messages, shared between tenants (`shares`). Rule 3: who
brings no message in time loses the room. A refusal says nothing of whether the credential holds.
"""

import asyncio
from collections.abc import Awaitable, Callable

from telha_runtime.line import Holder

from telha_planner.config import ServerSettings
from telha_planner.core.errors import DeadlineExceeded, Overloaded, RequestInvalid

from .dispatch import WorkThread
from .holders import Holders
from .shares import Shares

RETRY_AFTER_MS = 200
MESSAGE_S = 10.0
"""Longest time from a call's beginning to the end of its message."""


class Admission:
    """
    Of one listener; used on its event loop.

    Args:
        thread: Which all calls must pass; None if there is none.

    Attributes:
        holders: Who is counted for which credential.
    """

    def __init__(self, settings: ServerSettings, holders: Holders, thread: WorkThread | None) -> None:
        self.holders = holders
        self._largest = settings.max_read_bytes
        self._thread = thread
        self._shares = Shares(settings.max_held_bytes, RETRY_AFTER_MS)

    @property
    def held(self) -> int:
        """Bytes of messages that are held, or may be at any moment."""
        return self._shares.held

    def look(self, holder: Holder) -> None:
        """Raise `Overloaded` if a call of *holder* would find no place."""
        if self._thread is not None and not self._thread.admits(holder):
            raise Overloaded

    def message(self, holder: Holder) -> "Room":
        """
        Room for one message of *holder*; close it when that is held no more.

        Raises:
            Overloaded: There is none.
        """
        self._shares.take(holder.tenant, self._largest)
        return Room(self._shares, holder, self._largest)


class Room:
    """Room for a message."""

    def __init__(self, shares: Shares, holder: Holder, size: int) -> None:
        self._shares = shares
        self._holder = holder
        self._size = size

    async def read(self, bring: Callable[[], Awaitable[bytes | None]]) -> bytes | None:
        """
        The one message; None if its caller went before bringing it.

        Args:
            bring: Reads it; None is the end of what the caller sends.

        Raises:
            DeadlineExceeded: It did not come in time.
        """
        try:
            async with asyncio.timeout(MESSAGE_S):
                message = await bring()
        except TimeoutError:
            raise DeadlineExceeded from None
        if message is not None:
            self._hold(len(message))
        return message

    def close(self) -> None:
        """The message is held no more; may be said twice."""
        self._hold(0)

    def _hold(self, size: int) -> None:
        self._shares.give_back(self._holder.tenant, self._size - size)
        self._size = size


def missing() -> RequestInvalid:
    """The refusal of a call that ends without a message."""
    return RequestInvalid(field="", rule="the request must be one message")

"""
Turns at something that serves a few callers at once, such as a child process: a fair line of coroutines before it.

Rule: who gives up waiting gives up the place at that moment; who has a turn keeps it until giving it back.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .line import FairLine, Holder


class LineFull(Exception):
    """As many wait as may; whoever holds most of the line has to go, and this is it."""


class Turns:
    """
    Belongs to one event loop.

    Args:
        at_once: Turns that are given out at one moment, ≥ 1.
        most_waiting: Callers that may wait for one, ≥ 0.
    """

    def __init__(self, at_once: int, most_waiting: int) -> None:
        self._free = at_once
        self._line: FairLine[asyncio.Future[None]] = FairLine()
        self._most_waiting = most_waiting

    @property
    def waiting(self) -> int:
        """Callers that wait."""
        return self._line.bounded

    @asynccontextmanager
    async def turn(self, holder: Holder) -> AsyncIterator[None]:
        """
        Wait for a turn and have it for the length of the block.

        Raises:
            LineFull: Too many wait.
        """
        await self._take(holder)
        started = time.monotonic()
        try:
            yield
        finally:
            self._line.served(holder, time.monotonic() - started)
            self._pass_on()

    async def _take(self, holder: Holder) -> None:
        if self._free:
            self._free -= 1
            return
        mine = asyncio.get_running_loop().create_future()
        gone = self._line.push(holder, mine, self._most_waiting)
        if gone is not None and not gone.done():
            gone.set_exception(LineFull())
        try:
            await mine
        except asyncio.CancelledError:
            if not self._line.remove(holder, mine) and not mine.cancelled() and mine.exception() is None:
                self._pass_on()  # the turn had come at the very moment at which its holder gave up
            raise

    def _pass_on(self) -> None:
        while (found := self._line.pop()) is not None:
            if not found[1].done():
                found[1].set_result(None)
                return
        self._free += 1

"""Wait longer after each failure in a row, and not at all once the service stops."""

import asyncio
import contextlib
from typing import Final

FIRST_S: Final = 0.05
LONGEST_S: Final = 5.0


class Backoff:
    """The pauses of one loop: 50 ms, doubling up to 5 s; *stop* ends a pause early."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop
        self._next_s = FIRST_S

    @property
    def failing(self) -> bool:
        """Whether the last attempt failed."""
        return self._next_s > FIRST_S

    def reset(self) -> None:
        """The last attempt went well."""
        self._next_s = FIRST_S

    async def pause(self) -> None:
        """Wait after a failure."""
        pause_s, self._next_s = self._next_s, min(self._next_s * 2, LONGEST_S)
        await sleep(pause_s, self._stop)


async def sleep(seconds: float, stop: asyncio.Event) -> None:
    """Wait for *seconds* or until *stop* is set."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()

"""A real gRPC listener in this process, on an event loop in a thread of its own, for tests that call it."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

from telha_planner.config import ServerSettings
from telha_planner.server.call import Service
from telha_planner.server.listener import Listener
from telha_planner.server.meters import Meters


class PlannerServer:
    """Serves what *services* makes (called on the loop) until the `with` block ends."""

    def __init__(self, services: Callable[[], Sequence[Service]], **settings: Any) -> None:
        self.settings = ServerSettings(**{"port": 0, "drain_ms": 2000, **settings})
        self.meters = Meters()
        self._services = services
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="server", daemon=True)
        self.listener: Listener
        self.address = ""

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.address = self.run(self._start())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self.listener.drain())
        self._end()

    def run(self, coroutine: Any) -> Any:
        """Run *coroutine* on the server's loop and wait for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    async def _start(self) -> str:
        self.listener = Listener(self.settings, self._services(), self.meters)
        return await self.listener.start()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

"""
TCP proxies of ours, for what a network does: pass on, cut, refuse, or swallow everything and never answer.

Rule: a connection that has lost a byte is never used again; when a mode ends, what was open under it is closed.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Literal

Mode = Literal["pass", "refuse", "swallow"]
_PIECE = 1 << 16


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="proxies", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The outcome of *work*, run there."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    def close(self) -> None:
        """End the loop."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Proxy:
    """
    Listens on a port of 127.0.0.1 and passes on to the unix socket *target*.

    Attributes:
        port: Where it listens.
    """

    def __init__(self, loop: Loop, target: Path) -> None:
        self._loop, self._target = loop, target
        self._mode: Mode = "pass"
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server = loop.run(self._listen())
        self.port: int = self._server.sockets[0].getsockname()[1]

    def set(self, mode: Mode) -> None:
        """Behave like *mode* from now on."""
        self._do(lambda: self._change(mode))

    def cut(self) -> None:
        """Close every connection; new ones are welcome."""
        self._do(self._cut)

    def retarget(self, target: Path) -> None:
        """Pass on to *target* from now on; what is open is cut."""

        def change() -> None:
            self._target = target
            self._cut()

        self._do(change)

    def close(self) -> None:
        """Stop listening and close everything."""
        self._do(self._server.close)
        self.cut()

    def _do(self, what: Callable[[], None]) -> None:
        async def there() -> None:
            what()

        self._loop.run(there())

    def _change(self, mode: Mode) -> None:
        # Connections that turn silent stay open; those that were silent have lost bytes.
        if mode != "swallow":
            self._cut()
        self._mode = mode

    def _cut(self) -> None:
        for task in self._open:
            task.cancel()

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._accepted, "127.0.0.1", 0)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        with contextlib.closing(writer), contextlib.suppress(OSError, asyncio.CancelledError):
            if self._mode == "swallow":
                await self._pump(reader, None)
            elif self._mode == "pass":
                await self._pass_on(reader, writer)
        self._open.discard(task)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_unix_connection(str(self._target))
        with contextlib.closing(there_writer):
            ways = [
                asyncio.create_task(self._pump(reader, there_writer)),
                asyncio.create_task(self._pump(there_reader, writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter | None) -> None:
        while piece := await source.read(_PIECE):
            if sink is not None and self._mode == "pass":
                sink.write(piece)
                await sink.drain()

"""A small balancer of connections in front of replicas, as one stands in front of a production."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Self

CHECK_S = 0.05


class Balancer:
    """
    Passes bytes between each connection and the next replica that *healthy* finds well.

    Attributes:
        port: Where it listens on 127.0.0.1.
        opened: Connections that each replica was given.
    """

    def __init__(self, replicas: Sequence[int], healthy: Callable[[int], Awaitable[bool]]) -> None:
        self._replicas = list(replicas)
        self._healthy = healthy
        self._well: set[int] = set()
        self._all_well = asyncio.Event()
        self._passing: set[asyncio.Future[None]] = set()
        self._next = 0
        self.opened = dict.fromkeys(replicas, 0)
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self._checks = [asyncio.ensure_future(self._check(replica)) for replica in self._replicas]
        await asyncio.wait_for(self._all_well.wait(), 60)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in (*self._checks, *self._passing):
            task.cancel()
        await asyncio.gather(*self._checks, *self._passing, return_exceptions=True)

    async def _check(self, replica: int) -> None:
        while True:
            (self._well.add if await self._healthy(replica) else self._well.discard)(replica)
            if len(self._well) == len(self._replicas):
                self._all_well.set()
            await asyncio.sleep(CHECK_S)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passing = asyncio.ensure_future(self._passed(reader, writer))
        self._passing.add(passing)
        passing.add_done_callback(self._passing.discard)

    async def _passed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._next += 1
        well = [replica for replica in self._replicas if replica in self._well]
        async with contextlib.AsyncExitStack() as closing:
            closing.push_async_callback(_closed, writer)
            if not well:
                return
            replica = well[self._next % len(well)]
            self.opened[replica] += 1
            there, back = await asyncio.open_connection("127.0.0.1", replica)
            closing.push_async_callback(_closed, back)
            await asyncio.gather(_copied(reader, back), _copied(there, writer))


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    writer.close()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()

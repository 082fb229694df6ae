"""What the planner's side calls, it calls itself: a proxy of the environment is meant for the way out."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from telha_planner.core.errors import DeadlineExceeded, TracePending
from telha_planner.server.trace_writer_port import TraceWriter


@pytest.fixture
def listening() -> Iterator[Callable[[], socket.socket]]:
    """Makes sockets that listen and never answer."""
    made: list[socket.socket] = []

    def listen() -> socket.socket:
        made.append(socket.create_server(("127.0.0.1", 0)))
        made[-1].setblocking(False)
        return made[-1]

    yield listen
    for one in made:
        one.close()


def _address(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


def _ask_the_writer(address: str) -> None:
    async def ask() -> None:
        writer = TraceWriter(address, "a credential of our own")
        try:
            await writer.fetch("acme", (), "", "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", (), time.monotonic() + 0.5)
        finally:
            await writer.close()

    with pytest.raises((DeadlineExceeded, TracePending)):
        asyncio.run(ask())


def test_a_call_goes_where_it_says(listening: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    """A1: the connection is made to the address, and none to the proxy, which would see the credential."""
    proxy, target = listening(), listening()
    for name in ("grpc_proxy", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://{_address(proxy)}")
    for name in ("no_grpc_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    _ask_the_writer(_address(target))
    target.accept()[0].close()
    with pytest.raises(BlockingIOError):
        proxy.accept()

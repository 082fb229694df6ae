"""Floods of HTTP/2 frames against the listener: the others go on, and nothing piles up."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import psutil
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from http2_frames import (
    CANCEL,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Wire,
    field,
    frame,
    head,
)
from planner_server import PlannerServer
from telha_planner.server.admission import Admission
from telha_planner.server.call import Call, Service
from telha_planner.server.holders import Holders
from telha_planner.server.wire import decode

NAME = "telha.planner.v1.Planner"
METHOD = f"/{NAME}/Plan"
PREFIX = b"\0" + (4).to_bytes(4, "big") + StringValue(value="hi").SerializeToString()
KNOWN = "telha_known"
BEARER = (("authorization", f"Bearer {KNOWN}"),)
MOST_GROWTH = 100 << 20
SLOWEST_S = 25.0


class _Echo:
    """Answers after a moment, and counts the calls under way."""

    def __init__(self) -> None:
        self.running = self.most = 0

    async def answer(self, raw: bytes, _: Call) -> StringValue:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0.001)
            return decode(StringValue, raw)
        finally:
            self.running -= 1


@pytest.fixture(scope="module")
def echo() -> _Echo:
    return _Echo()


class _Server(PlannerServer):
    """Knows one caller; whoever floods is a stranger."""

    def admission(self) -> Admission:
        holders = Holders()
        holders.proved(KNOWN, 1, "known")
        return Admission(self.settings, holders, None)


@pytest.fixture(scope="module")
def address(echo: _Echo) -> Iterator[str]:
    with _Server(lambda: [Service(NAME, {"Plan": echo.answer})]) as server:
        yield server.address


@contextmanager
def others(address: str) -> Iterator[list[float]]:
    """Another caller beside the block, who must be answered all the time; seconds of each of its calls."""
    taken: list[float] = []
    faults: list[BaseException] = []
    stop = threading.Event()

    def ask() -> None:
        with grpc.insecure_channel(address) as channel:
            plan = channel.unary_unary(METHOD, StringValue.SerializeToString, StringValue.FromString)
            while not stop.is_set() or not taken:
                began = time.monotonic()
                try:
                    assert plan(StringValue(value="电"), timeout=30, metadata=BEARER).value == "电"
                except BaseException as fault:  # noqa: BLE001  # told below
                    faults.append(fault)
                    return
                taken.append(time.monotonic() - began)
                time.sleep(0.005)

    asking = threading.Thread(target=ask)
    held = psutil.Process(os.getpid()).memory_info().rss
    asking.start()
    try:
        yield taken
    finally:
        stop.set()
        asking.join(60)
    if faults:
        raise faults[0]
    assert max(taken) < SLOWEST_S
    assert psutil.Process(os.getpid()).memory_info().rss - held < MOST_GROWTH


def streams(count: int) -> Iterator[int]:
    """Numbers of streams that a client may open, in order."""
    yield from range(1, 2 * count, 2)


def test_calls_that_are_reset_at_once_cost_the_others_nothing(address: str, echo: _Echo) -> None:
    """A1: a client that begins and resets ten thousand calls holds up nobody; what it began comes to an end."""
    opened = frame(HEADERS, END_HEADERS, 0, head(METHOD))
    with others(address), Wire(address) as wire:
        for first in range(1, 20_000, 200):
            batch = b"".join(
                opened[:5] + stream.to_bytes(4, "big") + opened[9:] + frame(RST_STREAM, 0, stream, CANCEL)
                for stream in range(first, first + 200, 2)
            )
            if not wire.send(batch):
                break
    deadline = time.monotonic() + 60
    while echo.running and time.monotonic() < deadline:
        time.sleep(0.05)
    assert echo.running == 0


def has_ended(told: list[tuple[int, int, int, bytes]]) -> bool:
    """Whether the connection was ended, or all calls over the limit were refused."""
    refused = {stream for kind, _, stream, _ in told if kind == RST_STREAM}
    return any(kind == GOAWAY for kind, *_ in told) or len(refused) >= 2000 - 256


def test_more_calls_than_a_connection_may_have_are_refused(address: str) -> None:
    """A1: of two thousand calls opened at once on one connection no more are held than the limit allows."""
    with others(address), Wire(address) as wire:
        for stream in streams(2000):
            if not wire.send(frame(HEADERS, END_HEADERS, stream, head(METHOD))):
                break
        told = wire.frames(30.0, has_ended)
    assert has_ended(told)


@pytest.mark.parametrize(
    "flood",
    [
        pytest.param(frame(PING, 0, 0, b"12345678") * 200, id="pings"),
        pytest.param(frame(SETTINGS, 0, 0, b"\0\x04\0\x01\0\0") * 200, id="settings"),
        pytest.param(frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\x01") * 200, id="window updates"),
        pytest.param(frame(0xEE, 0, 0, b"x" * 50) * 200, id="frames of an unknown kind"),
    ],
)
def test_frames_about_the_connection_do_not_pile_up(address: str, flood: bytes) -> None:
    """A1: a hundred thousand frames that ask for nothing are taken or end their connection; the others go on."""
    with others(address), Wire(address) as wire:
        for _ in range(500):
            if not wire.send(flood):
                break


def test_a_head_without_end_is_not_collected(address: str) -> None:
    """A1: header fields that go on and on end the connection long before they fill the memory."""
    more = b"".join(field(f"x-{number}", "y" * 100) for number in range(100))
    sent = 0
    with others(address), Wire(address) as wire:
        wire.send(frame(HEADERS, 0, 1, head(METHOD)))
        while sent < 200 << 20 and wire.send(frame(CONTINUATION, 0, 1, more)):
            sent += len(more)


def test_data_of_no_bytes_does_not_pile_up(address: str) -> None:
    """A1: a call whose message never comes, in a hundred thousand empty frames, holds up nobody."""
    with others(address), Wire(address) as wire:
        wire.send(frame(HEADERS, END_HEADERS, 1, head(METHOD)))
        for _ in range(500):
            if not wire.send(frame(DATA, 0, 1) * 200):
                break


def is_answered(told: list[tuple[int, int, int, bytes]]) -> bool:
    """Whether the first call has come to an end."""
    return any(stream == 1 and kind in {HEADERS, RST_STREAM} for kind, _, stream, _ in told)


@pytest.mark.parametrize(("size", "refused"), [(2**32 - 1, True), (1 << 30, True), (100 << 20, True), (2000, False)])
def test_a_message_over_the_limit_is_refused_by_its_length(address: str, size: int, *, refused: bool) -> None:
    """A1: a message that says it is too large is refused before it has come; one that is not is waited for."""
    with others(address), Wire(address) as wire:
        wire.send(frame(HEADERS, END_HEADERS, 1, head(METHOD, *BEARER)))
        wire.send(frame(DATA, 0, 1, b"\0" + size.to_bytes(4, "big") + b"x" * 1000))
        told = wire.frames(30.0 if refused else 1.0, is_answered)
    assert is_answered(told) is refused


@pytest.mark.parametrize(
    "nonsense",
    [
        pytest.param(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" * 50, id="another protocol"),
        pytest.param(frame(DATA, 0, 0, b"x"), id="data of no call"),
        pytest.param(frame(HEADERS, END_HEADERS, 2, head(METHOD)), id="a call of an even number"),
        pytest.param(frame(HEADERS, END_HEADERS, 1, b"\xff" * 200), id="a head that cannot be read"),
        pytest.param(frame(CONTINUATION, END_HEADERS, 1, b"\x82"), id="the rest of nothing"),
        pytest.param(b"\xff\xff\xff" + frame(DATA, 0, 1)[3:] + b"x" * 100_000, id="a frame of 16 MB"),
        pytest.param(
            frame(HEADERS, END_HEADERS, 1, head(METHOD)) + frame(DATA, END_STREAM, 1, PREFIX[:7]), id="half a message"
        ),
        pytest.param(
            frame(HEADERS, END_HEADERS, 1, head(METHOD)) + frame(DATA, END_STREAM, 1, b"\x01" + PREFIX[1:]),
            id="packed, it says",
        ),
    ],
)
def test_what_is_no_http_2_harms_nobody_else(address: str, nonsense: bytes) -> None:
    """A1: broken frames end their own call or connection."""
    with others(address), Wire(address) as wire:
        wire.send(nonsense)
        wire.frames(0.3)


def test_frames_by_hand_are_answered_as_any_other(address: str) -> None:
    """A1: so that what is refused above is refused for what it is."""
    with Wire(address) as wire:
        wire.send(frame(HEADERS, END_HEADERS, 1, head(METHOD)) + frame(DATA, END_STREAM, 1, PREFIX))
        told = wire.frames(30.0, says_hi)
    assert says_hi(told)


def says_hi(told: list[tuple[int, int, int, bytes]]) -> bool:
    """Whether the first call was answered with what it sent."""
    return any(kind == DATA and stream == 1 and b"hi" in payload for kind, _, stream, payload in told)

"""HTTP/2 as a hostile client writes it: frames by hand, on a socket of its own."""

import socket
import struct
from collections.abc import Callable
from typing import Self

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4
CANCEL = struct.pack(">I", 8)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """One frame."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _text(value: str) -> bytes:
    raw = value.encode()
    assert len(raw) < 127
    return bytes([len(raw)]) + raw


def field(name: str, value: str) -> bytes:
    """A header field, literal and not indexed."""
    return b"\x00" + _text(name) + _text(value)


def head(method: str, *more: tuple[str, str]) -> bytes:
    """The header block of a gRPC call of *method*."""
    fields = [
        *((":method", "POST"), (":scheme", "http"), (":path", method), (":authority", "x")),
        *(("content-type", "application/grpc"), ("te", "trailers"), *more),
    ]
    return b"".join(field(name, value) for name, value in fields)


class Wire:
    """A connection to *address* that has said its preface."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=20)
        self._socket.sendall(PREFACE + frame(SETTINGS, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, content: bytes) -> bool:
        """Send *content*; whether the other side still takes it."""
        try:
            self._socket.sendall(content)
        except (ConnectionError, TimeoutError):
            return False
        return True

    def frames(
        self, seconds: float, enough: Callable[[list[tuple[int, int, int, bytes]]], bool] = lambda _: False
    ) -> list[tuple[int, int, int, bytes]]:
        """Kind, flags, stream and payload of what has come, until *enough*, the end or a pause of *seconds*."""
        self._socket.settimeout(seconds)
        raw = b""
        try:
            while not enough(_parsed(raw)) and (piece := self._socket.recv(1 << 16)):
                raw += piece
        except (TimeoutError, ConnectionError):
            pass
        return _parsed(raw)


def _parsed(raw: bytes) -> list[tuple[int, int, int, bytes]]:
    found, at = [], 0
    while len(raw) - at >= 9:
        size = int.from_bytes(raw[at : at + 3], "big")
        stream = int.from_bytes(raw[at + 5 : at + 9], "big")
        found.append((raw[at + 3], raw[at + 4], stream, raw[at + 9 : at + 9 + size]))
        at += 9 + size
    return found

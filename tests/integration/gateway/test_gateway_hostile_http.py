"""HTTP/1.1 that two readers would understand differently; callers who dawdle or flood, while others are served."""

import contextlib
import gzip
import socket
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest
from gateway_server import PLANNED, Script, running
from telha_gateway import connection

AUTH = b"host: x\r\nauthorization: Bearer telha_key\r\n"
JSON = b"content-type: application/json\r\n"
BODY = b'{"question":"q"}'
SMUGGLED = b"DELETE /v1/tenants/victim HTTP/1.1\r\n" + AUTH + b"\r\n"
POST = b"POST /v1/plan HTTP/1.1\r\n" + AUTH + JSON
KEY = {"authorization": "Bearer telha_key"}


def exchange(url: str, raw: bytes, seconds: float = 0.6) -> bytes:
    """What comes back for *raw*, until the end of the connection or a pause."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=seconds) as wire:
        received = b""
        try:
            wire.sendall(raw)
            while piece := wire.recv(65536):
                received += piece
        except (TimeoutError, ConnectionError):
            pass
    return received


def rest_of(wire: socket.socket) -> bytes:
    """What is still to come on *wire*, which must have an end."""
    received = b""
    with wire, contextlib.suppress(ConnectionError):
        while piece := wire.recv(65536):
            received += piece
    return received


CHUNKED = b"transfer-encoding: chunked\r\n"
AMBIGUOUS = {
    "length and chunks": POST + CHUNKED + b"content-length: 5\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "two lengths": POST + b"content-length: 16\r\ncontent-length: 0\r\n\r\n" + BODY + SMUGGLED,
    "a list of lengths": POST + b"content-length: 0, 16\r\n\r\n" + SMUGGLED,
    "a length with a sign": POST + b"content-length: +0\r\n\r\n" + SMUGGLED,
    "a length below nothing": POST + b"content-length: -1\r\n\r\n" + SMUGGLED,
    "a length in hexadecimal": POST + b"content-length: 0x10\r\n\r\n" + BODY + SMUGGLED,
    "a length beyond 64 bits": POST + b"content-length: 99999999999999999999\r\n\r\n" + SMUGGLED,
    "chunks twice": POST + CHUNKED + b"transfer-encoding: identity\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "chunks, nearly": POST + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "white space before the colon": POST + b"transfer-encoding : chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "a folded line": POST + b"content-length:\r\n 0\r\n\r\n" + SMUGGLED,
    "a chunk of no number": POST + CHUNKED + b"\r\nzz\r\n" + SMUGGLED,
    "a chunk beyond 64 bits": POST + CHUNKED + b"\r\nfffffffffffffffff\r\n" + SMUGGLED,
    "a chunk below nothing": POST + CHUNKED + b"\r\n-1\r\n" + SMUGGLED,
    "a chunk without its end": POST + CHUNKED + b"\r\n1\r\nxx0\r\n\r\n" + SMUGGLED,
    "a name with a line feed": POST + b"x\ny: 1\r\ncontent-length: 0\r\n\r\n" + SMUGGLED,
    "a null in a value": POST + b"x: \0\r\ncontent-length: 0\r\n\r\n" + SMUGGLED,
}


@pytest.mark.parametrize("raw", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_a_request_of_two_meanings_reaches_nobody(rest, script, raw):
    """A1, A6: where a proxy could see one request and the gateway two, the second is not carried out."""
    script.answers["Plan"] = PLANNED
    answer = exchange(str(rest.base_url), raw)
    assert "DeleteTenant" not in script.asked
    assert answer.count(b"HTTP/1.1 ") <= 1, answer
    assert b"HTTP/1.1 2" not in answer
    assert b"Traceback" not in answer


def test_chunks_with_extensions_and_trailers_are_one_body(rest, script):
    """A2: chunked bodies are read as RFC 9112 has them, whatever stands beside the chunks."""
    script.answers["Plan"] = PLANNED
    chunks = b"4;a=b\r\n" + BODY[:4] + b"\r\nc\r\n" + BODY[4:] + b"\r\n0\r\nx-after: 1\r\n\r\n"
    answer = exchange(str(rest.base_url), POST + CHUNKED + b"\r\n" + chunks)
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    assert script.asked["Plan"].question == "q"


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param(b"1;" + b"e" * 4000 + b"\r\nx\r\n", id="extensions"),
        pytest.param(b"1\r\n \r\n", id="chunks of one byte"),
    ],
)
def test_what_stands_beside_chunks_is_not_collected(rest, script, piece):
    """A1: the limit of a body holds for what is read of it; the rest passes or ends the connection."""
    place = urlsplit(str(rest.base_url))
    sent = 0
    with socket.create_connection((place.hostname, place.port), timeout=30) as wire:
        try:
            wire.sendall(POST + CHUNKED + b"\r\n")
            while sent < 8 << 20:
                wire.sendall(piece * 50)
                sent += len(piece) * 50
        except (TimeoutError, ConnectionError):
            pass
    assert "Plan" not in script.asked
    assert rest.get("/healthz").status_code == 200


def test_trailers_without_end_are_not_collected(rest, script):
    """A1: what follows the last chunk has the bounds of a head."""
    place = urlsplit(str(rest.base_url))
    sent = 0
    with socket.create_connection((place.hostname, place.port), timeout=30) as wire:
        try:
            wire.sendall(POST + CHUNKED + b"\r\n0\r\n")
            while sent < 16 << 20:
                wire.sendall(b"x-after: " + b"y" * 8000 + b"\r\n")
                sent += 8000
        except (TimeoutError, ConnectionError):
            pass
    assert sent < 16 << 20
    assert rest.get("/healthz").status_code == 200


def test_requests_sent_at_once_are_answered_in_order(rest, script):
    """A2: fifty requests in one packet are fifty answers, each to its own."""
    script.answers["Plan"] = PLANNED
    raw = b"".join(
        POST + f"x-request-id: r{n}\r\ncontent-length: {len(BODY)}\r\n\r\n".encode() + BODY for n in range(50)
    )
    answer = exchange(str(rest.base_url), raw, 3.0)
    places = [answer.find(f"x-request-id: r{n}\r\n".encode()) for n in range(50)]
    assert min(places) > 0
    assert places == sorted(places)
    assert answer.count(b"HTTP/1.1 200 ") == 50


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_a_packed_body_is_not_unpacked(rest, script, encoding):
    """A1: a thousand to one, whatever it says; nothing here unpacks what a caller sends."""
    packed = gzip.compress(b'{"question":"' + b"q" * 30_000_000 + b'"}')
    answer = rest.post(
        "/v1/plan", content=packed, headers={"content-type": "application/json", "content-encoding": encoding}
    )
    assert answer.status_code == 415
    assert answer.json()["code"] == "UNSUPPORTED_MEDIA_TYPE"
    assert script.asked == {}


@pytest.mark.parametrize(
    ("charset", "content"),
    [("utf-16", '{"question":"q"}'.encode("utf-16")), ("latin-1", '{"question":"é"}'.encode("latin-1"))],
)
def test_json_is_utf_8_whatever_it_says(rest, script, charset, content):
    """A2: RFC 8259 knows one encoding; bytes in another are refused with their place, not guessed at."""
    answer = rest.post("/v1/plan", content=content, headers={"content-type": f"application/json; charset={charset}"})
    assert answer.status_code in {400, 415}
    assert script.asked == {}


def test_those_who_dawdle_are_cut_off_and_hold_up_nobody(monkeypatch):
    """A1: two hundred callers who send their heads or bodies a byte at a time end in time; others are answered."""
    monkeypatch.setattr(connection, "HEAD_S", 0.5)
    script = Script()
    script.answers["Plan"] = PLANNED
    with running(script, timeout_ms=1000) as url:
        place = urlsplit(url)
        slow = []
        for number in range(200):
            wire = socket.create_connection((place.hostname, place.port), timeout=10)
            wire.sendall(POST + (b"content-length: 16\r\n\r\n{" if number % 2 else b"x-a: b\r\n"))
            slow.append(wire)
        ended = threading.Event()

        def drip():
            while not ended.wait(0.1):
                for wire in slow:
                    with contextlib.suppress(OSError):
                        wire.send(b"a")

        dripping = threading.Thread(target=drip)
        dripping.start()
        began = time.monotonic()
        with httpx.Client(base_url=url, headers=KEY, timeout=30) as client:
            while time.monotonic() - began < 2.5:
                assert client.post("/v1/plan", json={"question": "q"}).status_code == 200
        ended.set()
        dripping.join()
        for wire in slow:
            received = rest_of(wire)
            assert not received or received.startswith(b"HTTP/1.1 408 "), received

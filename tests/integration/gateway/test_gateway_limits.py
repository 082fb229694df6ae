"""Sizes, times and connections: the gateway holds no more and waits no longer than it says."""

import json
import socket
import time
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
from gateway_server import PLANNED, Script, running
from telha.memory.v1 import memory_pb2
from telha_gateway import connection

LIMIT = 64 * 1024
HEAD = b"POST /v1/plan HTTP/1.1\r\nhost: x\r\nauthorization: Bearer telha_key\r\ncontent-type: application/json\r\n"
WHOLE = HEAD + b'content-length: 16\r\n\r\n{"question":"q"}'
A_SOURCE = memory_pb2.Source(source_id="0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", content_hash="b3:" + "ab" * 32)
KEY = {"authorization": "Bearer telha_key"}
JSON = {"content-type": "application/json"}


def read(wire):
    """One answer whose body is a JSON object without braces in its strings."""
    received = b""
    while not received.endswith(b"}"):
        piece = wire.recv(65536)
        assert piece, received
        received += piece
    return received.decode()


def test_a_declared_size_over_the_limit_is_refused_unread(rest, script):
    """A1: a 5 MB body is refused by its length, before a byte of it is taken."""
    url = urlsplit(str(rest.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=30) as wire:
        wire.sendall(HEAD + b"content-length: 5000000\r\n\r\n")
        answer = read(wire)
    assert answer.startswith("HTTP/1.1 413 ")
    assert '"code":"MESSAGE_TOO_LARGE"' in answer
    assert script.asked == {}


def test_a_stream_over_the_limit_is_refused_while_it_comes(rest, script):
    """A1: without a declared length the limit holds too, and the rest is not collected."""
    sent = 0

    def endless():
        nonlocal sent
        for _ in range(1000):
            sent += 16 * 1024
            yield b"x" * (16 * 1024)

    answer = rest.post("/v1/plan", content=endless(), headers=JSON)
    assert answer.status_code == 413
    assert answer.json()["code"] == "MESSAGE_TOO_LARGE"
    assert script.asked == {}


def test_bytes_of_all_requests_together_have_a_limit():
    """A1: what would not fit is refused by its length and while it comes, with advice; who leaves makes room again."""
    script = Script(answers={"Plan": PLANNED})
    with running(script, max_body_bytes=LIMIT, max_held_bytes=LIMIT) as url:
        address = urlsplit(url)
        with socket.create_connection((address.hostname, address.port), timeout=30) as slow:
            slow.sendall(HEAD + b"content-length: 60000\r\n\r\n" + b" " * 40_000)
            large = json.dumps({"question": "q" * 30_000})
            for content in (large, Endless(large.encode())):
                answer = until(lambda content=content: post(url, content), 429)
                assert (answer.json()["code"], answer.headers["retry-after"]) == ("OVERLOADED", "1")
            assert post(url, '{"question":"q"}').status_code == 200
        until(lambda: post(url, large), 200)


class Endless:
    """A body without a declared length, that can be sent again."""

    def __init__(self, content):
        self.content = content

    def __iter__(self):
        yield self.content


def post(url, content):
    return httpx.post(f"{url}/v1/plan", content=content, headers={**KEY, **JSON})


def until(ask, status):
    """Ask until the answer has *status*: what another connection sends arrives in its own time."""
    for _ in range(200):
        answer = ask()
        if answer.status_code == status:
            return answer
        time.sleep(0.02)
    raise AssertionError(answer.text)


def test_a_body_of_exactly_the_limit_is_taken(rest, script):
    """A2: a body of exactly the limit is taken."""
    script.answers["Plan"] = PLANNED
    frame = len(json.dumps({"question": ""}))
    body = json.dumps({"question": "q" * (LIMIT - frame)})
    assert len(body) == LIMIT
    assert rest.post("/v1/plan", content=body, headers=JSON).status_code == 200
    assert rest.post("/v1/plan", content=body + " ", headers=JSON).status_code == 413


def test_an_answer_may_be_larger_than_a_request(rest, script):
    """A2: a source's text of 6 MB comes through; what the planner sends is the planner's to limit."""
    text = "日" * 2_000_000
    script.answers["GetSource"] = memory_pb2.GetSourceResponse(source=A_SOURCE, text=text)
    assert rest.get("/v1/memory/sources/x?includeText=true").json()["text"] == text


def test_the_deadline_travels_to_the_planner():
    """A1: the planner knows how long its answer is of use."""
    script = Script(answers={"Plan": PLANNED})
    with running(script, timeout_ms=500_000) as url:
        httpx.post(f"{url}/v1/plan", json={"question": "q"}, headers=KEY, timeout=60)
    assert script.seconds_left is not None
    assert 400 < script.seconds_left < 501


def test_a_planner_that_hangs_is_a_504_in_time():
    """A1: the gateway's own limit ends a call that nobody answers, and the call at the planner."""
    script = Script(hang=True)
    with running(script, timeout_ms=1000) as url:
        answer = httpx.post(f"{url}/v1/plan", json={"question": "q"}, headers=KEY, timeout=25)
        assert (answer.status_code, answer.json()["code"]) == (504, "DEADLINE_EXCEEDED")
        assert script.cancelled.wait(60)


def test_a_body_that_dawdles_is_a_408():
    """A2: a body that dawdles is a 408."""
    script = Script()
    with running(script, timeout_ms=300) as url:
        address = urlsplit(url)
        with socket.create_connection((address.hostname, address.port), timeout=30) as wire:
            wire.sendall(HEAD + b"content-length: 20\r\n\r\n{")
            answer = read(wire)
    assert answer.startswith("HTTP/1.1 408 ")
    assert script.asked == {}


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nx: ",
        b"GET /",
        WHOLE + b"GET / HTTP/1.1\r\nx: ",
    ],
    ids=["a header", "a path", "the second request of a connection"],
)
def test_a_head_that_does_not_end_is_refused_while_it_comes(rest, script, head):
    """A1: nobody, with or without a key, can fill the gateway's memory with a head."""
    script.answers["Plan"] = PLANNED
    url = urlsplit(str(rest.base_url))
    sent, received = 0, b""
    with socket.create_connection((url.hostname, url.port), timeout=30) as wire:
        wire.sendall(head)
        try:
            while sent < 64 * 1024 * 1024:
                wire.sendall(b"x" * 65536)
                sent += 65536
        except ConnectionError:
            pass
        try:
            while piece := wire.recv(65536):
                received += piece
        except ConnectionError:
            pass
    assert sent < 16 * 1024 * 1024  # what the two sockets' own buffers hold
    assert not received or b"HTTP/1.1 431 " in received


@pytest.mark.parametrize(
    "nonsense", [b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", WHOLE.replace(b": 16", b": -1"), b"GET / HTTP/9.9\r\n\r\n"]
)
def test_what_is_no_http_gets_a_problem_too(nonsense):
    """A2: bytes of another protocol, a broken head or an impossible length."""
    script = Script()
    # A gateway of its own: a call of a connection that was cut off in another test may still be on its way.
    with running(script) as base:
        url = urlsplit(base)
        with socket.create_connection((url.hostname, url.port), timeout=30) as wire:
            wire.sendall(nonsense)
            answer = read(wire)
    assert answer.startswith("HTTP/1.1 400 Bad Request\r\n")
    assert "content-type: application/problem+json" in answer
    assert json.loads(answer[answer.index("{") :])["code"] == "INVALID_REQUEST"
    assert script.asked == {}


@pytest.mark.parametrize(
    "begin",
    [[b""], [b"POST /v1/plan HTTP/1.1\r\nho"], [WHOLE, b"\r\n"], [WHOLE, b"POST /v1"], [WHOLE + b"POST /v1"]],
    ids=["silent", "first head", "blank lines after an answer", "head after an answer", "pipelined head"],
)
def test_a_connection_that_does_not_say_what_it_wants_is_closed(rest, script, monkeypatch, begin):
    """A1: connections that wait for nothing are not kept."""
    monkeypatch.setattr(connection, "HEAD_S", 0.3)
    script.answers["Plan"] = PLANNED
    url = urlsplit(str(rest.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=30) as wire:
        for index, piece in enumerate(begin):
            if index:
                read(wire)
            wire.sendall(piece)
        while wire.recv(65536):  # else it raises TimeoutError
            pass


def test_the_time_for_a_head_does_not_run_while_an_answer_is_awaited(rest, script, monkeypatch):
    """A1: a request of which only a part has arrived does not end the one before it."""
    monkeypatch.setattr(connection, "HEAD_S", 0.2)
    script.hang = True
    url = urlsplit(str(rest.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=1) as wire:
        wire.sendall(WHOLE + WHOLE + b"POST /v1")
        assert script.started.wait(60)
        with pytest.raises(TimeoutError):
            wire.recv(65536)
        assert not script.cancelled.is_set()


@pytest.mark.parametrize(
    "head",
    [
        WHOLE,
        b"GET /v1/traces HTTP/1.1\r\nhost: x\r\nauthorization: Bearer telha_key\r\n\r\n",
    ],
)
def test_a_caller_that_leaves_cancels_the_call(rest, script, head):
    """A1: work for nobody stops at the planner too."""
    script.hang = True
    url = urlsplit(str(rest.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=30) as wire:
        wire.sendall(head)
        assert script.started.wait(60)
        assert not script.cancelled.is_set()
    assert script.cancelled.wait(60)


def test_two_requests_of_one_connection_in_a_row(rest, script):
    """A2: the watch for a leaving caller takes nothing from the request that follows."""
    script.answers["Plan"] = PLANNED
    url = urlsplit(str(rest.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=30) as wire:
        wire.sendall(WHOLE + WHOLE)
        received = b""
        while received.count(b"HTTP/1.1 200") < 2:
            piece = wire.recv(65536)
            assert piece
            received += piece


def test_health_is_the_gateways_and_readiness_the_planners(rest, script):
    """A8: liveness apart from readiness."""
    assert rest.get("/healthz").json() == {"status": "live"}
    assert rest.get("/readyz").json() == {"status": "ready"}
    script.serving = False
    assert rest.get("/healthz").status_code == 200
    answer = rest.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (503, "UNAVAILABLE")
    assert answer.headers["retry-after"] == "1"


def test_a_planner_that_is_away_is_a_503_and_is_found_again_when_it_is_back(rest, script):
    """A2: an unreachable planner is UNAVAILABLE with advice to retry."""
    script.fail(grpc.StatusCode.UNAVAILABLE)
    answer = rest.post("/v1/plan", json={"question": "q"})
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (503, "UNAVAILABLE", "1")
    script.failure = None
    script.answers["Plan"] = PLANNED
    assert rest.post("/v1/plan", json={"question": "q"}).status_code == 200


def test_the_front_page_says_where_to_read_on(rest):
    """A2: the front page says where to read on."""
    answer = rest.get("/")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "/openapi.json" in answer.text
    assert len(answer.text.splitlines()) == 2

"""Documents that are sent as they are: passed on while they come, and refused while they come."""

import json
import socket
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
from gateway_server import Script, running
from planner_server import RealPlanner
from rest_contract import check
from telha.memory.v1 import memory_pb2
from telha_gateway import connection

Code = grpc.StatusCode
SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
PATH = "/v1/memory/documents"
PLAIN = {"content-type": "text/plain"}
DONE = memory_pb2.IngestStreamResponse(
    document=memory_pb2.IngestedDocument(
        source_id=SOURCE, source_version_tx=7, outcome=memory_pb2.INGEST_OUTCOME_CREATED, spans=3, nodes_opened=4
    ),
    tx_us=7,
)
TEXT = "Der Nachtzug hält um zwei. 夜行列車は二時に止まる。 הרכבת 🧑‍🚀\n\n" * 3000


def test_a_document_is_passed_on_as_it_comes(rest, script):
    """M8: header first, then the very bytes, larger than any body may be, in pieces."""
    script.answers["IngestStream"] = DONE
    content = TEXT.encode()
    assert len(content) > 4 * 64 * 1024
    answer = rest.post(
        PATH,
        params={
            "name": "zug.md",
            "uri": "file:///zug.md",
            "space": "s/1",
            "sourceId": SOURCE,
            "validFrom": "2026-06-01T00:00:00Z",
        },
        content=content,
        headers={"content-type": "Text/Markdown; charset=UTF-8", "idempotency-key": "k-1"},
    )
    assert answer.json() == {
        "document": {
            "sourceId": SOURCE,
            "sourceVersionTx": 7,
            "outcome": "created",
            "spans": 3,
            "nodesOpened": 4,
            "nodesClosed": 0,
            "nodesKept": 0,
        },
        "txTime": 7,
    }
    header, *chunks = script.asked["IngestStream"]
    assert header.header == memory_pb2.IngestStreamHeader(
        source_id=SOURCE,
        name="zug.md",
        uri="file:///zug.md",
        space="s/1",
        media_type="text/markdown",
        valid_from_us=1780272000000000,
        content_bytes=len(content),
        idempotency_key="k-1",
    )
    assert b"".join(chunk.chunk for chunk in chunks) == content
    assert max(len(chunk.chunk) for chunk in chunks) <= 256 * 1024


def test_a_stream_without_a_length_is_taken_too(rest, script):
    """M8: the length is stated where it is known; the ending of the name decides for bytes that say nothing."""
    script.answers["IngestStream"] = DONE
    headers = {"content-type": "application/octet-stream"}
    assert rest.post(f"{PATH}?name=a.html", content=iter([b"<p>", b"", b"a"]), headers=headers).status_code == 200
    header, *chunks = script.asked["IngestStream"]
    assert not header.header.HasField("content_bytes")
    assert header.header.media_type == ""
    assert b"".join(chunk.chunk for chunk in chunks) == b"<p>a"
    assert all(chunk.chunk for chunk in chunks)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 415),
        ({"content-type": "application/pdf"}, 415),
        ({"content-type": "text/plain; charset=latin-1"}, 415),
        ({**PLAIN, "content-encoding": "gzip"}, 415),
        ({**PLAIN, "idempotency-key": ""}, 400),
    ],
)
def test_what_cannot_be_read_is_refused_before_it_is_sent_on(rest, script, headers, status):
    """A2: what cannot be read is refused before it is sent on."""
    answer = rest.post(f"{PATH}?name=a", content=b"x", headers=headers)
    assert answer.status_code == status
    assert script.asked == {}


@pytest.mark.parametrize("query", ["", "?name=a&surprise=1", "?name=a&name=b", "?name=a&validFrom=yesterday"])
def test_what_is_said_of_it_is_checked_first(rest, script, query):
    """C3: parameters are as strict here as anywhere."""
    assert rest.post(PATH + query, content=b"x", headers=PLAIN).status_code == 400
    assert script.asked == {}


@pytest.mark.parametrize(
    ("code", "reason", "field", "status", "pointer"),
    [
        (Code.RESOURCE_EXHAUSTED, "DOCUMENT_TOO_LARGE", "header.content_bytes", 413, ""),
        (Code.RESOURCE_EXHAUSTED, "DOCUMENT_TOO_LARGE", "chunk", 413, ""),
        (Code.INVALID_ARGUMENT, "INVALID_REQUEST", "header.name", 400, "/name"),
        (Code.INVALID_ARGUMENT, "INVALID_REQUEST", "header.valid_from_us", 400, "/validFrom"),
        (Code.INVALID_ARGUMENT, "INVALID_REQUEST", "content", 400, ""),
        (Code.FAILED_PRECONDITION, "IDEMPOTENCY_KEY_REUSED", "idempotency_key", 422, "/Idempotency-Key"),
    ],
)
def test_a_planner_that_has_seen_enough_is_heard_at_once(rest, script, code, reason, field, status, pointer):
    """M8, A1: a refusal ends the exchange before the rest of the document is taken."""
    script.fail(code, reason, field=field, rule="must be better")
    with sending(rest) as wire:
        wire.sendall(b"x" * 1000)
        problem = answer_of(wire, status)
        assert (problem["code"], problem["pointer"]) == (reason, pointer)
        for _ in range(200):
            wire.sendall(b"x" * 65536)  # what is still on its way passes by, and is no head of another request
        wire.setblocking(False)
        with pytest.raises(BlockingIOError):
            wire.recv(1)


def test_who_goes_on_sending_after_a_refusal_is_cut_off(rest, script, monkeypatch):
    """A1: the rest of a refused body has as long as a head has."""
    monkeypatch.setattr(connection, "HEAD_S", 0.3)
    script.fail(Code.RESOURCE_EXHAUSTED, "DOCUMENT_TOO_LARGE")
    with sending(rest) as wire:
        wire.sendall(b"x" * 1000)
        assert answer_of(wire, 413)["code"] == "DOCUMENT_TOO_LARGE"
        with pytest.raises(ConnectionError):
            go_on(wire)


def go_on(wire):
    for _ in range(200):
        wire.sendall(b"x" * 65536)
        time.sleep(0.02)


@contextmanager
def sending(rest):
    """A connection on which a document of 1 GB has begun."""
    url = urlsplit(str(rest.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=30) as wire:
        wire.sendall(
            b"POST /v1/memory/documents?name=a HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\n"
            b"content-type: text/plain\r\ncontent-length: 1000000000\r\n\r\n"
        )
        yield wire


def answer_of(wire, status):
    """The problem document that comes while the document is still being sent."""
    received = b""
    while not received.endswith(b"}"):
        received += wire.recv(65536)
    assert received.startswith(b"HTTP/1.1 %d " % status)
    return json.loads(received[received.index(b"{") :])


def test_a_caller_that_leaves_in_the_middle_leaves_nothing(rest, script):
    """M8: a broken stream is cancelled at the planner, never ended as if it were whole."""
    script.settle_s = 2.0
    with sending(rest) as wire:
        wire.sendall(b"half")
        for _ in range(500):
            if len(script.asked.get("IngestStream", ())) == 2:
                break
            time.sleep(0.01)
    assert script.cancelled.wait(60)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A real planner behind a real gateway, whose JSON bodies may have 64 KiB."""
    with (
        RealPlanner(tmp_path_factory.mktemp("uploads")) as planner,
        running(Script(), planner=planner.address, max_body_bytes=64 * 1024) as url,
        httpx.Client(
            base_url=url,
            headers={"authorization": f"Bearer {planner.key()}"},
            timeout=60,
            event_hooks={"response": [check]},
        ) as client,
    ):
        yield client


def test_a_large_document_goes_in_and_comes_out(real):
    """M8: sent as it is, twice with one key, read back whole and piece by piece."""
    answers = [
        real.post(f"{PATH}?name=zug.txt", content=TEXT.encode(), headers={**PLAIN, "idempotency-key": "one"})
        for _ in range(2)
    ]
    first, second = (answer.json() for answer in answers)
    assert second == {**first, "replayed": True}
    place = f"/v1/memory/sources/{first['document']['sourceId']}"
    assert real.get(place, params={"includeText": "true"}).json()["text"] == TEXT
    piece = real.get(place, params={"includeText": "true", "textStart": 0, "textLimit": 10}).json()["text"]
    assert TEXT.startswith(piece)
    assert 0 < len(piece.encode()) <= 13


@pytest.mark.parametrize(
    ("content", "headers", "pointer", "rule"),
    [
        (b"", PLAIN, "", "blank"),
        (b"\xff", PLAIN, "", "UTF-8"),
        (b"a\0", PLAIN, "", "U+0000"),
        (b"{", {"content-type": "application/json"}, "", "truncated"),
    ],
)
def test_a_bad_document_names_the_body(real, content, headers, pointer, rule):
    """C7: what is wrong with the bytes is a fault of the body as a whole."""
    problem = real.post(f"{PATH}?name=a", content=content, headers=headers).json()
    assert (problem["code"], problem["pointer"]) == ("INVALID_REQUEST", pointer)
    assert rule in problem["detail"]

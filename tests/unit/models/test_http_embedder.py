"""The embedder that asks an OpenAI-compatible endpoint: what it sends, what it believes, and when it asks again."""

import gzip
import json
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

import numpy as np
import pytest
from embedding_endpoint import Endpoint, slow, status, told
from telha_planner.models.embedders.http import ATTEMPTS, REST_S, TEXTS_PER_REQUEST, Http
from telha_planner.models.embedders.seam import EmbedderFailed, Model

MODEL = Model("some-model", 64, 0.1)
DATE = "Mon, 01 Jan 2024 00:00:00"
SECRET = "sk-very-secret"
TEXT = "a text that nobody else may see 🤫"


class Clock:
    """Time that only passes while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Endpoint() as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def embedder(endpoint: Endpoint, clock: Clock) -> Iterator[Http]:
    made = Http(MODEL, endpoint.url, timeout_s=5.0, key=SECRET, sleep=clock.sleep, now=clock, wall=clock)
    yield made
    made.close()


def failure(embedder: Http, *, question: bool = True) -> str:
    with pytest.raises(EmbedderFailed) as failed:
        embedder.question(TEXT) if question else embedder.passages([TEXT])
    assert TEXT not in str(failed.value)
    assert SECRET not in str(failed.value)
    return str(failed.value)


def test_texts_go_out_in_order_and_vectors_come_back_in_order(endpoint: Endpoint, embedder: Http) -> None:
    """M2: a vector belongs to its text, however the endpoint orders its answer."""
    texts = [f"text {number} 二" for number in range(TEXTS_PER_REQUEST + 3)]
    vectors = embedder.passages(texts)
    assert endpoint.texts == texts
    assert [len(body["input"]) for body in endpoint.bodies] == [TEXTS_PER_REQUEST, 3]
    for vector, expected in zip(vectors, endpoint.embedder.passages(texts), strict=True):
        assert vector.dtype == np.float32
        assert vector.tobytes() == expected.tobytes()
    assert endpoint.bodies[0]["model"] == "some-model"
    assert endpoint.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert embedder.question("text 1 二").tobytes() == vectors[1].tobytes()


def test_without_a_key_none_is_sent_and_a_long_text_goes_by_its_head(endpoint: Endpoint) -> None:
    """M2: what the model cannot read anyway stays at home."""
    embedder = Http(MODEL, endpoint.url, timeout_s=5.0)
    embedder.question("二" * 10_000)
    assert "authorization" not in endpoint.headers[0]
    assert endpoint.texts == ["二" * embedder.head_characters]
    embedder.close()


def packed(content: bytes, encoding: str) -> Any:
    return lambda _: (200, {"content-encoding": encoding}, content)


GOOD = [0.5] * 64
NOT_VECTORS: list[tuple[Any, str]] = [
    (lambda _: (200, {}, b"<html>busy</html>"), "something else than JSON"),
    (lambda _: (200, {}, b"\xff\xfe"), "something else than JSON"),
    (lambda _: (200, {}, b"[" * 100_000), "something else than JSON"),
    (lambda _: (200, {}, b'{"data": 1}'), "without a list of vectors"),
    (lambda _: (200, {}, b"[]"), "without a list of vectors"),
    (lambda _: told([]), "0 vectors for 1 texts"),
    (lambda _: told([{"index": 0, "embedding": GOOD}] * 2), "2 vectors for 1 texts"),
    (lambda _: told([{"index": 1, "embedding": GOOD}]), "out of place"),
    (lambda _: told([{"index": "0", "embedding": GOOD}]), "out of place"),
    (lambda _: told([{"index": 0, "embedding": GOOD[1:]}]), "63 values where its model has 64"),
    (lambda _: told([{"index": 0, "embedding": [*GOOD[1:], "1"]}]), "not a list of numbers"),
    (lambda _: told([{"index": 0, "embedding": [*GOOD[1:], True]}]), "not a list of numbers"),
    (lambda _: told([{"index": 0, "embedding": None}]), "not a list of numbers"),
    (lambda _: told([{"index": 0, "embedding": [*GOOD[1:], 1e300]}]), "not finite"),
    (lambda _: told([{"index": 0, "embedding": [0.0] * 64}]), "zero vector"),
    (lambda _: (200, {}, json.dumps({"data": [{"embedding": [*GOOD[1:], float("nan")]}]}).encode()), "than JSON"),
    (lambda _: (200, {}, b" " * (3 << 20)), "more than its vectors can need"),
    (lambda _: told([{"index": 0, "embedding": [*GOOD[1:], 10**400]}]), "no vector holds"),
    (packed(gzip.compress(b" " * (3 << 20)), "gzip"), "more than its vectors can need"),
    (packed(gzip.compress(gzip.compress(b" " * (64 << 20))), "gzip, gzip"), "an encoding that it was not asked for"),
    (packed(b"[]", "br"), "an encoding that it was not asked for"),
    (packed(b"[]", "gzip"), "what is no gzip"),
    (status(400), "answered 400"),
    (status(401), "answered 401"),
    (status(404), "answered 404"),
    (status(301, location="http://127.0.0.1:9/elsewhere"), "answered 301"),
]


@pytest.mark.parametrize(("answer", "told_as"), NOT_VECTORS)
def test_an_answer_that_is_no_vector_is_refused_at_once(
    endpoint: Endpoint, embedder: Http, answer: Any, told_as: str
) -> None:
    """C2: count, length, finiteness and form are checked; what cannot get better is not tried again."""
    endpoint.faults = [answer, answer]
    assert told_as in failure(embedder)
    assert len(endpoint.bodies) == 1


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(endpoint: Endpoint, embedder: Http, clock: Clock, code: int) -> None:
    """C2: with pauses that grow."""
    endpoint.faults = [status(code), status(code), lambda _: None]
    assert embedder.question(TEXT).shape == (64,)
    assert clock.slept == [0.2, 0.4, 0.8]


def test_retry_after_is_honoured_in_both_forms(endpoint: Endpoint, embedder: Http, clock: Clock) -> None:
    """C2: seconds or a date."""
    endpoint.faults = [status(429, retry_after="2"), status(503, retry_after=formatdate(clock.now + 4, usegmt=True))]
    assert embedder.question(TEXT).shape == (64,)
    assert clock.slept == [2.0, 2.0]


@pytest.mark.parametrize("told_when", ["soon", "²", f"Mon, 01 Jan {10**20} 00:00:00 GMT", f"{DATE} +{10**18}"])
def test_a_retry_after_that_says_nothing_is_passed_over(
    endpoint: Endpoint, embedder: Http, clock: Clock, told_when: str
) -> None:
    """C2: whatever stands there, it is the endpoint that failed, and not us."""
    endpoint.faults = [status(429, retry_after=told_when)]
    assert embedder.question(TEXT).shape == (64,)
    assert clock.slept == [0.2]


def test_vectors_may_come_packed(endpoint: Endpoint, embedder: Http) -> None:
    """M2: as gzip, which halves them; unpacked they are the same."""

    def answer(body: dict[str, Any]) -> Any:
        code, headers, content = endpoint.vectors(body)
        return code, headers | {"content-encoding": "gzip"}, gzip.compress(content)

    endpoint.faults = [answer]
    assert embedder.question(TEXT).tobytes() == embedder.question(TEXT).tobytes()
    assert endpoint.headers[0]["accept-encoding"] == "gzip"


def test_a_question_does_not_wait_longer_than_its_timeout(endpoint: Endpoint, embedder: Http, clock: Clock) -> None:
    """C2: an endpoint that asks for more patience than a caller has is skipped without waiting."""
    endpoint.faults = [status(429, retry_after="60")]
    assert failure(embedder) == "the embedding endpoint answered 429"
    assert clock.slept == []
    endpoint.faults = [status(500)] * 20
    assert failure(embedder) == "the embedding endpoint answered 500"
    assert clock.now < 1005.0


def test_passages_are_patient_but_not_for_ever(endpoint: Endpoint, embedder: Http, clock: Clock) -> None:
    """M2: an ingest that is asked to wait waits, up to a limit."""
    endpoint.faults = [status(429, retry_after="20")]
    assert len(embedder.passages([TEXT])) == 1
    assert clock.slept == [20.0]
    endpoint.faults = [status(503)] * 20
    assert failure(embedder, question=False) == "the embedding endpoint answered 503"
    assert len(endpoint.bodies) == 2 + ATTEMPTS
    clock.now += REST_S
    endpoint.faults = [status(429, retry_after="3600")]
    assert failure(embedder, question=False) == "the embedding endpoint answered 429"


def test_what_follows_a_failure_does_not_wait_as_long_again(endpoint: Endpoint, embedder: Http, clock: Clock) -> None:
    """M5: writes are made one after the other; one that is away must not hold up erasures for each of them."""
    endpoint.faults = [status(503)] * ATTEMPTS
    failure(embedder, question=False)
    tried, began = len(endpoint.bodies), clock.now
    assert [failure(embedder, question=False) for _ in range(32)] == ["the embedding endpoint failed a moment ago"] * 32
    assert clock.now == began
    assert len(endpoint.bodies) == tried == ATTEMPTS
    assert embedder.question(TEXT).shape == (64,)  # questions have their own patience
    clock.now += REST_S
    assert len(embedder.passages([TEXT])) == 1
    assert len(embedder.passages([TEXT])) == 1


def test_nothing_of_a_request_is_logged(endpoint: Endpoint, embedder: Http, caplog: pytest.LogCaptureFixture) -> None:
    """A8: neither text nor key nor address, whatever the level."""
    caplog.set_level("DEBUG")
    endpoint.faults = [status(500)]
    embedder.question(TEXT)
    assert caplog.text == ""


def test_an_endpoint_that_is_slow_or_away_says_so(endpoint: Endpoint) -> None:
    """C2: in time."""
    impatient = Http(MODEL, endpoint.url, timeout_s=0.15)
    endpoint.faults = [slow(0.5, endpoint.vectors)] * 5
    assert failure(impatient) == "the embedding endpoint did not answer in time"
    impatient.close()
    away = Http(MODEL, "http://127.0.0.1:9/v1/embeddings", timeout_s=2)
    assert failure(away) == "the embedding endpoint cannot be reached"
    away.close()
    wrong = Http(MODEL, "no address at all", timeout_s=2)
    assert failure(wrong) == "the embedding endpoint cannot be reached"
    wrong.close()

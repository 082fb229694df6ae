"""
The embedder `http`: any OpenAI-compatible endpoint, `{"model", "input": […]}` in, `{"data": [{"embedding"}]}` out.

Rule 1: an answer is believed when it is JSON and has one vector for each text, finite and as long as configured.
Rule 2: 429, 5xx and a connection that fails are tried again, as the endpoint's `Retry-After` says or after a growing
pause. A question's repetitions must fit into its timeout, since somebody waits; passages are more patient. Where that
was in vain, passages that follow within a moment fail at once: they are in one queue with every other write, erasures
included, and each would hold it up for a minute.
Rule 3: neither texts nor the key appear in a message or a log, and redirects are not followed: a text goes to the
address that the operator named and to no other.
"""

import logging
import math
import time
import zlib
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import msgspec

from .seam import EmbedderFailed, Model, Vector, checked

TEXTS_PER_REQUEST = 64
ATTEMPTS = 5
"""Of a request with passages."""
FIRST_PAUSE_S = 0.2
REST_S = 5.0
"""How long no passages are sent after an endpoint has failed every attempt."""
LONGEST_PAUSE_S = 30.0
"""Longest `Retry-After` that ingestion waits for."""
AGAIN = frozenset({429, 500, 502, 503, 504})
_BYTES_PER_VALUE = 32
_ENVELOPE = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS


class Http:
    """
    The embedder `http`; see `Embedder`.

    Args:
        timeout_s: Of one request; of a question with all its repetitions.
        key: Bearer token; empty sends none.
        sleep, now, wall: The clocks, for tests.
    """

    head_characters = 4096  # at two tokens each, the worst that is common, within the 8,191 tokens of usual endpoints
    parallel = 8

    def __init__(
        self,
        model: Model,
        url: str,
        *,
        timeout_s: float,
        key: str = "",
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.model = model
        self._url = url
        self._timeout_s = timeout_s
        self._sleep, self._now, self._wall = sleep, now, wall
        for library in ("httpx", "httpcore"):
            # They tell of every request, address and headers included.
            logging.getLogger(library).setLevel(logging.CRITICAL)
        headers = {"accept-encoding": "gzip"} | ({"authorization": f"Bearer {key}"} if key else {})
        self._rests_until = -math.inf
        self._client = httpx.Client(headers=headers, timeout=timeout_s, follow_redirects=False)

    def load(self) -> None:
        """Nothing to get ready."""

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), TEXTS_PER_REQUEST):
            vectors += self._ask(texts[start : start + TEXTS_PER_REQUEST], None)
        return vectors

    def question(self, text: str) -> Vector:
        """The vector of *text*; questions and passages are embedded alike."""
        return self._ask([text], self._now() + self._timeout_s)[0]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, texts: Sequence[str], deadline: float | None) -> list[Vector]:
        body = {
            "model": self.model.name,
            "input": [text[: self.head_characters] for text in texts],
            "encoding_format": "float",
        }
        attempt = 0
        if deadline is None and self._now() < self._rests_until:
            raise EmbedderFailed("the embedding endpoint failed a moment ago")
        while True:
            attempt += 1
            left = self._timeout_s if deadline is None else deadline - self._now()
            status, content, pause = self._post(body, left, len(texts))
            if status == httpx.codes.OK:
                return _vectors(content, len(texts), self.model.dimensions)
            failed = EmbedderFailed(f"the embedding endpoint {_TOLD.get(status) or f'answered {status}'}")
            if status not in AGAIN and status not in _TOLD:
                raise failed
            wait = FIRST_PAUSE_S * 2 ** (attempt - 1) if pause is None else pause
            if deadline is None:
                hopeless = attempt == ATTEMPTS or wait > LONGEST_PAUSE_S
            else:
                hopeless = self._now() + wait >= deadline
            if hopeless:
                if deadline is None:
                    self._rests_until = self._now() + REST_S
                raise failed
            self._sleep(wait)

    def _post(self, body: dict[str, Any], timeout_s: float, count: int) -> tuple[int, bytes, float | None]:
        most = _ENVELOPE + count * self.model.dimensions * _BYTES_PER_VALUE
        deadline = self._now() + timeout_s
        content = bytearray()
        try:
            with self._client.stream("POST", self._url, json=body, timeout=max(timeout_s, 0.001)) as response:
                # Read by hand: an endpoint that sends a byte now and then would never time out otherwise.
                for chunk in response.iter_raw():
                    content += chunk
                    if len(content) > most:
                        raise _too_much()
                    if self._now() > deadline:
                        return _LATE, b"", None
                pause = self._pause(response.headers.get("retry-after"))
                if response.status_code != httpx.codes.OK:
                    return response.status_code, b"", pause
                return response.status_code, _unpacked(content, response.headers.get("content-encoding"), most), pause
        except httpx.TimeoutException:
            return _LATE, b"", None
        except (httpx.HTTPError, httpx.InvalidURL):
            return _AWAY, b"", None

    def _pause(self, told: str | None) -> float | None:
        """`Retry-After` in seconds: a number, or an HTTP date."""
        if told is None:
            return None
        if told.strip().isdecimal():
            return float(told.strip())
        try:
            return max(0.0, parsedate_to_datetime(told).timestamp() - self._wall())
        except (TypeError, ValueError, OverflowError):
            return None


_LATE, _AWAY = -1, -2
_TOLD = {_LATE: "did not answer in time", _AWAY: "cannot be reached"}


def _too_much() -> EmbedderFailed:
    return EmbedderFailed("the embedding endpoint answered more than its vectors can need")


def _unpacked(content: bytes | bytearray, encoding: str | None, most: int) -> bytes:
    """*content* without its encoding. The client's own unpacking has no limit: a few kilobytes can fill all memory."""
    if encoding in {None, "identity"}:
        return bytes(content)
    if encoding != "gzip":
        raise EmbedderFailed("the embedding endpoint answered in an encoding that it was not asked for")
    try:
        whole = zlib.decompressobj(_GZIP).decompress(content, most + 1)
    except zlib.error:
        raise EmbedderFailed("the embedding endpoint answered what is no gzip") from None
    if len(whole) > most:
        raise _too_much()
    return whole


def _vectors(content: bytes, count: int, dimensions: int) -> list[Vector]:
    try:
        told = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise EmbedderFailed("the embedding endpoint answered something else than JSON") from None
    data = told.get("data") if isinstance(told, dict) else None
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise EmbedderFailed("the embedding endpoint answered without a list of vectors")
    if len(data) != count:
        raise EmbedderFailed(f"the embedding endpoint answered {len(data)} vectors for {count} texts")
    places = [one.get("index", place) for place, one in enumerate(data)]
    if sorted(places, key=str) != sorted(range(count), key=str):
        raise EmbedderFailed("the embedding endpoint answered vectors out of place")
    by_place = {place: one.get("embedding") for place, one in zip(places, data, strict=True)}
    return [_vector(by_place[place], dimensions) for place in range(count)]


def _vector(values: object, dimensions: int) -> Vector:
    if not isinstance(values, list) or not all(type(value) in {int, float} for value in values):
        raise EmbedderFailed("the embedding endpoint answered a vector that is not a list of numbers")
    try:
        return checked(values, dimensions)
    except OverflowError:  # an integer with hundreds of digits
        raise EmbedderFailed("the embedding endpoint answered a number that no vector holds") from None

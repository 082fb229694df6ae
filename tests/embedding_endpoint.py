"""An OpenAI-compatible embeddings endpoint on loopback, and the faults that such endpoints have."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from counting_embedder import CountingEmbedder

Answer = tuple[int, dict[str, str], bytes]


class Endpoint:
    """
    Serves until the `with` block ends.

    Attributes:
        faults: What the next requests get instead of vectors, in order; each may be any answer or do anything.
        bodies, headers: Of the requests so far.
    """

    def __init__(self, dimensions: int = 64) -> None:
        self.embedder = CountingEmbedder(dimensions=dimensions)
        self.faults: list[Callable[[dict[str, Any]], Answer | None]] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.bodies.append(body)
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                fault = endpoint.faults.pop(0) if endpoint.faults else endpoint.vectors
                answer = fault(body)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, content = answer
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the caller had enough

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1/embeddings"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def texts(self) -> list[str]:
        """Every text that it was sent."""
        return [text for body in self.bodies for text in body["input"]]

    def vectors(self, body: dict[str, Any]) -> Answer:
        """The right answer, its vectors in reverse: their `index` says which is whose."""
        found = [vector.tolist() for vector in self.embedder.passages(body["input"])]
        return told([{"index": place, "embedding": values} for place, values in enumerate(found)][::-1])


def told(data: Sequence[Any]) -> Answer:
    """An answer with *data*."""
    return 200, {"content-type": "application/json"}, json.dumps({"object": "list", "data": data}).encode()


def status(code: int, **headers: str) -> Callable[[dict[str, Any]], Answer]:
    """Answer with a page in HTML, as proxies do."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: (code, named, b"<html><body>no</body></html>")


def held(until: threading.Event, then: Callable[[dict[str, Any]], Answer]) -> Callable[[dict[str, Any]], Answer]:
    """Answer as *then* does, once *until* is set."""

    def answer(body: dict[str, Any]) -> Answer:
        assert until.wait(60)
        return then(body)

    return answer


def slow(seconds: float, then: Callable[[dict[str, Any]], Answer]) -> Callable[[dict[str, Any]], Answer]:
    """Answer as *then* does, late."""

    def answer(body: dict[str, Any]) -> Answer:
        time.sleep(seconds)
        return then(body)

    return answer

"""A trace is found right after its call, of every kind, whichever part of the way to the store stands still."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psutil
import pytest
from running_telha import Up, start
from telha_client import Client, Document, Fragment, InsufficientEvidence, Span, Trace, Unavailable

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

NOTES = "# Harbour\n\nThe night tram stops at two. 夜间电车两点停运。 🧑‍🚀\n\nהחשמלית עוצרת בשתיים, tram.\n"
QUESTION = "when does the night tram stop?"


class Asking:
    """
    Calls of all kinds, each trace read at once and compared with its answer.

    Attributes:
        trace_ids: Of every call so far.
    """

    def __init__(self, client: Client) -> None:
        self.trace_ids: list[str] = []
        self._client = client
        source = client.memory.ingest([Document(name="notes.md", content=NOTES)]).documents[0].source_id
        text = client.memory.source(source, include_text=True).text
        assert text is not None
        self._bytes = text.encode()

    def rounds(self, count: int) -> None:
        """Ask *count* times four questions."""
        for _ in range(count):
            plan = self._client.plan(QUESTION)
            self._check(plan.trace_id, "plan", [span.span for span in plan.spans], [s.text for s in plan.spans])
            context = self._client.memory.context(QUESTION)
            coordinates = [
                Span(i.source.source_id, i.source.source_version_tx, i.source.start, i.source.end)
                for i in context.items
            ]
            self._check(context.trace_id, "context", coordinates, [item.text for item in context.items])
            pool = [Fragment(span=Span(str(uuid4()), 7, 2, 5), text="的🧑", score=1.5) for _ in range(3)]
            selected = self._client.select(pool, max_tokens=900)
            trace = self._read(selected.trace_id, "select")
            spans = [span.span for span in selected.spans]
            assert trace.record["item_coords"] == [_row(span) for span in spans]
            assert len(spans) == 3 == selected.stats.recall.nodes == trace.record["stats"]["recall"]["nodes"]
            with pytest.raises(InsufficientEvidence) as refusal:
                self._client.plan("zyzzyva quokka")
            trace = self._read(refusal.value.trace_id, "plan")
            assert (trace.record["error"], trace.record["item_coords"]) == ("INSUFFICIENT_EVIDENCE", [])
            assert trace.record["request"] == {"question": "zyzzyva quokka"}

    def _check(self, trace_id: str, kind: str, spans: list[Span], texts: list[str]) -> None:
        coordinates = self._read(trace_id, kind).record["item_coords"]
        assert coordinates == [_row(span) for span in spans] != []
        assert [self._bytes[start:end].decode() for _, _, start, end in coordinates] == texts

    def _read(self, trace_id: str, kind: str) -> Trace:
        self.trace_ids.append(trace_id)
        trace = self._client.trace(trace_id)
        assert (trace.summary.trace_id, trace.summary.kind) == (trace_id, kind)
        return trace


def _row(span: Span) -> list[object]:
    return [span.source_id, span.source_version_tx, span.start, span.end]


def _answered(client: Client, trace_id: str) -> bool:
    """Whether the planner is back; an absent trace would raise `NotFound`."""
    try:
        client.trace(trace_id)
    except Unavailable:
        return False
    return True


def _part(up: Up, name: str) -> psutil.Process:
    return next(p for p in psutil.Process(up.process.pid).children() if any(name in word for word in p.cmdline()))


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    running = start(tmp_path)
    try:
        yield running
    finally:
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0


def test_every_trace_is_read_at_once_whatever_stands_still(up: Up) -> None:
    """X4, X1, R6: hundreds of calls with all in order, writer or Valkey stopped, and after a kill of the planner."""
    with Client(up.grpc, up.key) as client:
        asking = Asking(client)
        asking.rounds(30)
        for name in ("telha_trace_writer", "valkey-server"):
            part = _part(up, name)
            part.suspend()
            try:
                asking.rounds(15)
            finally:
                part.resume()
        _part(up, "valkey-server").suspend()
        asking.rounds(5)
        _part(up, "telha_planner").kill()
        # While the planner is away the client repeats its read; its first answer must have the trace.
        deadline = time.monotonic() + 60
        while not _answered(client, asking.trace_ids[-1]):
            assert time.monotonic() < deadline
        asking.rounds(2)
        _part(up, "valkey-server").resume()
        assert len(asking.trace_ids) == 4 * 67
        for trace_id in asking.trace_ids:
            assert client.trace(trace_id).summary.trace_id == trace_id

"""A document of nothing but structure: refused by its number of spans, early and cheaply, on every way into a span."""

from collections.abc import Callable

import pytest
from ingest_builders import a_document
from markdown_it.token import Token
from telha_planner.config import ServerSettings
from telha_planner.core.errors import RequestInvalid
from telha_planner.ingest import conversation, html, markdown, worker
from telha_planner.ingest import parse as parsing
from telha_planner.ingest.document import JSON_LINES, MAX_STREAMED_SPANS, DocumentHeader, DocumentInput, TooManySpans
from telha_planner.ingest.parse import parse

Made = Callable[[int], str]

SHAPES: dict[str, Made] = {
    "paragraphs": lambda n: "a\n\n" * n,
    "lines that end sentences": lambda n: "Yes.\n" * n,
    "list items": lambda n: "- a\n" * n,
    "quotes": lambda n: "> a\n\n" * n,
    "headings": lambda n: "# a\n" * n,
    "fences": lambda n: "```\na\n```\n" * n,
    "one endless word": lambda n: "x" * (1600 * n),
    "rows": lambda n: "|a|\n|-|\n" + "|b|\n" * (n - 1),
}


def _document(content: str, media_type: str) -> DocumentInput:
    return a_document(content, name="many", media_type=media_type)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("media_type", ["text/plain", "text/markdown"])
def test_as_many_spans_as_allowed_pass_and_one_more_does_not(shape: str, media_type: str) -> None:
    """M2: the bound counts base spans, whatever they came from; windows are not counted."""
    document = _document(SHAPES[shape](50), media_type)
    base = [span for span in parse(document, "acme").spans if span.kind != parsing.WINDOW_KIND]
    assert parse(document, "acme", len(base)) == parse(document, "acme")
    with pytest.raises(TooManySpans):
        parse(document, "acme", len(base) - 1)


@pytest.mark.parametrize("item", ["- a\n", "> a\n\n", "# a\n", "a\n\n", "1. > - a\n", "```\n```\n", "a\n=\n"])
def test_the_parser_stops_before_all_of_the_structure_is_in_memory(item: str) -> None:
    """M2: what a refused document costs is bounded by the limit, not by its size."""
    held = []

    class Counted(list[Token]):
        def append(self, token: Token) -> None:
            super().append(token)
            held.append(len(self))

    tokens = Counted()
    with pytest.raises(TooManySpans):
        markdown._parser().block.parse(item * 5000, markdown._parser(), {markdown._BOUND: 1000}, tokens)
    assert 1000 < held[-1] < 1100


@pytest.mark.parametrize(
    "piece", ["<p>a", "<li>a", "<table><tr><td>a<td>b</table>", "a<br><br>", "<h1>a</h1>", "<pre>a</pre>"]
)
def test_a_page_stops_before_all_of_it_is_laid_out(piece: str) -> None:
    """M2: blocks are counted while they are made."""
    html.parse(piece * 100, 100)
    with pytest.raises(TooManySpans):
        html.parse(piece * 101, 100)


def test_cells_of_one_row_are_counted() -> None:
    """M2: a row of a million cells is one span in the end, but not before."""
    with pytest.raises(TooManySpans):
        html.parse("x<table><tr>" + "<td>" * 201, 100)


def test_turns_are_counted() -> None:
    """M2: line by line."""
    turn = '{"speaker": "a", "text": "b"}\n'
    conversation.parse(turn * 100, "application/x-ndjson", 100)
    with pytest.raises(TooManySpans):
        conversation.parse(turn * 101, "application/x-ndjson", 100)


@pytest.mark.parametrize(
    ("unit", "media_type"),
    [
        ("a\n\n", "text/plain"),
        ("- a\n", "text/markdown"),
        ("<p>a", "text/html"),
        ('{"speaker": "a", "text": "b"}\n', JSON_LINES),
    ],
)
def test_a_streamed_document_may_have_more_spans_than_a_call(
    monkeypatch: pytest.MonkeyPatch, unit: str, media_type: str
) -> None:
    """M8: its own bound holds in every format, before and after it is cut."""
    monkeypatch.setattr(worker, "MAX_STREAMED_SPANS", 40)
    header = DocumentHeader(None, "a", None, "main", media_type, None)
    record = worker._streamed("acme", header, (unit * 40).encode())
    assert sum(span.kind != "section" for span in record.spans) == 40
    with pytest.raises(RequestInvalid, match="at most 40 spans"):
        worker._streamed("acme", header, (unit * 41).encode())
    if media_type != "text/plain":  # the parsers are told the bound that holds
        with pytest.raises(TooManySpans):
            parsing._read(unit * 90, media_type, 40)


def test_the_bound_of_a_call_is_shared_by_its_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """M3: many documents are no way around the bound; the one that goes beyond it is named."""
    monkeypatch.setattr(worker, "MAX_BASE_SPANS", 10)
    four = _document("a\n\n" * 4, "text/plain")
    assert len(worker._parsed("acme", [four, four])) == 2
    with pytest.raises(RequestInvalid) as caught:
        worker._parsed("acme", [four, four, four])
    assert caught.value.field == "documents[2].content"
    assert caught.value.rule == "must split into at most 2 spans; one call may write 10"


def test_documents_of_the_default_limit_are_below_the_bound() -> None:
    """M8: 64 MiB of list items and short paragraphs of 84 bytes pass as a stream."""
    assert ServerSettings().max_document_bytes // 84 < MAX_STREAMED_SPANS

"""Documents of every media type: what is accepted obeys the laws of M2."""

import json
from collections.abc import Callable, Iterator

from fuzz.target import Target, law
from ingest_builders import HTML_TAGS, MARKS, check_laws, check_record
from telha_planner.core.errors import RequestInvalid
from telha_planner.ingest.document import DocumentInput, TooManySpans
from telha_planner.ingest.parse import parse
from telha_planner.models.tokenizers import token_counts

_MARKDOWN = """---
title: T
---
# Deploys to eu-west

A *sign* off by [Ana](#deploys-to-eu-west), **now**.

- one
  - two `code`

> quote
> ```py
> x = 1
> ```

| a | b |
|---|---|
| 電車 | 👩‍🌾 |

Set
===

[r]: /u
<div>
x
</div>
"""
_FENCES = "1. a\n\n   b\n\n***\n\n~~~\nunclosed\n"
_HTML = """<!doctype html><html lang=pt><title>T</title><body><h1 id=a>Deploys</h1><p>Ana &amp; co <b>sign</b><br>off
<table><tr><th>who<th>when<tr><td>Ana<td>now</table><ul><li>one<ul><li>two</ul></ul><pre>
x = 1
</pre><a href='#a'>up</a><svg><title>no</title></svg><template>no</template>"""
_SOUP = "<p>a<!-- b --><script>c</script><style>d</style><textarea>e</textarea>&#x1F600;&notit;"
_CHAT = """{"turns": [
{"speaker": "Ana", "text": "hello", "time": "2026-06-30T12:00:00+02:00"}, {"speaker": "李雷", "text": "a\\nb"}
]}"""
_TURN = '{"speaker": "עומר", "text": "שלום", "time": 1780000000000000}\n'
_TURNS = _TURN + '\n{"speaker": "Ana", "text": "hello"}'


def _seeds(*texts: str) -> Callable[[], Iterator[bytes]]:
    return lambda: (text.encode() for text in texts)


def _parse(name: str, data: bytes) -> bool:
    try:
        document = DocumentInput(None, name, None, "main", None, data, None)
        record = parse(document, "acme", 20_000)
    except RequestInvalid as refused:
        law(refused.field == "content" and refused.rule, "a refusal names no field or rule")
        law(len(refused.rule) < 1024, "a rule quotes a whole document")
        return False
    except TooManySpans:
        return False
    if name.endswith((".md", ".txt")):
        check_laws(data.decode(), record)
    else:
        check_record(record)
    for span in record.spans[:50]:
        law(span.counts == token_counts(record.text[span.start : span.end].decode()), "a count is another text's")
    for node in record.nodes:
        json.loads(node.properties)
    if len(data) < 2000:
        law(parse(document, "acme") == record, "a document has two records")
    return True


TARGETS = (
    Target("markdown", "text", _seeds(_MARKDOWN, _FENCES), lambda data: _parse("a.md", data), tuple(MARKS)),
    Target("html", "text", _seeds(_HTML, _SOUP), lambda data: _parse("a.html", data), tuple(HTML_TAGS)),
    Target(
        "plain",
        "text",
        _seeds("one\n\ntwo 電車\r\n\r\nthree\u2028four"),
        lambda data: _parse("a.txt", data),
        ("\n\n", "\r", "\x0b", "\x1c", "\u2028", "\ufeff"),
    ),
    Target(
        "conversation",
        "json",
        _seeds(_CHAT, _TURN, _TURNS),
        lambda data: _parse("a.jsonl" if data[:9] != b'{"turns":' else "a.json", data),
        ("turns", "speaker", "text", "time"),
    ),
)

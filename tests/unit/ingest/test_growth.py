"""What documents cost as they grow: twice the size, about twice the time, whatever stands in them."""

import gc
import json
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from ingest_builders import a_document
from telha_planner.core.errors import RequestInvalid
from telha_planner.ingest.document import TooManySpans
from telha_planner.ingest.parse import parse

SMALL = 2_500
TIMES = 6
GROWTH = 2.5
"""Times as much as in proportion; a quadratic cost is six times as much, and measurements waver."""
FREE_S = 0.08

Made = Callable[[int], str]
"""A document of about so many characters."""

MARKDOWN: dict[str, Made] = {
    "quotes": lambda n: ">" * n + " x",
    "quoted lazily": lambda n: ">" * 100 + "a\n" + "b\n" * (n // 2),
    "lists of one more level": lambda n: "".join("  " * k + "- a\n" for k in range(int(n**0.5))),
    "ordered markers": lambda n: "1. " * (n // 3) + "x",
    "quotes and lists": lambda n: "> - " * (n // 4) + "x",
    "items over items": lambda n: "- a\n" + "  - b\n    - c\n" * (n // 15),
    "a list with tabs": lambda n: "-\t" * (n // 2) + "x",
    "emphasis": lambda n: "*_" * (n // 2) + "a" + "_*" * (n // 2),
    "emphasis inside words": lambda n: "_a__b" * (n // 5),
    "open brackets": lambda n: "[" * n,
    "closed brackets": lambda n: "[" * (n // 2) + "a" + "]" * (n // 2),
    "links in links": lambda n: "[a](b" * (n // 5),
    "a link of parentheses": lambda n: "[a](" + "(" * n,
    "titles without end": lambda n: '[a](b "' * (n // 7),
    "addresses": lambda n: "<http://a" * (n // 9),
    "tags without end": lambda n: '<a b="' * (n // 6),
    "instructions": lambda n: "x" + "<?" * (n // 2),
    "declarations": lambda n: "x" + "<!A " * (n // 4),
    "sections of data": lambda n: "x" + "<![CDATA[" * (n // 9),
    "references": lambda n: "&" * n,
    "definitions": lambda n: "".join(f"[a{k}]: /u\n" for k in range(n // 20)) + "[a1]" * (n // 8),
    "a definition used often": lambda n: "[a]: " + "x" * (n // 2) + "\n\n" + "[a]" * (n // 6),
    "a definition without end": lambda n: '[a]: /u "\n' * (n // 9),
    "labels without end": lambda n: "[a\n" * (n // 3),
    "ticks of every length": lambda n: " ".join("`" * k for k in range(int((2 * n) ** 0.5))),
    "backslashes": lambda n: "\\" * n,
    "many columns": lambda n: "|" + "a|" * (n // 6) + "\n|" + "-|" * (n // 6) + "\n|" + "1|" * (n // 6),
    "many rows": lambda n: "|a|b|\n|-|-|\n" + "|1|2|\n" * (n // 6),
    "short rows": lambda n: ("|" + "a|" * 64 + "\n|" + "-|" * 64 + "\n" + "x\n" * 64 + "\n") * (n // 400),
    "pipes": lambda n: "a|b\n-|-\n" + "|" * n,
    "headings of every level": lambda n: "".join("#" * (k % 6 + 1) + f" h{k}\n" for k in range(n // 8)),
    "long names of sections": lambda n: "".join("#" * k + " " + "w " * (n // 40) + "\n\n" for k in range(1, 7)),
    "links to the same heading": lambda n: "# a\n\n[x](#a)\n\n" * (n // 14),
    "underlined": lambda n: "a\n" * (n // 2) + "===",
    "a rule that is a list": lambda n: "* " * (n // 2) + "x",
    "fences": lambda n: "```\n" * (n // 4),
    "blank lines in a list": lambda n: "- a\n" + "\n" * n + "  b",
    "front matter": lambda n: "---\n" + "a: b\n" * (n // 5) + "---\nx",
}
PAGES: dict[str, Made] = {
    "blocks": lambda n: "<div>" * (n // 5) + "x",
    "lists": lambda n: "<ul><li>" * (n // 8) + "x",
    "tables": lambda n: "<table><tr><td>" * (n // 15) + "x",
    "formatting": lambda n: "<b><i>" * (n // 6) + "x" + "</b></i>" * (n // 9),
    "formatting over paragraphs": lambda n: "".join(f"<b a={k}>" for k in range(n // 20)) + "<p>x" * (n // 40),
    "links": lambda n: "<a href=x>" * (n // 10) + "x",
    "misnested": lambda n: "<a><b><p></a></b>" * (n // 17) + "x",
    "attributes": lambda n: "<p " + " ".join(f"a{k}=1" for k in range(n // 8)) + ">x",
    "one attribute again": lambda n: "<p " + "a=1 " * (n // 4) + ">x",
    "quotes without end": lambda n: 'x<a b="' * (n // 7),
    "comments without end": lambda n: "x<!-- -- " * (n // 9),
    "data without end": lambda n: "x<![CDATA[" * (n // 10),
    "scripts without end": lambda n: "x<script>" + "<" * n,
    "a title without end": lambda n: "<title>" + "</titl" * (n // 6),
    "angle brackets": lambda n: "x" + "<" * n,
    "numbers of characters": lambda n: "&#x" * (n // 3),
    "a name of a character": lambda n: "&" + "a" * n,
    "cells": lambda n: "<table><tr>" + "<td>x" * (n // 5),
    "a head over rows": lambda n: "<table><tr><th>" + "w " * (n // 4) + "<tr><td>x" * (n // 18),
    "cells of many columns": lambda n: "<table><tr>" + "<td colspan=1000>x" * (n // 18),
    "text outside of cells": lambda n: "<table>" + "x<b>" * (n // 4),
    "pictures": lambda n: "x" + "<svg><desc>" * (n // 11),
    "templates": lambda n: "x" + "<template>" * (n // 10),
    "headings with links": lambda n: "<h1 id=a>x</h1><p><a href=#a>y</a>" * (n // 36),
    "a title over paragraphs": lambda n: "<title>" + "x " * (n // 4) + "</title>" + "<p>y" * (n // 8),
}
TEXTS: dict[str, Made] = {
    "one word": lambda n: "x" * n,
    "one line": lambda n: "word " * (n // 5),
    "paragraphs": lambda n: "w\n\n" * (n // 3),
    "marks": lambda n: "e" + "\u0301\u0323" * (n // 2),
    "joined pictures": lambda n: "👩\u200d" * (n // 2),
    "turns of direction": lambda n: "\u202e\u202d" * (n // 2) + "x",
    "what unfolds to eighteen": lambda n: "ﷺ" * n,
    "planes without characters": lambda n: "\U000e1234" * n,
    "parts of syllables": lambda n: "\u1100\u1161\u11a8" * (n // 3),
    "no spaces between words": lambda n: "电车" * (n // 2),
    "marks of Thai": lambda n: "ท" + "ี่" * (n // 2),
    "humps": lambda n: "aB" * (n // 2),
    "white space of two kinds": lambda n: "x" + " \n" * (n // 2) + "y",
    "apostrophes": lambda n: "'s" * (n // 2),
}
CHATS: dict[str, Made] = {
    "a turn on each line": lambda n: '{"speaker":"a","text":"b"}\n' * (n // 27),
    "a speaker for each turn": lambda n: "".join(f'{{"speaker":"s{k}","text":"b"}}\n' for k in range(n // 31)),
    "a time for each turn": lambda n: "".join(f'{{"speaker":"a","text":"b","time":{k}}}\n' for k in range(n // 40)),
    "one long turn": lambda n: json.dumps({"speaker": "a", "text": "b\n\n" * (n // 5)}),
    "blank lines": lambda n: '{"speaker":"a","text":"b"}' + "\n" * n,
    "depth": lambda n: '{"speaker":' + "[" * n,
}
CASES = [
    pytest.param(name, made, id=f"{name}: {what}")
    for name, cases in (("a.md", MARKDOWN), ("a.html", PAGES), ("a.txt", TEXTS), ("a.jsonl", CHATS))
    for what, made in cases.items()
]


def _seconds(name: str, text: str) -> tuple[float, int]:
    gc.collect()
    began = time.process_time()
    with suppress(RequestInvalid, TooManySpans):
        parse(a_document(text, name), "acme")
    return time.process_time() - began, len(text)


@pytest.mark.parametrize(("name", "made"), CASES)
def test_cost_grows_with_size(name: str, made: Made) -> None:
    """M2: six times the document costs about six times the time, whatever its structure."""
    _seconds(name, made(200))
    small, size = min(_seconds(name, made(SMALL)) for _ in range(2))
    large, grown = _seconds(name, made(SMALL * TIMES))
    assert large < GROWTH * small * (grown / size) + FREE_S, (
        f"{small:.3f} s, then {large:.3f} s for {grown / size:.1f} ×"
    )

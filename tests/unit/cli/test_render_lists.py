"""Lists, receipts, traces and nodes as the terminal shows them."""

import io
import sys
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType
from telha_cli import output, tables, tables_administration
from telha_cli.documents import OTHER_ENDING

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
HASH = "b3:" + "0123456789abcdef" * 4


def _drawn(what: RenderableType, width: int = 80, *, color: bool = False) -> str:
    out = io.StringIO()
    Console(
        file=out,
        width=width,
        highlight=False,
        markup=False,
        force_terminal=color,
        color_system="standard" if color else None,
    ).print(what)
    return out.getvalue()


def test_ingestion_accounts_for_every_path() -> None:
    """A3: what was written, skipped and refused, and the sum."""
    document = {"name": "a.md", "outcome": "created", "spans": 3}
    report = {
        "documents": [document, {**document, "name": "b.md", "outcome": "unchanged"}],
        "skipped": [{"path": "c.png", "reason": "binary"}],
        "refused": [{"path": "d.txt", "reason": "must be UTF-8; byte 3 is not"}],
    }
    shown = _drawn(tables.ingested(report))
    assert "skipped  c.png: binary" in shown
    assert "refused  d.txt: must be UTF-8; byte 3 is not" in shown
    assert shown.splitlines()[-1] == "1 created, 1 unchanged, 1 skipped, 1 refused"
    assert _drawn(tables.ingested({"documents": [], "skipped": [], "refused": []})) == "nothing to ingest\n"


def test_files_of_other_kinds_take_one_line() -> None:
    """A3: their endings, the most frequent first, and where the paths are; nothing in an ending is obeyed."""
    names = ["docs/a.png", "docs/b.PNG", "LICENSE", "e.\x1b[2J", "f.css", "g.js", "h.svg", "i.gif", "j.png"]
    skipped = [{"path": name, "reason": OTHER_ENDING} for name in names] + [{"path": "k.md", "reason": "empty"}]
    shown = _drawn(tables.ingested({"documents": [], "skipped": skipped, "refused": []}), 200).splitlines()
    endings = "3 .png, 1 no ending, 1 .�[2j, 1 .css, 1 .js, 2 others"
    assert shown == [
        "skipped  k.md: empty",
        f"skipped  9 files that no ending tells to be text ({endings}); --json lists them",
        "10 skipped",
    ]


def test_lists_and_facts_are_whole() -> None:
    """A3: ids are never cut: they are what the next command needs."""
    traces = {"traces": [{"traceId": SOURCE, "recorded": 0, "kind": "plan", "used": 1, "budget": 2}]}
    shown = _drawn(tables.traces(traces))
    assert shown.splitlines()[-1].split() == [SOURCE, "1970-01-01T00:00:00Z", "plan", "1/2"]
    assert _drawn(tables.traces({"traces": []}, "foo")) == "no trace of kind foo\n"
    sources = {"sources": [{"sourceId": SOURCE, "space": "main", "length": 1234, "name": "很长的名字" * 20}]}
    shown = _drawn(tables.sources(sources))
    assert SOURCE in shown
    assert max(map(cell_len, shown.splitlines())) <= 80


_LONG = "北京-" + "n" * 90
_LISTS: list[tuple[Any, dict[str, Any], list[str]]] = [
    (
        tables_administration.keys,
        {
            "keys": [
                {
                    "keyId": "uzp2z5hlkss2",
                    "tenant": "acme-production",
                    "name": "first key of all",
                    "rights": ["read", "write", "admin", "operator"],
                    "spaces": ["agent-7", _LONG],
                    "expires": 1_798_761_600_000_000 * 4,
                }
            ]
        },
        ["acme-production", "read, write, admin, operator", "agent-7", _LONG, "first key of all", "until "],
    ),
    (tables_administration.tenants, {"tenants": [{"name": _LONG}]}, [_LONG, "never"]),
    (
        tables_administration.deletions,
        {"deletions": [{"deletionId": SOURCE, "tenant": _LONG, "deleted": 0, "rows": 1_234_567}]},
        [SOURCE, _LONG, "1970-01-01T00:00:00Z", "1234567", "pending"],
    ),
    (
        tables.sources,
        {"sources": [{"sourceId": SOURCE, "space": _LONG, "length": 1_234_567, "name": "a" * 90}]},
        [SOURCE, _LONG, "1,234,567", "a" * 90],
    ),
    (
        tables.traces,
        {"traces": [{"traceId": SOURCE, "recorded": 0, "kind": "a-kind-of-later", "used": 8192, "budget": 10**9}]},
        [SOURCE, "1970-01-01T00:00:00Z", "a-kind-of-later", "8192/1000000000"],
    ),
    (
        tables.ingested,
        {"documents": [{"name": _LONG, "outcome": "unchanged", "spans": 123_456}], "skipped": [], "refused": []},
        ["unchanged", "123456", _LONG],
    ),
]


def _columns(shown: str) -> str:
    """What stands below the titles, column by column, without white space: a cell that was folded is whole again."""
    lines = [unfolded for line in shown.splitlines()[1:] for unfolded in [_cells(line)]]
    width = max(map(len, lines))
    columns = ["".join(line.ljust(width)[at] for line in lines) for at in range(width)]
    return "".join(sorted("".join(columns).replace(" ", "").replace("\0", "")))


def _cells(line: str) -> str:
    return "".join(character + "\0" * (cell_len(character) - 1) for character in line)


@pytest.mark.parametrize(("drawn", "answer", "cells"), _LISTS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("width", [80, 81, 100, 160])
def test_no_list_loses_a_character_of_a_cell(drawn: Any, answer: dict[str, Any], cells: list[str], width: int) -> None:
    """A3: a column that is too wide goes on in the next line; an id, which the next command needs, stays in one."""
    shown = _drawn(drawn(answer), width)
    assert max(map(cell_len, shown.splitlines())) <= width
    left = _columns(shown)
    for character in "".join(cells).replace(" ", ""):
        assert character in left, f"{character} of {cells} is not shown"
        left = left.replace(character, "", 1)
    for name in ("keyId", "deletionId", "sourceId", "traceId"):
        for entry in next(iter(answer.values())):
            assert entry.get(name, "") in shown


def test_a_replayed_answer_is_not_shown_as_a_new_write() -> None:
    """M8: `created` twice would tell of two writes."""
    document = {"name": "a.md", "outcome": "created", "spans": 3}
    report: dict[str, Any] = {"documents": [document, {**document, "replayed": True}], "skipped": [], "refused": []}
    assert "1 replayed: the answer of an earlier call" in _drawn(tables.ingested(report))
    assert "replayed" not in _drawn(tables.ingested({**report, "documents": [document]}))


def test_a_receipt_tells_the_instant_as_one() -> None:
    """A3: as every other time is told."""
    told = {"sourceId": SOURCE, "txTime": 1_782_820_800_000_000, "spans": 3, "replayed": False}
    shown = _drawn(tables.erased(told))
    assert "2026-06-30T12:00:00Z" in shown
    assert "replayed" not in shown
    assert "replayed" in _drawn(tables.erased({**told, "replayed": True}))


def test_a_trace_is_shown_for_people() -> None:
    """X4: what was asked, as of when, within which budget, what was given in which order; and where the rest is."""
    trace = {
        "traceId": SOURCE,
        "kind": "plan",
        "recorded": 1_782_820_800_000_000,
        "spaces": ["a", "b"],
        "planHash": HASH,
        "budget": 500,
        "used": 432,
        "items": 2,
        "stranded": 7,
        "record": {
            "request": {"question": "Who signs\x1b[2J?"},
            "window": {"validTime": 1_782_820_800_000_000, "txTime": 1_782_820_800_000_001},
            "budget": {"requested": 600},
            "item_coords": [[SOURCE, 5, 10, 20], [SOURCE, 5, 0, 9]],
        },
    }
    shown = _drawn(tables.trace(trace))
    assert [line.split(maxsplit=1) for line in shown.splitlines()[:8]] == [
        ["trace", SOURCE],
        ["kind", "plan"],
        ["recorded", "2026-06-30T12:00:00Z"],
        ["question", "Who signs�[2J?"],
        ["spaces", "a, b"],
        ["true", "at 2026-06-30T12:00:00Z"],
        ["known", "at 2026-06-30T12:00:00.000001Z"],
        ["budget", "432 of 500 tokens, asked 600, 7 stranded by the source cap"],
    ]
    assert shown.index(f"1  {SOURCE} @5 [10:20]") < shown.index(f"2  {SOURCE} @5 [0:9]")
    assert f"telha trace get {SOURCE} --json" in shown


def test_a_source_s_text_is_printed_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A3: into a pipe byte for byte and alone; on a terminal harmless, its lines those of the text."""
    text = "word " * 40 + "\x1b[2J\t家"
    about = tables.source({"sourceId": SOURCE, "validFrom": 1_782_820_800_000_123, "text": text})
    output.show_text(text, about)
    assert capsysbinary.readouterr().out == text.encode()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.show_text(text, about)
    shown = capsysbinary.readouterr().out.decode()
    assert shown.endswith("\n\n" + "word " * 40 + "�[2J    家\n")
    assert "2026-06-30T12:00:00.000123Z\n" in shown


def test_nodes_are_shown_with_what_they_say_and_what_is_asked_about_them() -> None:
    """A3, M4: id, validity, caveat and properties; controls are escaped, and more is promised only if there is more."""
    node = {
        "nodeId": SOURCE,
        "type": "fact",
        "space": "main",
        "properties": {"name": "שלום 你好", "odd": "\x1b[2J"},
        "validFrom": 1_782_820_800_000_000,
        "provenance": [],
    }
    asked = {
        **node,
        "validTo": 1_782_820_801_000_000,
        "pendingClarification": {"clarificationId": "c", "state": "pending"},
    }
    shown = _drawn(tables.nodes({"nodes": [node, asked], "nextPageToken": "t", "window": {}}), 200)
    _, first, second = shown.split(SOURCE)
    assert "true from 2026-06-30T12:00:00Z" in first
    assert '{"name": "שלום 你好", "odd": "\\u001b[2J"}' in first
    assert "pending" not in first
    assert "to 2026-06-30T12:00:01Z" in second
    assert "pending  {" in second
    assert "more" in shown
    assert "\x1b" not in shown
    assert "more" not in _drawn(tables.nodes({"nodes": [node], "window": {}}))
    assert "No node" in _drawn(tables.nodes({"nodes": [], "window": {}}))

"""Markdown and plain text, cut where they are structured."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_builders import check_laws, nodes_of, record_of, spans_of
from telha_planner.ingest.windows import windows


def base(text: str, name: str = "notes.md") -> list[tuple[str, str]]:
    """Kind and text of the base spans."""
    check_laws(text, record_of(text, name))
    return [(kind, piece) for kind, piece in spans_of(record_of(text, name)) if kind != "section"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A *b* `c`\n\ntext", [("heading", "# A *b* `c`"), ("paragraph", "text")]),
        ("A\n===\nB\n---\ntext", [("heading", "A\n==="), ("heading", "B\n---"), ("paragraph", "text")]),
        ("one\ntwo\n\nthree", [("paragraph", "one\ntwo"), ("paragraph", "three")]),
        (
            "- a\n- b\n  - c\n\n    d",
            [("paragraph", "- a"), ("paragraph", "- b"), ("paragraph", "- c"), ("paragraph", "d")],
        ),
        ("1. 电车\n2. パン", [("paragraph", "1. 电车"), ("paragraph", "2. パン")]),
        ("> a\n> b\n>\n> > c", [("paragraph", "> a\n> b\n>"), ("paragraph", "> > c")]),
        ("> # H\n> x", [("paragraph", "> # H"), ("paragraph", "> x")]),
        ("```py\nx = 1\n\ny = 2\n```\nz", [("code", "```py\nx = 1\n\ny = 2\n```"), ("paragraph", "z")]),
        ("```\nnever closed\n\n# x", [("code", "```\nnever closed\n\n# x")]),
        ("a\n\n    x = 1\n    y\n\nb", [("paragraph", "a"), ("code", "    x = 1\n    y"), ("paragraph", "b")]),
        ("|a|b|\n|-|-|\n|1|2|", [("cell", "|a|b|\n|-|-|"), ("cell", "|1|2|")]),
        ("<div>\n<p>x</p>\n</div>\n\ny", [("paragraph", "<div>\n<p>x</p>\n</div>"), ("paragraph", "y")]),
        ("a\n\n---\n\nb", [("paragraph", "a\n\n---"), ("paragraph", "b")]),
        ("---\n\nb", [("paragraph", "---\n\nb")]),
        ("---", [("paragraph", "---")]),
        ("[x]\n\n[x]: /u 'שָׁלוֹם'", [("paragraph", "[x]"), ("paragraph", "[x]: /u 'שָׁלוֹם'")]),
        ("---\ntitle: T\n---\n# H", [("paragraph", "---\ntitle: T\n---"), ("heading", "# H")]),
        ("---\ntext\n---\nmore", [("heading", "---\ntext\n---"), ("paragraph", "more")]),
        ("👩‍🌾 one\r\n\r\n🍞 two", [("paragraph", "👩‍🌾 one"), ("paragraph", "🍞 two")]),
    ],
)
def test_base_spans(text: str, expected: list[tuple[str, str]]) -> None:
    """M2: headings, paragraphs, list items, quotes, table rows and code are the base spans, verbatim."""
    assert base(text) == expected


def test_plain_text_has_paragraphs_only() -> None:
    """M2: in plain text nothing but blank lines means anything."""
    text = "# not a heading\n| a |\n\n \t\n- two\n\u3000\nthree"
    assert base(text, "a.txt") == [
        ("paragraph", "# not a heading\n| a |"),
        ("paragraph", "- two"),
        ("paragraph", "three"),
    ]


def test_lines_that_end_sentences_are_paragraphs() -> None:
    """M2: in a transcript or a list of notes each line is a paragraph; wrapped prose stays whole."""
    turns = [
        "Ana: The swan is back!",
        "Rui: On the bridge?",
        "吴兰：在老桥上。",
        "Ana: [sends a photo]",
        "Rui: 👩‍🌾 again",
    ]
    assert base("\n".join(turns), "a.txt") == [("paragraph", turn) for turn in turns]
    prose = "The first tram leaves at\n05:12. It is green,\nas all trams are in\nthis town."
    assert base(prose, "a.txt") == [("paragraph", prose)]


def test_sections_nest_by_level() -> None:
    """M2: a section holds what follows up to a heading of its level or above; its path names its ancestors."""
    record = record_of("intro\n\n# A\n\n### B\n\nb\n\n## C\n\nc\n\n# D\n\nd")
    paths = {text: json.loads(node.properties)["path"] for node, text in nodes_of(record, "passage")}
    assert paths == {"intro": [], "b": ["A", "B"], "c": ["A", "C"], "d": ["D"]}
    names = {node.node_id: text for kind in ("section", "passage", "document") for node, text in nodes_of(record, kind)}
    contained = [(names[e.from_node], names[e.to_node]) for e in record.edges if e.type == "contains"]
    assert contained == [
        ("", "intro"),
        ("", "# A"),
        ("# A", "### B"),
        ("### B", "b"),
        ("# A", "## C"),
        ("## C", "c"),
        ("", "# D"),
        ("# D", "d"),
    ]


def test_titles_and_front_matter() -> None:
    """M2: a title is its heading without markup; front matter names the document, else the first heading does."""
    (document, _) = nodes_of(record_of('---\na: 1\ntitle: "The 电车"\n---\n# H'), "document")[0]
    assert json.loads(document.properties)["title"] == "The 电车"
    record = record_of("## x\n\n# A *b* `c` ![d](e) [f](g) &amp; \\*")
    (document, _) = nodes_of(record, "document")[0]
    assert json.loads(document.properties) == {
        "mediaType": "text/markdown",
        "name": "notes.md",
        "title": "A b c d f & *",
    }
    (front, _) = nodes_of(record_of("+++\ntitle = 'T'\n+++\nx"), "passage")[0]
    assert json.loads(front.properties)["role"] == "front matter"


def test_roles() -> None:
    """M2: what a kind does not say stands in the role."""
    record = record_of("- a\n\n  > b\n\nc")
    roles = {text: json.loads(node.properties).get("role") for node, text in nodes_of(record, "passage")}
    assert roles == {"- a": "list item", "> b": "quote", "c": None}


def test_windows() -> None:
    """M2: two or three passages side by side, never across a heading, a table apart from its surroundings."""
    record = record_of("a\n\nb\n\nc\n\nd\n\ne\n\n# H\n\nf\n\ng\n\n|x|\n|-|\n|1|\n|2|\n|3|\n\n# I\n\nh")
    assert [text for _, text in nodes_of(record, "window")] == ["a\n\nb\n\nc", "d\n\ne", "f\n\ng", "|x|\n|-|\n|1|\n|2|"]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(1, 2000), max_size=60), st.data())
def test_windows_are_disjoint_and_bounded(lengths: list[int], data: st.DataObject) -> None:
    """M2: at most three passages and 3,200 bytes, in one group, none overlapping."""
    groups = data.draw(st.lists(st.integers(0, 2), min_size=len(lengths), max_size=len(lengths)).map(sorted))
    digests = data.draw(st.lists(st.binary(min_size=1, max_size=1), min_size=len(lengths), max_size=len(lengths)))
    reached = 0
    for first, last in windows(lengths, groups, digests):
        assert reached <= first
        assert 2 <= last - first <= 3
        assert sum(lengths[first:last]) <= 3200
        assert len(set(groups[first:last])) == 1
        reached = last


def test_an_insertion_shifts_few_windows() -> None:
    """M2: windows find their old places again behind an inserted paragraph."""
    paragraphs = [f"Paragraph {number} of a long note." for number in range(300)]
    before = {node.node_id for node, _ in nodes_of(record_of("\n\n".join(paragraphs)), "window")}
    after = {node.node_id for node, _ in nodes_of(record_of("\n\n".join(["New.", *paragraphs])), "window")}
    assert len(before) > 90
    assert len(before - after) < 20


def test_links() -> None:
    """M2: a fragment leads to its section; what leaves the document stays as a property."""
    text = (
        "See [a](#head-电车), [b](#head-1), [c](http://x.y), [d][r], <https://z.z> and `[no](#head)`.\n\n"
        "# Head 电车!\n\n# Head\n\n# Head\n\n[r]: other.md#x"
    )
    record = record_of(text)
    names = {node.node_id: text for kind in ("section", "passage") for node, text in nodes_of(record, kind)}
    linked = [names[edge.to_node] for edge in record.edges if edge.type == "links"]
    assert linked == ["# Head 电车!", "# Head"]
    (passage, _) = nodes_of(record, "passage")[0]
    assert json.loads(passage.properties)["links"] == ["http://x.y", "https://z.z", "other.md#x"]
    second = [node.node_id for node, text in nodes_of(record, "section") if text == "# Head"][1]
    assert [edge.to_node for edge in record.edges if edge.type == "links"][1] == second


def test_rows_are_indexed_with_their_head() -> None:
    """R2: a row is found by the words of its table's head, which its span does not hold."""
    record = record_of("| stop | minutes |\n|---|---|\n| Harbour | 0 |\n| Market | 4 |")
    rows = nodes_of(record, "passage")
    assert [text for _, text in rows] == ["| stop | minutes |\n|---|---|", "| Harbour | 0 |", "| Market | 4 |"]
    assert [node.terms.total for node, _ in rows] == [4, 6, 6]  # the name gives two terms, the head two


@pytest.mark.parametrize(
    "text",
    [
        "A sentence of the tram. " * 200,
        "电车六点出发。" * 400,
        "x" * 10_000,
        "👩‍🌾" * 500,
        "e\u0301" * 3000,
        "line of a log\n" * 400,
    ],
    ids=["sentences", "chinese", "word", "emoji", "marks", "lines"],
)
def test_long_paragraphs_are_cut(text: str) -> None:
    """M2: at most 1,600 bytes, at the end of a sentence, line or word, never inside a cluster."""
    pieces = [piece for _, piece in base(text, "a.txt")]
    assert max(len(piece.encode()) for piece in pieces) <= 1600
    assert len(pieces) <= len(text.encode()) // 800 + 1
    if text.startswith(("A", "电")):
        assert all(piece.endswith((".", "。")) for piece in pieces)
    assert not any(piece[0] in "\u200d\u0301🌾" for piece in pieces)


def test_a_changed_paragraph_changes_what_holds_it() -> None:
    """M2: other passages keep their nodes; the changed one and its windows are new."""
    before = record_of("# H\n\none\n\ntwo\n\nthree\n\nfour\n\nfive")
    after = record_of("# H\n\none\n\ntwo\n\nTHREE!\n\nfour\n\nfive")
    kept = {node.node_id for node in before.nodes} & {node.node_id for node in after.nodes}
    gone = {
        text
        for kind in ("section", "passage", "window")
        for node, text in nodes_of(before, kind)
        if node.node_id not in kept
    }
    assert gone == {"three", "one\n\ntwo\n\nthree"}


def test_repeated_passages_are_told_apart() -> None:
    """M2: the same words twice are two nodes with two spans."""
    record = record_of("same\n\nsame\n\nsame")
    assert len(nodes_of(record, "passage")) == 3
    check_laws("same\n\nsame\n\nsame", record)

"""Documents to ingest, strategies for their text, and the laws that hold for every record."""

import json

import numpy as np
from hypothesis import strategies as st
from telha_planner.ingest.document import WHITE_SPACE, DocumentInput, canonical_text
from telha_planner.ingest.parse import parse
from telha_planner.memory.records import DocumentRecord, PassageNode

BASE_KINDS = ("paragraph", "heading", "cell", "code")

WORDS = st.sampled_from(
    [
        "tram",
        "bread",
        "the",
        "05:12",
        "电车六点出发。",
        "パン屋",
        "ที่ดี",
        "שָׁלוֹם",
        "مرحبا",
        "👩‍🌾",
        "🇵🇹",
        "e\u0301",
        "Straße",
        "a_b",
        "x" * 50,
    ]
)
MARKS = [
    *["\n", "\n\n", "\n\n\n", " ", "\t", "\r\n", "\r", "\u2028", "\x0b", "\x1c", "\xa0", "\u3000"],
    *["# ", "## ", "### ", "===", "---", "***", "- ", "  - ", "1. ", "> ", ">> ", "```", "~~~", "    "],
    *["| a | b |\n|---|---|\n", "| ", " |", "[x](#tram)", "[x](http://y.z)", "[r]", "[r]: /u"],
    *["<div>", "</div>", "<!--", "`", "*", "**", "\\", "&amp;"],
]
PIECES = st.one_of(
    WORDS,
    st.sampled_from(MARKS),
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
)
TEXTS = st.lists(PIECES, min_size=1, max_size=40).map("".join).filter(lambda text: text.strip(WHITE_SPACE + "\ufeff"))

INSTANTS = st.integers(-(2**40), 2**52)

HTML_TAGS = [
    *["<p>", "</p>", "<br>", "</br>", "<hr>", "<div>", "</div>", "<section id=s>", "</section>", "<h1>", "<h2 id=x>"],
    *["</h1>", "</h2>", "<ul>", "</ul>", "<li>", "</li>", "<dl>", "<dt>", "<dd>", "</dd>", "</dl>", "<blockquote>"],
    *["</blockquote>", "<pre>", "<pre>\n", "</pre>", "<b>", "</b>", "<i class='a>b'>", "</i>", "<span>", "</span>"],
    *["<table>", "</table>", "<tr>", "</tr>", "<td>", "</td>", "<th>", "<tbody>", "<caption>", "</caption>"],
    *[
        '<a href="#x">',
        "<a href=http://y.z/?a=1&b=2>",
        "</a>",
        "<img src=x>",
        "<svg><path/>no</svg>",
        "<math>",
        "<body>",
    ],
    *[
        "<mi>",
        "<div hidden>no <b>no</b></div>",
        '<span style="Display : none">no</span>',
        "<template><p>no<td></template>",
    ],
    *["<script>if (a < b) '<p>no'</script>", "<style>p > a {}</style>", "<textarea>yes &lt;"],
    *["</textarea>", "<!-- no -->", "<!-->", "<!doctype html>", "<?no?>", "</ >", "<", "< b", "</", "<![CDATA[x]]>"],
    *["&amp;", "&lt;p&gt;", "&copy;", "&notit;", "&#xe9;", "&#0;", "&#x110000;", "&nbsp;", "&", "&#;"],
    *["<button>", "</button>", "<option>", "<xmp><p></xmp>", "<UL\n>", '<p x="\'>" y>', "<p/>", "<br/>"],
]
HTML_PIECES = st.one_of(WORDS, st.sampled_from([" ", "\n", "\t", "\xa0", "\u3000"]), st.sampled_from(HTML_TAGS))
HTML_TEXTS = st.lists(HTML_PIECES, min_size=1, max_size=40).map(lambda pieces: "".join(["tram", *pieces]))

TURNS = st.lists(
    st.fixed_dictionaries(
        {"speaker": st.sampled_from(["Ana", "李雷", "עומר", "👩‍🌾"]), "text": TEXTS},
        optional={
            "time": st.one_of(st.sampled_from(["2023-05-08T13:56:00+02:00", "1969-12-31t23:59:59.5Z"]), INSTANTS)
        },
    ),
    min_size=1,
    max_size=8,
)


def conversation_of(turns: list[dict[str, object]], **fields: object) -> DocumentRecord:
    """The record of *turns*, one a line."""
    return record_of("\n".join(json.dumps(turn) for turn in turns), "chat.jsonl", **fields)


def a_document(text: str | bytes, name: str = "notes.md", **fields: object) -> DocumentInput:
    """A Markdown document in the space `main`, unless *fields* say otherwise."""
    given: dict[str, object] = {"source_id": None, "uri": None, "space": "main", "media_type": None, "valid_from": None}
    content = text.encode() if isinstance(text, str) else text
    return DocumentInput(name=name, content=content, **(given | fields))  # type: ignore[arg-type]  # by keyword, from tests


def record_of(text: str | bytes, name: str = "notes.md", **fields: object) -> DocumentRecord:
    """The record of *text* as a document of the tenant `acme`."""
    return parse(a_document(text, name, **fields), "acme")


def spans_of(record: DocumentRecord) -> list[tuple[str, str]]:
    """Kind and text of each span."""
    return [(span.kind, record.text[span.start : span.end].decode()) for span in record.spans]


def nodes_of(record: DocumentRecord, node_type: str) -> list[tuple[PassageNode, str]]:
    """The nodes of a type, each with the text of its span."""
    texts = spans_of(record)
    return [(node, texts[node.spans[0]][1] if node.spans else "") for node in record.nodes if node.type == node_type]


def term_ids(node: PassageNode) -> set[int]:
    """The terms that *node* is found by."""
    return {*np.frombuffer(node.terms.ids, "<u8").tolist()}


def check_laws(text: str, record: DocumentRecord) -> None:
    """What holds of every record of plain text or Markdown."""
    assert record.text == canonical_text(text.encode()).encode()
    check_record(record)


def check_record(record: DocumentRecord) -> None:
    """What holds of every record, whatever the document."""
    base = [span for span in record.spans if span.kind in BASE_KINDS]
    covered = bytearray(len(record.text))
    reached = 0
    for span in base:
        assert reached <= span.start < span.end <= len(record.text)
        reached = span.end
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
        record.text[span.start : span.end].decode()  # on character boundaries
    outside = bytes(byte for byte, inside in zip(record.text, covered, strict=True) if not inside)
    assert not outside.decode().strip(WHITE_SPACE)
    first = {span.start: index for index, span in enumerate(base)}
    last = {span.end: index for index, span in enumerate(base)}
    for span in record.spans:
        if span.kind == "section":
            assert 2 <= last[span.end] - first[span.start] + 1 <= 3
    coordinates = [(span.start, span.end) for span in record.spans]
    assert len(set(coordinates)) == len(coordinates)
    ids = [node.node_id for node in record.nodes]
    assert len(set(ids)) == len(ids)
    assert len({edge.edge_id for edge in record.edges}) == len(record.edges)
    assert {end for edge in record.edges for end in (edge.from_node, edge.to_node)} <= set(ids)
    used = [span for node in record.nodes for span in node.spans]
    assert sorted(used) == list(range(len(record.spans)))  # every span belongs to exactly one node

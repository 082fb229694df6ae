"""What a page shows, and the blocks that it falls into."""

import json
import re

import pytest
from ingest_builders import nodes_of, record_of, spans_of, term_ids
from telha_planner.core.errors import RequestInvalid
from telha_planner.models.analysis import term_counts

PAGE = """<!DOCTYPE html>
<html lang="pt-BR"><head><meta charset=utf-8>
<title> Trams &amp;
 trains </title>
<style>p > a { color: red }</style><script>if (a < b) document.write("<p>no</p>")</script></head>
<body><!-- no -->
<h1 id=top>Lines <em>and</em>
 stops</h1>
<p>The   first tram<br>leaves at <b>05</b>:<b>12</b>.
<p>See <a href="#fares">fares</a> and <a href=' other.html?a=1&copy=2 '>more</a>.
<ul><li>Harbour 👩‍🌾<li>שָׁלוֹם<ul><li>inner</ul></ul>
<table><thead><tr><th>Stop<th>Min</thead>
<tr><td>Harbour<td>0<tr><td>Olive <i>Hill</i><td>24</table>
<h2 id="fares">Fares</h2>
<blockquote>首班电车<h3>六点</h3></blockquote>
<pre>
price = 1.90
   if x &lt; 2
</pre>
"""


def base_spans(html: str) -> list[tuple[str, str]]:
    return [(kind, text) for kind, text in spans_of(record_of(html, "page.html")) if kind != "section"]


def texts(html: str) -> list[str]:
    return [text for _, text in base_spans(html)]


def test_a_page() -> None:
    """M2: headings, paragraphs, items, rows, quotes and code, as a browser would show them."""
    assert base_spans(PAGE) == [
        ("heading", "Lines and stops"),
        ("paragraph", "The first tram\nleaves at 05:12."),
        ("paragraph", "See fares and more."),
        ("paragraph", "Harbour 👩‍🌾"),
        ("paragraph", "שָׁלוֹם"),
        ("paragraph", "inner"),
        ("cell", "Stop | Min"),
        ("cell", "Harbour | 0"),
        ("cell", "Olive Hill | 24"),
        ("heading", "Fares"),
        ("paragraph", "首班电车"),
        ("paragraph", "六点"),
        ("code", "price = 1.90\n   if x < 2"),
    ]


def test_the_canonical_text_reads_well() -> None:
    """M1: a blank line between blocks, none between the items of a list or the rows of a table."""
    html = "<h1>A</h1><p>b<ul><li>c<li>d</ul><table><tr><td>1<td>2<tr><td>3<td>4</table><pre>\n\n  x\n\n y\n\n</pre>"
    assert record_of(html, "a.htm").text.decode() == "A\n\nb\n\nc\nd\n\n1 | 2\n3 | 4\n\n  x\n\n y"


def test_what_the_page_says_of_itself() -> None:
    """M2: title and language are the document's; the title is indexed with every passage."""
    record = record_of(PAGE, "page.html")
    (document, _), *_ = nodes_of(record, "document")
    assert json.loads(document.properties) == {
        "name": "page.html",
        "mediaType": "text/html",
        "title": "Trams & trains",
        "lang": "pt-BR",
    }
    term = next(iter(term_counts("trains")))
    assert all(term in term_ids(node) for node, _ in nodes_of(record, "passage"))


def test_links() -> None:
    """M2: a link inside the page is an edge to the heading with that id; others are kept as Markdown's are."""
    record = record_of(PAGE, "page.html")
    (passage,) = (node for node, text in nodes_of(record, "passage") if text.startswith("See"))
    assert json.loads(passage.properties)["links"] == ["other.html?a=1&copy=2"]
    (edge,) = (edge for edge in record.edges if edge.type == "links")
    section = next(node for node, text in nodes_of(record, "section") if text == "Fares")
    assert (edge.from_node, edge.to_node) == (passage.node_id, section.node_id)
    anchored = record_of('<p><a href="#a">x</a><a name="a"></a><h2>Here</h2>', "page.html")
    assert [edge.type for edge in anchored.edges].count("links") == 1
    scripted = record_of('<p><a href="javascript:x()">x</a> <a href="data:y">y</a> <a>z</a>', "page.html")
    assert not [node for node in scripted.nodes if "links" in node.properties]


def test_rows_know_their_head() -> None:
    """M2: the head's words are indexed with each row; tables side by side do not share windows."""
    one = "<table><tr><th>Stop<th>Min<tr><td>Lake<td>0</table>"
    two = "<table><tr><td>a<td>b<tr><td>c<td>d</table>"
    record = record_of(one + two, "page.html")
    term = next(iter(term_counts("min")))
    assert [term in term_ids(node) for node, _ in nodes_of(record, "passage")] == [True, True, False, False]
    assert [text for _, text in nodes_of(record, "window")] == ["Stop | Min\nLake | 0", "a | b\nc | d"]


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p>a<p>b<div>c</div>d", ["a", "b", "c", "d"]),
        ("a<br><br>b<br>c", ["a", "b\nc"]),
        ("a </b><b> b</div>c", ["a bc"]),
        ("<ul><li>a<p>b</p><li>c", ["a", "b", "c"]),
        ("<dl><dt>a<dd>b<dt>c", ["a", "b", "c"]),
        ("a&nbsp;&nbsp; b&#8203;c&lt;p&gt;", ["a\xa0\xa0 b\u200bc<p>"]),
        ("caf&eacute &amp &notit; &unknown; &#x1F469;", ["café & ¬it; &unknown; 👩"]),
        ("<pre>a\n\n  b\t</pre>\n<pre>  </pre>", ["a\n\n  b"]),
        ("<xmp><b>a</xmp>b", ["<b>a", "b"]),
        ("<textarea>\na  b</textarea>", ["a b"]),
        ("x < y <3 </ z> <!x> <?y?>", ["x < y <3"]),
        ("<p title='a > b'>c<img alt='d'>e", ["ce"]),
        ("a<p hidden>b<p>c", ["a", "c"]),
        ("a<div hidden><div>b</div>c</div>d", ["a", "d"]),
        ("a<span style='color:red; DISPLAY:none'>b<span>c</span>d</span>e", ["ae"]),
        ("a<dialog>b</dialog><dialog open>c</dialog>", ["a", "c"]),
        ("a<template><p>b</template>c<noscript>d</noscript><svg><text>e</text></svg>f", ["acf"]),
        ("a<svg><path><p>b", ["a", "b"]),
        ("<math><mi>x</mi><mo>=</mo><annotation>no</annotation></math>1", ["x=1"]),
        ("<svg><style/></svg>a", ["a"]),
        ("<math><section>a</math><script>b</script>", ["a"]),
        ("<math><template><p>a", ["a"]),
        ("<math><font color=red><xmp><p></xmp>", ["<p>"]),
        ("<button>a<pre>b\n c</button>d\n e", ["a", "b\n c", "d e"]),
        ("<p hidden><button>a<p>b</button>c<p>d", ["d"]),
        ("<script><!--<script></script>b</script>-->a", ["-->a"]),
        ("<title>T</title>a<title>U</title>", ["a"]),
        ("a<a href='b", ["a"]),
        ("<table><tr><td>a<td><td>c</table>", ["a |  | c"]),
        ("<table><tr><td></td><td> </td></tr><tr><td>a<td>b", ["a | b"]),
        ("<table><caption>t</caption>x<tr><td>a<td>b", ["t", "x", "a | b"]),
        ("<table><tr><td>a<p>b<td>c<br>d", ["a b | c d"]),
        ("<table><tr><td>only", ["only"]),
        ("<table><tr><td><h2>a</h2>b<td>c", ["a", "b", "c"]),
        ("<table><tr><td>a<table><tr><td>1<td>2</table>b<td>c<tr><td>d<td>e", ["a", "1 | 2", "b", "c", "d | e"]),
        ("<td>a</td>b", ["ab"]),
        ("<div><table><tr><td>a</div>b<td>c</table>d</div>", ["ab | c", "d"]),
    ],
)
def test_what_is_shown(html: str, shown: list[str]) -> None:
    """M2: scripts, styles, templates, comments and hidden elements out; broken markup as browsers repair it."""
    assert texts(html) == shown


def test_a_long_row_of_paragraphs_is_layout() -> None:
    """M2: a page that is laid out in a table keeps its paragraphs."""
    long = "word " * 200
    assert base_spans(f"<table><tr><td>menu<td><p>{long}<p>{long}") == [
        ("paragraph", "menu"),
        ("paragraph", long.strip()),
        ("paragraph", long.strip()),
    ]


def test_headings_inside_lists_open_no_section() -> None:
    """M2: as in Markdown; a table does not demote a heading."""
    kinds = base_spans("<ul><li><h2>a</h2></ul><table><tr><td><h2>b</h2></table><h1></h1>")
    assert kinds == [("paragraph", "a"), ("heading", "b")]


def test_roles() -> None:
    """M2: items and quotes are paragraphs with a role."""
    record = record_of("<ul><li>a</ul><dl><dd>b</dl><blockquote>c</blockquote>d", "page.html")
    roles = [json.loads(node.properties).get("role") for node, _ in nodes_of(record, "passage")]
    assert roles == ["list item", "list item", "quote", None]


@pytest.mark.parametrize(
    ("html", "rule"),
    [
        ("<script>a</script>", "must show some text"),
        ("<meta charset=iso-8859-1>a", "must be UTF-8; it declares itself 'iso-8859-1'"),
        (
            "<meta content='text/html; charset=Shift_JIS' http-equiv='Content-Type'>a",
            "must be UTF-8; it declares itself 'Shift_JIS'",
        ),
    ],
)
def test_what_is_refused(html: str, rule: str) -> None:
    """M2: a page without text, or in another character set."""
    with pytest.raises(RequestInvalid, match=re.escape(rule)) as caught:
        record_of(html, "page.html")
    assert caught.value.field == "content"


def test_declared_utf_8_is_taken() -> None:
    """M2: browsers heed the first declaration."""
    assert texts("<meta charset=' UTF-8 '><meta charset=latin1>é") == ["é"]
    assert texts("<meta name=description content='charset=latin1'>é") == ["é"]


def test_what_markup_says_is_part_of_what_is_compared() -> None:
    """M2: the same text laid out or linked otherwise is a new version; a script that changes is not."""
    hashes = {
        record_of(html, "page.html").input_hash
        for html in ("<p>a", "<h1>a</h1>", "<p><a href=x>a</a>", "<title>t</title>a", "<html lang=en>a", "<li>a")
    }
    assert len(hashes) == 6
    assert record_of("<p>a<script>1</script>", "p.html") == record_of("<p>a<script>2</script>", "p.html")

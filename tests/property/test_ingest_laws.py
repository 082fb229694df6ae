"""Laws of ingestion, over text of every script and over broken Markdown."""

import json
from itertools import pairwise

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_builders import (
    HTML_TEXTS,
    TEXTS,
    TURNS,
    a_document,
    check_laws,
    check_record,
    conversation_of,
    nodes_of,
    record_of,
    spans_of,
)
from telha_planner.ingest.document import WHITE_SPACE
from telha_planner.ingest.parse import parse
from telha_planner.models.analysis import term_counts
from telha_planner.models.counts import Terms
from telha_planner.models.tokenizers import token_counts

LAWS = settings(deadline=None, max_examples=100)


@LAWS
@given(TEXTS, st.sampled_from(["notes.md", "notes.txt"]))
def test_spans_tile_the_text(text: str, name: str) -> None:
    """M1, M2: base spans are disjoint, ordered, on character boundaries and hold all but white space."""
    check_laws(text, record_of(text, name))


@LAWS
@given(HTML_TEXTS)
def test_spans_tile_what_a_page_shows(text: str) -> None:
    """M1, M2: of HTML, base spans hold all of the canonical text but white space, whatever the soup of tags."""
    record = record_of(text, "page.html")
    check_record(record)
    assert record == record_of(text, "page.html")
    for span, (_, piece) in zip(record.spans, spans_of(record), strict=True):
        assert span.counts == token_counts(piece)


@LAWS
@given(HTML_TEXTS)
def test_a_page_needs_no_layout_to_be_read(text: str) -> None:
    """M2: the canonical text holds no control characters of layout and, outside of `pre`, no run of blank lines."""
    shown = record_of(text, "page.html").text.decode()
    assert not {"\r", "\0"} & {*shown}
    assert shown.strip(WHITE_SPACE + "\n") == shown or "<pre" in text
    assert "<pre" in text or "<xmp" in text or "\n\n\n" not in shown


@LAWS
@given(TURNS)
def test_spans_tile_a_conversation(turns: list[dict[str, object]]) -> None:
    """M1, M2: each turn is a paragraph that names its speaker; nodes of turns are true since the time they state."""
    record = conversation_of(turns)
    check_record(record)
    assert record == conversation_of(turns)
    assert record.text == conversation_of(turns, valid_from=5).text
    spoken = [node for node in record.nodes if node.type == "turn"]
    assert len(spoken) >= len(turns)
    assert {json.loads(node.properties)["speaker"] for node in spoken} == {turn["speaker"] for turn in turns}
    stated = [node.valid_from for node in spoken if node.valid_from is not None]
    assert record.valid_from == min(stated, default=None)
    assert len({*stated}) == len({str(turn["time"]) for turn in turns if "time" in turn})
    for node in spoken:
        assert ("time" in json.loads(node.properties)) == (node.valid_from is not None)


@LAWS
@given(TURNS, TURNS)
def test_a_longer_conversation_keeps_its_turns(turns: list[dict[str, object]], more: list[dict[str, object]]) -> None:
    """M2: what is said later changes no turn that was said: ids, properties, terms and validity stay."""
    kept = {node.node_id: node for node in conversation_of([*turns, *more]).nodes}
    for node in conversation_of(turns).nodes:
        if node.type == "turn":
            after = kept[node.node_id]
            assert (after.properties, after.terms, after.valid_from) == (node.properties, node.terms, node.valid_from)


@LAWS
@given(TEXTS)
def test_equal_documents_have_equal_records(text: str) -> None:
    """M2: parsing is a function of the document."""
    assert record_of(text) == record_of(text)


@LAWS
@given(TEXTS)
def test_counts_are_those_of_the_span(text: str) -> None:
    """T2: each span, windows too, carries the counts of exactly its own text."""
    record = record_of(text)
    for span, (_, piece) in zip(record.spans, spans_of(record), strict=True):
        assert span.counts == token_counts(piece)


@LAWS
@given(TEXTS)
def test_terms_are_name_path_and_text(text: str) -> None:
    """R2: what is indexed of a node is the source's name, the section path and its own text, analysed."""
    record = record_of(text)
    for node, piece in nodes_of(record, "passage") + nodes_of(record, "window") + nodes_of(record, "section"):
        properties = json.loads(node.properties)
        if properties.get("kind") == "cell" or "|" in piece or record.text.startswith((b"---", b"+++")):
            continue  # a row is indexed with its table's head, all with a stated title
        assert node.terms == Terms.of(term_counts("\n".join(["notes.md", *properties["path"], piece])))


@LAWS
@given(TEXTS)
def test_properties_are_canonical_json(text: str) -> None:
    """M1: properties are RFC 8785 JSON, so equal states are equal bytes."""
    for node in record_of(text).nodes:
        assert rfc8785.dumps(json.loads(node.properties)).decode() == node.properties


@LAWS
@given(TEXTS)
def test_passages_follow_each_other(text: str) -> None:
    """M2: `next` leads from each passage to the one behind it, `contains` to every node but the document."""
    record = record_of(text)
    passages = [node.node_id for node, _ in nodes_of(record, "passage")]
    following = [(edge.from_node, edge.to_node) for edge in record.edges if edge.type == "next"]
    assert following == list(pairwise(passages))
    windows = {node.node_id for node, _ in nodes_of(record, "window")}
    contained = [edge for edge in record.edges if edge.type == "contains"]
    by_section = [edge.to_node for edge in contained if edge.from_node not in windows]
    assert sorted(by_section) == sorted(node.node_id for node in record.nodes if node.type != "document")


@LAWS
@given(TEXTS)
def test_a_window_contains_the_passages_under_it(text: str) -> None:
    """M2: `contains` leads from a window to the two or three passages whose spans lie in its own, and to no other."""
    record = record_of(text)
    spans = {node.node_id: record.spans[node.spans[0]] for node in record.nodes if node.spans}
    passages = [node.node_id for node, _ in nodes_of(record, "passage")]
    for window, _ in nodes_of(record, "window"):
        contained = {edge.to_node for edge in record.edges if edge.from_node == window.node_id}
        within = spans[window.node_id]
        assert contained == {
            passage for passage in passages if within.start <= spans[passage].start and spans[passage].end <= within.end
        }


@LAWS
@given(
    st.lists(st.sampled_from(["tram bread", "电车六点", "שָׁלוֹם", "👩‍🌾 x", "tram bread"]), min_size=1, max_size=12),
    st.data(),
)
def test_inserting_a_paragraph_keeps_the_rest(paragraphs: list[str], data: st.DataObject) -> None:
    """M2: an inserted paragraph changes no other passage: ids, properties and terms stay."""
    at = data.draw(st.integers(0, len(paragraphs)))
    before = record_of("\n\n".join(paragraphs))
    after = record_of("\n\n".join([*paragraphs[:at], "a wholly new paragraph", *paragraphs[at:]]))
    kept = {node.node_id: (node.properties, node.terms) for node in after.nodes}
    for node, _ in nodes_of(before, "passage"):
        assert kept[node.node_id] == (node.properties, node.terms)


@LAWS
@given(TEXTS)
def test_line_ends_and_byte_order_mark_do_not_matter(text: str) -> None:
    """M2: CRLF, CR and a byte order mark give the canonical text, hence the same record."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    if text.startswith("\ufeff"):
        return
    plain = record_of(text)
    assert record_of("\ufeff" + text.replace("\n", "\r\n")) == plain
    assert record_of(text.replace("\n", "\r")) == plain


@LAWS
@given(TEXTS, TEXTS)
def test_ids_of_two_sources_never_meet(left: str, right: str) -> None:
    """M2: node ids are UUIDv5 in the source's id, so equal text in two sources has different nodes."""
    one = parse(a_document(left, "one.md"), "acme")
    two = parse(a_document(right, "two.md"), "acme")
    assert not {node.node_id for node in one.nodes} & {node.node_id for node in two.nodes}
    for node in one.nodes:
        assert (node.node_id[6] >> 4, node.node_id[8] >> 6) == (5, 2)

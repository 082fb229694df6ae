"""Our reading of HTML against an independent parser of the standard: both show the same characters."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_builders import HTML_PIECES
from selectolax.lexbor import LexborHTMLParser, LexborNode
from telha_planner.core.errors import RequestInvalid
from telha_planner.ingest import html
from telha_planner.ingest.document import WHITE_SPACE
from telha_planner.ingest.html_elements import is_hidden

RAW = {"title", "script", "style", "noscript", "iframe", "noembed", "noframes"}
WITHOUT_LAYOUT = str.maketrans("", "", WHITE_SPACE + "|")


def shown_by_the_standard(source: str) -> str:
    """What the other parser's tree shows, without white space."""
    root = LexborHTMLParser(source, scripting=True).root
    parts: list[str] = []
    waiting: list[LexborNode] = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if node.is_text_node:
            parts.append(node.text_content or "")
        elif node.is_element_node or node.is_document_node:
            attributes = {name: value or "" for name, value in (node.attributes or {}).items()}
            if node.tag not in RAW and not is_hidden(node.tag or "", attributes):
                waiting += reversed([*node.iter(include_text=True)])
    return "".join(parts).translate(WITHOUT_LAYOUT)


def shown_by_us(source: str) -> str:
    try:
        return html.parse(source).text.translate(WITHOUT_LAYOUT)
    except RequestInvalid:  # nothing is shown
        return ""


@settings(deadline=None, max_examples=400)
@given(st.lists(HTML_PIECES, min_size=1, max_size=30))
def test_the_same_text_is_shown(pieces: list[str]) -> None:
    """M2: of any soup of tags, what is shown is what the standard says, in its order but for what a table expels."""
    source = "".join(pieces)
    ours, theirs = shown_by_us(source), shown_by_the_standard(source)
    if "<table" in source:
        ours, theirs = "".join(sorted(ours)), "".join(sorted(theirs))
    assert ours == theirs

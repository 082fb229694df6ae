"""
HTML to tokens: tags and text, told apart as the HTML standard's tokenizer tells them apart.

Comments, doctypes and what scripts and styles hold never come out. The parser is ours because it has to be linear on
any input: tree builders of the standard walk all open elements for a paragraph and copy formatting elements into each
one, so that half a megabyte of nested `div` costs half a minute, and a page can ask for more nodes than memory holds.

Rule 1: each character is looked at a bounded number of times; patterns never give back what they took.
Rule 2: as in the standard, a tag or comment that never ends swallows the rest.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

DEEPEST = 512
"""Most open elements, as in browsers; what lies deeper is not nested any further."""

_TAG = re.compile(
    r"""</?+([A-Za-z][^\t\n\f\r />]*+)
    ((?:[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+
    (?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >]*+))?+)*+)
    [\t\n\f\r /]*+>""",
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(
    r"""[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)
    (?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"([^"]*+)"|'([^']*+)'|([^\t\n\f\r >]*+)))?+""",
    re.VERBOSE,
)
_OPENS_TAG = re.compile("/?[A-Za-z]")
_COMMENT_END = re.compile("--!?>")
_REFERENCE = re.compile(r"&(?:#[xX][0-9a-fA-F]+;?|#[0-9]+;?|[A-Za-z][A-Za-z0-9]{1,31};?)")
_REFERENCE_IN_VALUE = re.compile(r"&(?:#[xX][0-9a-fA-F]+;?|#[0-9]+;?|[A-Za-z][A-Za-z0-9]{1,31};)")
_LONGEST_REFERENCE = 40

_WITH_REFERENCES = frozenset({"title", "textarea"})
_SHOWN_RAW = _WITH_REFERENCES | {"xmp", "plaintext"}
_RAW = _SHOWN_RAW | {"script", "style", "iframe", "noembed", "noframes", "noscript"}
_RAW_END = {
    name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII) for name in _RAW - {"script", "plaintext"}
}
_SCRIPT = re.compile(r"<!--(?!-?>)|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII)
_DROPS_FIRST_LINE_END = frozenset({"pre", "listing", "textarea"})


def words(listed: str) -> frozenset[str]:
    """The words of *listed*, white space between them."""
    return frozenset(listed.split())


_FOREIGN = frozenset({"svg", "math"})
_HTML_INSIDE_FOREIGN = words("foreignobject desc title annotation-xml mi mo mn ms mtext")
_LEAVES_FOREIGN = words(
    """b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta
    nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"""
)
_STYLED = frozenset({"color", "face", "size"})  # with one of these `font` leaves too


class Token(NamedTuple):
    """
    A piece of a page.

    Attributes:
        name: Of a tag, lower case; empty for text.
        text: Text with its references decoded; of a tag, what elements of raw text hold (`title`, `textarea`, `xmp`).
        attributes: Of a start tag, as written: `attributes_of` reads them.
        closing: An end tag. Elements of raw text have none: they are one token, or none if they are never shown.
        foreign: An end tag of SVG or MathML that ends all that is open in it, whatever its name.
    """

    name: str
    text: str = ""
    attributes: str = ""
    closing: bool = False
    foreign: bool = False


@dataclass
class Tokens:
    """
    Walks *source*.

    Attributes:
        at: What comes next.
        foreign: What is open of SVG and MathML, where other rules hold. Whoever keeps the open elements may clear it:
            an end tag can close such a root from outside.
    """

    source: str
    at: int = 0
    foreign: list[str] = field(default_factory=list)

    def walk(self) -> Iterator[Token]:
        """The tags and texts, in order."""
        source = self.source
        while (opened := source.find("<", self.at)) >= 0:
            if opened > self.at:
                yield Token("", decoded(source[self.at : opened]))
            if not _OPENS_TAG.match(source, opened + 1):
                self.at, text = _not_a_tag(source, opened, in_foreign=self._is_foreign())
                if text:
                    yield Token("", text)
                continue
            tag = _TAG.match(source, opened)
            if tag is None:
                return
            self.at = tag.end()
            yield from self._end(tag) if source[opened + 1] == "/" else self._start(tag)
        if self.at < len(source):
            yield Token("", decoded(source[self.at :]))

    def _is_foreign(self) -> bool:
        return bool(self.foreign) and self.foreign[-1] in _FOREIGN

    def _end(self, tag: re.Match[str]) -> Iterator[Token]:
        name = _lowered(tag[1])
        if name in ("p", "br"):
            yield from self._break_out()
        is_root = self._is_foreign() and self.foreign[-1] == name
        if name in self.foreign:
            while self.foreign.pop() != name:
                pass
        yield Token(name, closing=True, foreign=is_root)

    def _start(self, tag: re.Match[str]) -> Iterator[Token]:
        name = _lowered(tag[1])
        if name in _LEAVES_FOREIGN or (name == "font" and _STYLED.intersection(attributes_of(tag[2]))):
            yield from self._break_out()
        if name in _FOREIGN or self._is_foreign():
            yield Token(name, attributes=tag[2])
            if self.at - 1 > tag.end(2) and self.source[self.at - 2] == "/":
                yield Token(name, closing=True)
            elif name in _FOREIGN | _HTML_INSIDE_FOREIGN and len(self.foreign) < DEEPEST:
                self.foreign.append(name)
        elif name in _RAW:
            yield from self._raw(name, tag[2])
        else:
            self._skip_first_line_end(name)
            yield Token(name, attributes=tag[2])

    def _break_out(self) -> Iterator[Token]:
        while self._is_foreign():
            yield Token(self.foreign.pop(), closing=True, foreign=True)

    def _raw(self, name: str, attributes: str) -> Iterator[Token]:
        self._skip_first_line_end(name)
        start, (end, self.at) = self.at, _raw_end(self.source, self.at, name)
        if name in _SHOWN_RAW:
            text = self.source[start:end]
            yield Token(name, decoded(text) if name in _WITH_REFERENCES else text, attributes)

    def _skip_first_line_end(self, name: str) -> None:
        if name in _DROPS_FIRST_LINE_END and self.source.startswith("\n", self.at):
            self.at += 1


def attributes_of(written: str) -> dict[str, str]:
    """The attributes of a tag by lower-case name; the first of equal names counts."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(written):
        value = match[2] or match[3] or match[4] or ""
        found.setdefault(_lowered(match[1]), _REFERENCE_IN_VALUE.sub(_character, value))
    return found


def decoded(text: str) -> str:
    """*text* with its character references as characters."""
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    written = reference[0]
    # A number of thousands of digits is no character, and Python refuses to read it.
    return html.unescape(written) if len(written) <= _LONGEST_REFERENCE else "\ufffd"


def _lowered(name: str) -> str:
    return name.lower() if name.isascii() else name


def _not_a_tag(source: str, opened: int, *, in_foreign: bool) -> tuple[int, str]:
    """Where what begins with the `<` at *opened* ends, and the text that it is."""
    following = source[opened + 1 : opened + 2]
    if source.startswith("<!--", opened):
        for empty in ("<!-->", "<!--->"):
            if source.startswith(empty, opened):
                return opened + len(empty), ""
        ended = _COMMENT_END.search(source, opened + 4)
        return ended.end() if ended else len(source), ""
    if in_foreign and source.startswith("<![CDATA[", opened):
        end = source.find("]]>", opened)
        return (end + 3, source[opened + 9 : end]) if end >= 0 else (len(source), source[opened + 9 :])
    if following and following in "!?/":
        end = source.find(">", opened)
        if end >= 0:
            return end + 1, ""
        return len(source), "</" if source.endswith("</") and opened == len(source) - 2 else ""
    return opened + 1, "<"


def _raw_end(source: str, start: int, name: str) -> tuple[int, int]:
    """Where the raw text from *start* ends, and where its end tag does."""
    if name == "plaintext":
        return len(source), len(source)
    end = _script_end(source, start) if name == "script" else _RAW_END[name].search(source, start)
    if end is None:
        return len(source), len(source)
    tag = _TAG.match(source, end.start())
    return end.start(), tag.end() if tag else len(source)


def _script_end(source: str, start: int) -> re.Match[str] | None:
    """The end tag of a script; one inside a comment that opened a script of its own is not it."""
    in_comment = nested = False
    for match in _SCRIPT.finditer(source, start):
        if match[0] == "<!--":
            in_comment = True
        elif match[0] == "-->":
            in_comment = nested = False
        elif not match[1]:
            nested = nested or in_comment
        elif nested:
            nested = False
        else:
            return match
    return None

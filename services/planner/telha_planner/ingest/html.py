"""
HTML to blocks: what a browser would show, as text, and how it is laid out.

    source ─ html_tokens → tags and texts ─ here → what is open and shown ─ html_layout → blocks and canonical text

A page has no text of its own to slice, so its canonical text is made here: each block on lines of its own, white space
collapsed as a browser collapses it, `pre` kept, references decoded. What is not shown (scripts, styles, templates,
comments, hidden elements, pictures) is not in it.

Rule 1: a heading opens a section, but inside a list or quote it is a paragraph of it; a table does not demote it, since
old pages are laid out in tables. Rule 2: a row whose cells hold only running text is one cell block (docs/adr/0015),
its cells joined by ` | `; any other row, one with a single cell included, is layout and falls into the blocks it holds.
Rule 3: open elements are tracked as the standard does where it shows in the text: implied ends of paragraphs, items
and cells; end tags that match nothing are ignored; a table keeps what it holds. Inline elements change no text, so they
are not tracked unless hidden; hence the end of one does not close a picture that was left open in it. Rule 4: deeper
than `DEEPEST`, as in browsers, an element is a sibling, not a child.
"""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from telha_planner.core.errors import RequestInvalid

from .blocks import LONGEST_TITLE, Block
from .document import MAX_BASE_SPANS, WHITE_SPACE
from .html_elements import (
    BLOCKS,
    BREAKS_ONLY,
    CELLS,
    HEADINGS,
    ITEM_STOPS,
    ITEMS,
    NEVER_SHOWN,
    PARAGRAPH_SCOPE,
    ROLES,
    ROW_GROUPS,
    SCOPE,
    SCOPES,
    TABLE_PARTS,
    VOID,
    is_hidden,
)
from .html_layout import COLLAPSIBLE, Layout, collapsed
from .html_tokens import DEEPEST, Token, Tokens, attributes_of

_LAID_OUT = BLOCKS | TABLE_PARTS
_TRACKED = frozenset({"button", "math"})  # inline, but their ends end what is open in them
_TABLE_ENDS = frozenset({"table", "template"})
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}")
_CHARACTER_SET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';]+)", re.IGNORECASE)
_UTF_8 = frozenset({"utf-8", "utf8", "unicode-1-1-utf-8", "us-ascii", "ascii"})


class Page(NamedTuple):
    """
    A page's canonical text and blocks.

    Attributes:
        title: What `title` says, at most 200 characters, or None.
        language: The `lang` of the page, or None.
    """

    text: str
    blocks: tuple[Block, ...]
    title: str | None
    language: str | None


def parse(source: str, most_spans: int = MAX_BASE_SPANS) -> Page:
    """
    The page that *source* shows.

    Raises:
        RequestInvalid: It shows nothing, or declares another character set than UTF-8.
        TooManySpans: It has more than *most_spans* blocks, or far more cells; found before all of it is in memory.
    """
    page = _Page(Layout(most_spans=most_spans))
    tokens = Tokens(source)
    for token in tokens.walk():
        page.take(token)
        if tokens.foreign and token.closing and not page.is_foreign:
            tokens.foreign.clear()
    page.finish()
    text, blocks = page.layout.assembled()
    if not blocks:
        raise RequestInvalid(field="content", rule="must show some text")
    return Page(text, blocks, page.title, page.language)


class _Open(NamedTuple):
    """An open element; `laid_out` if it took part in the layout when it opened."""

    name: str
    hidden: bool
    laid_out: bool


@dataclass
class _Page:
    """Takes tokens, keeps the open elements, and lays out what is shown."""

    layout: Layout = field(default_factory=Layout)
    title: str | None = None
    language: str | None = None
    _stack: list[_Open] = field(default_factory=list)
    _open: Counter[str] = field(default_factory=Counter)
    _too_deep: Counter[str] = field(default_factory=Counter)
    _stopped: set[str] = field(default_factory=set)  # whose end tags match nothing before another element opens or ends
    _hidden: int = 0
    _declared: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether SVG or MathML is open."""
        return self._open["svg"] + self._open["math"] > 0

    def take(self, token: Token) -> None:
        """Take the next token."""
        if not token.name:
            if not self._hidden:
                self.layout.write(token.text)
        elif token.closing:
            if not (token.foreign and self._open[token.name] and self._pop_nearest((token.name,), ())):
                self._close(token.name)
        elif token.name in VOID:
            self._void(token)
        else:
            self._start(token)

    def finish(self) -> None:
        """End every element that is still open."""
        self.layout.end_block()
        self._pop_to(0)

    # Tags.

    def _void(self, token: Token) -> None:
        if token.name == "hr":
            self._end_paragraph()
            self.layout.end_block()
        elif token.name == "br" and not self._hidden:
            self.layout.write_line_break()
        elif token.name == "meta":
            self._declare(token.attributes)

    def _declare(self, written: str) -> None:
        found = attributes_of(written)
        declared = found.get("charset", "")
        if found.get("http-equiv", "").lower() == "content-type":
            match = _CHARACTER_SET.search(found.get("content", ""))
            declared = declared or (match[1] if match else "")
        if declared and not self._declared:
            self._declared = True  # browsers heed the first
            name = declared.strip(COLLAPSIBLE)
            if name.lower() not in _UTF_8:
                raise RequestInvalid(field="content", rule=f"must be UTF-8; it declares itself {name[:40]!r}")

    def _start(self, token: Token) -> None:
        name = token.name
        if name == "html":
            language = attributes_of(token.attributes).get("lang", "")
            self.language = self.language or (language if _LANGUAGE.fullmatch(language) else None)
        elif name == "title":
            title = collapsed(token.text).strip(WHITE_SPACE)[:LONGEST_TITLE]
            self.title = self.title or (title if not self._hidden else None) or None
        elif name == "textarea":
            self.take(Token("", token.text))
        elif name in BREAKS_ONLY:
            self.layout.end_block()
        elif name in ("xmp", "plaintext"):
            self._enter(Token("pre", attributes=token.attributes))
            self.take(Token("", token.text))
            self._close("pre")
        elif name not in TABLE_PARTS or self._makes_room_for(name):
            self._enter(token)

    def _enter(self, token: Token) -> None:
        name = token.name
        found = attributes_of(token.attributes) if token.attributes else {}
        hides = is_hidden(name, found)
        if name == "button":
            self._close(name)
        elif name in BLOCKS:
            self._end_paragraph()
            if name in ITEMS:
                self._end_item(name)
            elif name in HEADINGS and self._stack and self._stack[-1].name in HEADINGS:
                self._pop_to(len(self._stack) - 1)
            elif name == "table" and self._stack and self._stack[-1].name in {"table", "tr", *ROW_GROUPS}:
                self._close("table")
        if not self._hidden and name in _LAID_OUT:
            self.layout.end_block()
        if not (self._hidden or hides):
            self._note(name, found)
        if name in _LAID_OUT or name in _TRACKED or hides or self._hidden:
            self._push(name, hides=hides)

    def _note(self, name: str, found: dict[str, str]) -> None:
        anchor = found.get("id") or (found.get("name") if name == "a" else None)
        if anchor:
            self.layout.note_anchor(anchor)
        if name == "a":
            self.layout.note_link(found.get("href", "").strip(WHITE_SPACE))

    def _push(self, name: str, *, hides: bool) -> None:
        if len(self._stack) >= DEEPEST:
            self._too_deep[name] += 1
            return
        laid_out = not (hides or self._hidden or name in _TRACKED)
        self._stack.append(_Open(name, hides, laid_out))
        self._open[name] += 1
        self._stopped.clear()
        self._hidden += hides
        if not laid_out:
            return
        layout = self.layout
        if name in ("pre", "listing"):
            layout.preformatted += 1
        elif name in ROLES:
            layout.roles.append(ROLES[name])
        elif name in HEADINGS and not layout.roles:
            layout.heading = HEADINGS[name]
        elif name == "table":
            layout.open_table()
        elif name == "tr":
            layout.open_row()
        elif name in CELLS:
            layout.open_cell(is_head=name == "th")

    def _close(self, name: str) -> None:
        if self._too_deep[name]:
            self._too_deep[name] -= 1
            self.layout.end_block()
        elif name == "br":
            self._void(Token("br"))
        elif name in BREAKS_ONLY:
            self.layout.end_block()
        elif name == "p":
            if not self._end_paragraph():
                self.layout.end_block()
        elif name in HEADINGS:
            self._pop_nearest(HEADINGS, SCOPE)
        elif self._open[name] and name not in self._stopped:
            inline = name not in _LAID_OUT and name not in NEVER_SHOWN and name != "button"
            if not self._pop_nearest((name,), _LAID_OUT if inline else SCOPES.get(name, SCOPE)):
                self._stopped.add(name)

    # Which elements are open.

    def _pop_nearest(self, names: Collection[str], stops: Collection[str]) -> bool:
        """End the innermost open element of *names*, with all in it, unless one of *stops* lies between or none is."""
        for index in range(len(self._stack) - 1, -1, -1):
            name = self._stack[index].name
            if name in names:
                self._pop_to(index)
                return True
            if name in stops:
                break
        return False

    def _end_paragraph(self) -> bool:
        return self._open["p"] > 0 and self._pop_nearest(("p",), PARAGRAPH_SCOPE)

    def _end_item(self, name: str) -> None:
        names = ("li",) if name == "li" else ("dd", "dt")
        if any(self._open[item] for item in names):
            self._pop_nearest(names, ITEM_STOPS - {*names})

    def _makes_room_for(self, part: str) -> bool:
        """End what a table's *part* cannot stand in; false if it stands in no table."""
        if not self._open["table"]:
            return False
        table = next(index for index in range(len(self._stack) - 1, -1, -1) if self._stack[index].name in _TABLE_ENDS)
        if self._stack[table].name != "table":
            return False
        stays = [ROW_GROUPS, {"tr"}][: 2 if part in CELLS else 1 if part == "tr" else 0]
        at = table + 1
        for names in stays:
            at += at < len(self._stack) and self._stack[at].name in names
        self._pop_to(at)
        if part in CELLS and self._stack[-1].name != "tr":
            self._enter(Token("tr"))
        return True

    def _pop_to(self, index: int) -> None:
        while len(self._stack) > index:
            if self._stack[-1].laid_out:
                self.layout.end_block()
            element = self._stack.pop()
            self._open[element.name] -= 1
            self._hidden -= element.hidden
            self._too_deep.clear()
            self._stopped.clear()
            if element.laid_out:
                self._leave(element.name)

    def _leave(self, name: str) -> None:
        layout = self.layout
        if name in ("pre", "listing"):
            layout.preformatted -= 1
        elif name in ROLES:
            layout.roles.pop()
        elif name in HEADINGS:
            layout.heading = 0
        elif name == "tr":
            layout.end_row()
        elif name == "table":
            layout.end_table()

"""
Markdown to blocks: CommonMark with tables, and front matter.

Only the block structure is parsed over the whole document; text inside a block is parsed where it may hold a link or
is a heading, and only up to `_LONGEST_INLINE` characters, since the inline grammar is not linear on hostile text.

Rule 1: a heading opens a section if it stands at the top level; inside a list or quote it is a paragraph of it.
Rule 2: a list item, a quoted paragraph, a paragraph of HTML is each a paragraph; a fence or an indented block is
code; a row of a table is a cell block, since a cell says nothing without its row; the head's words are the context of
every row.
Rule 3: lines that no block claims (link definitions, rules, bare markers) are a paragraph if they hold a word, else
they go to the block before them, else to the one behind.
"""

import re
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from telha_planner.core.errors import RequestInvalid

from .blocks import LONGEST_HEAD, LONGEST_TITLE, MOST_LINKS, Block, trimmed
from .document import MAX_BASE_SPANS, WHITE_SPACE, TooManySpans

_NESTING = 20
_TOKENS_OF_A_SPAN = 5  # a list item has five; what is nested has more, and so fewer items
_BOUND = "most tokens"
_EMPTY = "empty cells"
_LONGEST_INLINE = 4096
MOST_LINES = 4_000_000
"""The parser holds some 150 bytes for each line, whatever stands on it."""
MOST_COLUMNS = 4096
"""Of a table; what has more is taken for text, since each cell of its head costs a kilobyte, filled or not."""
MOST_EMPTY_CELLS = 1_000_000
"""Cells of all tables that hold nothing: a row of one letter is filled up to the width of its head."""
MOST_DEFINITIONS = 200_000
"""Link definitions; each costs half a kilobyte, and none gives a span."""
_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*[\"'\w-]+[ \t]*[:=]", re.ASCII)
_MOST_FRONT_MATTER = 65_536
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(.+?)[ \t]*$", re.MULTILINE)
_WORD = re.compile(rf"[A-Za-z0-9]|[^\x00-\x7f{WHITE_SPACE}]")
_LINKED = re.compile(r"\]\(|\]\[|<[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Markdown:
    """A document's blocks, and the title that its front matter states."""

    blocks: tuple[Block, ...]
    title: str | None


def parse(text: str, most_spans: int = MAX_BASE_SPANS) -> Markdown:
    """
    The blocks of the Markdown document *text*.

    Raises:
        RequestInvalid: It has more lines or link definitions than it may.
        TooManySpans: Its structure alone would be more than *most_spans*; found before all of it is in memory.
    """
    if text.count("\n") >= MOST_LINES:
        raise RequestInvalid(field="content", rule=f"must have at most {MOST_LINES:,} lines, as Markdown")
    front = _front_matter(text)
    # The parser sees blank lines in its place, so that line numbers stay.
    source = "\n" * text.count("\n", 0, front.end) + text[front.end :] if front else text
    lines = _Lines(text)
    leaves = list(_Leaves(source, lines, environment={_BOUND: _TOKENS_OF_A_SPAN * most_spans}).walk())
    if front is not None:
        leaves.insert(0, front)
    title = _FRONT_TITLE.search(text, front.start, front.end) if front else None
    return Markdown(
        blocks=tuple(_with_rest(text, leaves)),
        title=title.group(1).strip("\"'")[:LONGEST_TITLE] or None if title else None,
    )


def _front_matter(text: str) -> Block | None:
    opened = _FRONT_MATTER.match(text)
    if opened is None:
        return None
    closing = re.compile(rf"^{re.escape(opened.group(1))}[ \t]*$", re.MULTILINE)
    closed = closing.search(text, opened.end(), _MOST_FRONT_MATTER)
    return Block(0, closed.end(), "paragraph", role="front matter") if closed else None


class _Lines:
    """Where each line starts; one more entry for the end."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The characters of lines [first, last)."""
        limit = len(self.starts) - 1
        return self.starts[min(first, limit)], self.starts[min(last, limit)]


@dataclass
class _Leaves:
    """Walks the block tokens of *source* and yields what holds text, in order."""

    source: str
    lines: _Lines
    containers: list[str] = field(default_factory=list)
    environment: MutableMapping[str, Any] = field(default_factory=dict)
    tables: int = 0

    def walk(self) -> Iterator[Block]:
        tokens = _parser().parse(self.source, self.environment)
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                end = _closing(tokens, position)
                yield from self._rows(tokens[position:end])
                position = end
            else:
                yield from self._leaf(token, tokens[position + 1 : position + 2])
            position += 1

    def _leaf(self, token: Token, following: Sequence[Token]) -> Iterator[Block]:
        if token.type in ("list_item_open", "blockquote_open"):
            self.containers.append("list item" if token.type == "list_item_open" else "quote")
        elif token.type in ("list_item_close", "blockquote_close"):
            self.containers.pop()
        elif token.type in ("fence", "code_block"):
            yield self._block(token, "code")
        elif token.type == "html_block":
            yield self._block(token, "paragraph")
        elif token.type == "paragraph_open":
            yield self._block(token, "paragraph")._replace(links=self._links(following[0].content))
        elif token.type == "heading_open":
            content = following[0].content
            block = self._block(token, "paragraph")._replace(links=self._links(content))
            if token.level == 0:
                title = self._title(content)
                block = block._replace(kind="heading", title=title, level=int(token.tag[1:]))
            yield block

    def _rows(self, tokens: Sequence[Token]) -> Iterator[Block]:
        self.tables += 1
        head = ""
        row: list[str] = []
        for index, token in enumerate(tokens):
            if token.type == "tr_open":
                row = []
                opened = token
                in_head = tokens[index - 1].type == "thead_open"
            elif token.type == "inline":
                row.append(token.content)
            elif token.type == "tr_close":
                content = " ".join(row)
                block = self._block(opened, "cell")._replace(
                    links=self._links(content), context=head, table=self.tables
                )
                if in_head:
                    head = content[:LONGEST_HEAD]
                    # The line of dashes below belongs to the head.
                    first, last = opened.map or [0, 0]
                    block = block._replace(end=self.lines.span(first, last + 1)[1])
                yield block

    def _block(self, token: Token, kind: str) -> Block:
        first, last = token.map or [0, 0]
        start, end = self.lines.span(first, last)
        return Block(start, end, kind, role=self.containers[-1] if self.containers else None)

    def _title(self, content: str) -> str:
        if len(content) > _LONGEST_INLINE:
            return content[:LONGEST_TITLE]
        return _plain(self._inline(content)).strip(WHITE_SPACE)[:LONGEST_TITLE]

    def _links(self, content: str) -> tuple[str, ...]:
        references = "[" in content and bool(self.environment.get("references"))
        if len(content) > _LONGEST_INLINE or not (references or _LINKED.search(content)):
            return ()
        targets = [str(token.attrs["href"]) for token in self._inline(content) if token.type == "link_open"]
        return tuple(dict.fromkeys(targets))[:MOST_LINKS]

    def _inline(self, content: str) -> list[Token]:
        tokens: list[Token] = []
        _parser().inline.parse(content, _parser(), self.environment, tokens)
        return tokens


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _NESTING}).enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    # Asked before each row of a table too: a table is one block, and may be all of a document.
    parser.block.ruler.before("table", "bound", _bound, {"alt": ["blockquote"]})
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    return parser


def _bound(state: StateBlock, _first: int, _last: int, _silent: bool) -> bool:  # the parser's interface
    """A rule that matches nothing, and is asked at the begin of each block and of each row of a table."""
    if state.tokens and state.tokens[-1].type == "tr_close":
        _join_cells(state, len(state.tokens) - 1)
    if len(state.tokens) > state.env[_BOUND]:
        raise TooManySpans
    if len(state.env.get("references", ())) > MOST_DEFINITIONS:
        raise RequestInvalid(field="content", rule=f"must have at most {MOST_DEFINITIONS:,} link definitions")
    return False


def _table(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # the parser's interface
    """The parser's own rule, unless the line of dashes has more columns than a table may."""
    below = first + 1
    if below < last and state.src.count("|", state.bMarks[below], state.eMarks[below]) > MOST_COLUMNS:
        return False
    begun = len(state.tokens)
    found = table(state, first, last, silent)
    for position in range(len(state.tokens) - 1, begun, -1):  # the head, and the last row
        if position < len(state.tokens) and state.tokens[position].type == "tr_close":
            _join_cells(state, position)
    return found


def _join_cells(state: StateBlock, close: int) -> None:
    """Make one token of the cells of the row that the token at *close* ends; a cell is nothing by itself."""
    tokens, opening = state.tokens, close
    while tokens[opening].type != "tr_open":
        opening -= 1
    cells = [token for token in tokens[opening + 1 : close] if token.type == "inline"]
    if close - opening > 2:
        empty = state.env[_EMPTY] = state.env.get(_EMPTY, 0) + sum(not cell.content for cell in cells)
        if empty > MOST_EMPTY_CELLS:
            rule = f"must have at most {MOST_EMPTY_CELLS:,} empty cells in its tables"
            raise RequestInvalid(field="content", rule=rule)
        cells[0].content = " ".join([cell.content for cell in cells])
        tokens[opening + 1 : close] = cells[:1]


def _plain(tokens: Sequence[Token]) -> str:
    parts = []
    for token in tokens:
        if token.type in ("text", "text_special", "code_inline"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "image":
            parts.append(_plain(token.children or []))
    return "".join(parts)


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """The index of the token that closes the one at *opening*."""
    level = tokens[opening].level
    end = opening + 1
    while tokens[end].level != level or tokens[end].nesting != -1:
        end += 1
    return end


def _with_rest(text: str, leaves: Sequence[Block]) -> Iterator[Block]:
    """*leaves* trimmed, with the lines between them that none of them claims."""
    held: Block | None = None  # may still take markup from behind it
    lead: int | None = None  # where markup before the first block begins
    for block, is_markup in _pieces(text, leaves):
        if not is_markup:
            if held is not None:
                yield held
            held = block if lead is None else block._replace(start=lead)
            lead = None
        elif held is not None:
            held = held._replace(end=block.end)
        elif lead is None:
            lead = block.start
    if held is None and lead is not None:
        held = Block(lead, len(text.rstrip(WHITE_SPACE)), "paragraph")
    if held is not None:
        yield held


def _pieces(text: str, leaves: Sequence[Block]) -> Iterator[tuple[Block, bool]]:
    """Leaves, and what lies between them; true for what holds no word."""
    at = 0
    for leaf in [*leaves, Block(len(text), len(text), "paragraph")]:
        for rest in trimmed(text, Block(at, max(at, leaf.start), "paragraph")):
            yield rest, _WORD.search(text, rest.start, rest.end) is None
        for block in trimmed(text, leaf._replace(start=max(at, leaf.start))):
            yield block, False
        at = max(at, leaf.end)

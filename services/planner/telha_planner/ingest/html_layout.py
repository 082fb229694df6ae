"""
A page's blocks as they are laid out: text that runs together, rows of tables, and the canonical text in the end.

`html.py` says what is open and what is written; this module decides where a block ends and what it is.

Rule 1: white space collapses as in a browser, `pre` keeps its own. Rule 2: a row is a cell block only if its cells hold
nothing but running text; until its end it is not known to be one.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from .blocks import LONGEST, LONGEST_HEAD, LONGEST_TITLE, MOST_LINKS, Block
from .document import MAX_BASE_SPANS, WHITE_SPACE, TooManySpans

COLLAPSIBLE = " \t\n\f\r"

_LONGEST_LINK = 2048
_SPACES = re.compile("[ \t\n\f\r]+")
_BREAK = "\0"  # no document holds it
_BREAKS = re.compile(" ?\0 ?")
_PARAGRAPH_BREAK = re.compile("\n{2,}")
_NOT_A_LINK = re.compile(r"(?:data|file|javascript|vbscript):", re.IGNORECASE)


def collapsed(text: str) -> str:
    """*text* with each run of white space as one space."""
    return _SPACES.sub(" ", text)


class _Shown(NamedTuple):
    """A block's text, and the block without its place."""

    text: str
    block: Block


@dataclass
class _Row:
    """A row of a table, until it is known to be one."""

    cells: list[list[_Shown]] = field(default_factory=list)
    all_heads: bool = True


@dataclass
class _Table:
    number: int
    head: str = ""
    has_body: bool = False


@dataclass
class Layout:
    """
    Takes text and structure, and leaves blocks.

    Attributes:
        preformatted: How many open elements keep white space.
        roles: Of the open lists' items and quotes, the innermost last.
        heading: Level of the open heading, or 0.
        most_spans: Blocks that there may be.
    """

    preformatted: int = 0
    roles: list[str] = field(default_factory=list)
    heading: int = 0
    most_spans: int = MAX_BASE_SPANS
    _shown: list[_Shown] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _links: dict[str, None] = field(default_factory=dict)
    _anchors: list[str] = field(default_factory=list)
    _tables: list[_Table] = field(default_factory=list)
    _tables_met: int = 0
    _row: _Row | None = None
    _waiting: int = 0  # cells and blocks of the row, which are not shown yet

    def write(self, text: str) -> None:
        """Add *text* to the block."""
        if text.strip(COLLAPSIBLE):
            if not self.heading:
                self._anchors.clear()  # they meant this text
        elif not (self._parts or self.preformatted):
            return
        self._parts.append(text)

    def end_block(self) -> None:
        """End the block being written."""
        if not self._parts:
            return
        written = "".join(self._parts)
        self._parts.clear()
        role = self.roles[-1] if self.roles else None
        block = Block(0, 0, "paragraph", role=role, links=tuple(self._links))
        if self.preformatted:
            text = written.replace("\r", "\n").replace(_BREAK, "\n").rstrip(WHITE_SPACE)
            blank = len(text) - len(text.lstrip(WHITE_SPACE))
            self._show(text[text.rfind("\n", 0, blank) + 1 :], block._replace(kind="code"))
            return
        text = _BREAKS.sub("\n", collapsed(written)).strip(WHITE_SPACE)
        if self.heading:
            title = " ".join(text.split("\n"))[:LONGEST_TITLE]
            anchors = tuple(dict.fromkeys(self._anchors))
            self._anchors.clear()
            self._show(text, block._replace(kind="heading", level=self.heading, title=title, anchors=anchors))
            return
        for paragraph in _PARAGRAPH_BREAK.split(text):
            self._show(paragraph.strip(WHITE_SPACE), block)

    def _show(self, text: str, block: Block) -> None:
        if not text:
            return
        self._links.clear()
        if self._row is not None and block.kind != "paragraph":
            self._scatter_row()
        if self._row is not None and self._row.cells:
            self._row.cells[-1].append(_Shown(text, block))
            self._waiting += 1
        else:
            self._shown.append(_Shown(text, block))
        self._bound()

    def assembled(self) -> tuple[str, tuple[Block, ...]]:
        """The canonical text, empty if nothing is shown, and its blocks."""
        return _assembled(self._shown)

    def _bound(self) -> None:
        if len(self._shown) > self.most_spans or self._waiting > 2 * self.most_spans:
            raise TooManySpans

    def write_line_break(self) -> None:
        """Begin a new line inside the block, if there is one."""
        if self._parts:
            self._parts.append(_BREAK)

    def note_anchor(self, name: str) -> None:
        """Let *name* be a fragment that means the heading that comes next, or is being written."""
        if len(self._anchors) < MOST_LINKS:
            self._anchors.append(name[:_LONGEST_LINK])

    def note_link(self, target: str) -> None:
        """Let *target* be a link of the block that comes next, or is being written."""
        usable = target and len(target) <= _LONGEST_LINK and not _NOT_A_LINK.match(target)
        if usable and len(self._links) < MOST_LINKS:
            self._links[target] = None

    def open_table(self) -> None:
        """Begin a table; a row around it is layout."""
        self._scatter_row()
        self._tables_met += 1
        self._tables.append(_Table(self._tables_met))

    def end_table(self) -> None:
        """End the innermost table."""
        self._tables.pop()

    def open_row(self) -> None:
        """Begin a row of the innermost table."""
        self._row = _Row()
        self._waiting = 0

    def open_cell(self, *, is_head: bool) -> None:
        """Begin a cell of the row, unless that is layout."""
        if self._row is not None:
            self._row.cells.append([])
            self._waiting += 1
            self._bound()
            self._row.all_heads &= is_head

    def _scatter_row(self) -> None:
        """Show what the row holds as blocks of their own: it is layout."""
        row, self._row = self._row, None
        if row is not None:
            self._shown += [piece for cell in row.cells for piece in cell]
            self._bound()

    def end_row(self) -> None:
        """End the row: it is a cell block, or what it holds."""
        row = self._row
        if row is None:
            return
        cells = [" ".join(piece.text for piece in cell).replace("\n", " ") for cell in row.cells]
        text = " | ".join(cells).strip(WHITE_SPACE)
        several = any(len(cell) > 1 for cell in row.cells)
        if len(cells) < 2 or (several and len(text.encode()) > LONGEST):
            self._scatter_row()
            return
        self._row = None
        if not any(cells):
            return
        table = self._tables[-1]
        links = tuple(dict.fromkeys(link for cell in row.cells for piece in cell for link in piece.block.links))
        block = Block(0, 0, "cell", links=links[:MOST_LINKS], context=table.head, table=table.number)
        self._shown.append(_Shown(text, block))
        self._bound()
        if row.all_heads and not table.has_body:
            table.head = " ".join(filter(None, (table.head, *cells)))[:LONGEST_HEAD]
        else:
            table.has_body = True


def _assembled(shown: list[_Shown]) -> tuple[str, tuple[Block, ...]]:
    """The text, a blank line between blocks but not between the rows of a table or the items of a list."""
    parts: list[str] = []
    blocks: list[Block] = []
    at = 0
    before: Block | None = None
    for text, block in shown:
        if before is not None:
            parts.append("\n" if _is_next_line(before, block) else "\n\n")
            at += len(parts[-1])
        parts.append(text)
        blocks.append(block._replace(start=at, end=at + len(text)))
        at += len(text)
        before = block
    return "".join(parts), tuple(blocks)


def _is_next_line(before: Block, block: Block) -> bool:
    if block.table:
        return block.table == before.table
    return block.role == before.role == "list item" and block.kind == before.kind == "paragraph"

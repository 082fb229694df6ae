"""
Blocks: a document cut where its structure cuts it, before anything is counted.

Rule 1: blocks are disjoint, in order, and hold every character but white space; what is only markup lies inside one.
Rule 2: a block is at most `LONGEST` bytes; longer ones are cut at the end of a sentence, a line or a word, in that
order of preference, so a document of one endless word is still bounded work and gives usable spans.
Rule 3: offsets here count characters; `byte_offsets` turns them into bytes once, at the end.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import unicodedata2

from . import transcript
from .document import WHITE_SPACE

LONGEST = 1600
"""UTF-8 bytes, about 400 tokens in most languages."""

LONGEST_HEAD = 1000
"""Characters of a table's head that are indexed with each row: a wide head over many rows must stay linear."""

LONGEST_TITLE = 200
"""Characters of a title or a label; the rest is cut off."""

MOST_LINKS = 32
"""Links of one block; the first are kept."""

_SENTENCE_END = re.compile(r"[.!?…](?=[\"'”’)\]]{0,3}[\t\n ])[\"'”’)\]]{0,3}|[。！？︒｡]|\n")
_SPACE = re.compile("[" + re.escape(WHITE_SPACE) + "]")
_LINE_END = re.compile("\n")
_BLANK_LINE = re.compile("\n[ \t\v\f\xa0\u3000]*\n")
_LINE_ENDS_SENTENCE = re.compile(r"[.!?…。！？︒\])\"'”’»][ \t]*(?:\n|\Z)")
_FEWEST_LINES = 4
_SHARE_OF_LINES = 0.75
_JOINER = "\u200d"
_JOINED = "\u200c\u200d\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


class Turn(NamedTuple):
    """Who said a block, and when: µs since 1970 UTC, None where the conversation does not say."""

    speaker: str
    time: int | None


class Block(NamedTuple):
    """
    A piece of the canonical text.

    Attributes:
        start, end: Characters, `start < end`; the first and last are not white space (code keeps its indentation).
        kind: `paragraph`, `heading`, `cell` or `code`.
        role: What the kind does not say: `list item`, `quote`, `front matter`, or None.
        title: A heading's text without markup.
        level: A heading's depth, 1..6; 0 for all else.
        links: Targets, in order of appearance.
        context: Text indexed before it: a table's head for each of its rows, the date of a turn.
        table: Number of the table that it is a row of; 0 for all else.
        anchors: Fragments that mean it, where a document names them itself.
        turn: What it is part of, in a conversation.
        speaker: Who says it, in a transcript.
    """

    start: int
    end: int
    kind: str
    role: str | None = None
    title: str = ""
    level: int = 0
    links: tuple[str, ...] = ()
    context: str = ""
    table: int = 0
    anchors: tuple[str, ...] = ()
    turn: Turn | None = None
    speaker: str | None = None


def paragraphs(text: str) -> Iterator[Block]:
    """
    The paragraphs of plain text: what lies between blank lines.

    Where nearly every line ends a sentence, as in a list of notes, each line is a paragraph. In a transcript each turn
    is one, and what follows it in the same paragraph is by the same speaker.
    """
    is_spoken = transcript.is_transcript(text)
    start = 0
    for match in chain(_BLANK_LINE.finditer(text), (None,)):
        end, behind = (match.start(), match.end()) if match else (len(text), len(text))
        for block in trimmed(text, Block(start, end, "paragraph")):
            pieces = _lines(text, block) if _is_list_of_lines(text, block) else iter((block,))
            yield from _turns(text, pieces) if is_spoken else pieces
        start = behind


def _turns(text: str, pieces: Iterable[Block]) -> Iterator[Block]:
    """*pieces* of one paragraph of a transcript, cut where somebody begins to speak."""
    speaker = None
    for piece in pieces:
        start = at = piece.start
        while at < piece.end:
            name = transcript.name_at(text, at)
            if name is not None:
                yield from trimmed(text, piece._replace(start=start, end=at, speaker=speaker))
                start, speaker = at, name
            at = text.find("\n", at, piece.end) + 1 or piece.end
        yield from trimmed(text, piece._replace(start=start, speaker=speaker))


def _is_list_of_lines(text: str, block: Block) -> bool:
    lines = text.count("\n", block.start, block.end) + 1
    ended = sum(1 for _ in _LINE_ENDS_SENTENCE.finditer(text, block.start, block.end))
    # The last line of any paragraph ends a sentence; wrapped prose has few others.
    return lines >= _FEWEST_LINES and ended >= _SHARE_OF_LINES * lines


def _lines(text: str, block: Block) -> Iterator[Block]:
    start = block.start
    while start < block.end:
        end = text.find("\n", start, block.end)
        end = block.end if end < 0 else end
        yield from trimmed(text, block._replace(start=start, end=end))
        start = end + 1


def trimmed(text: str, block: Block) -> Iterator[Block]:
    """*block* without white space at its ends, if anything is left; code keeps the indentation of its first line."""
    piece = text[block.start : block.end]
    start = block.end - len(piece.lstrip(WHITE_SPACE))
    end = block.start + len(piece.rstrip(WHITE_SPACE))
    if start < end:
        if block.kind == "code":
            start = max(block.start, text.rfind("\n", 0, start) + 1)
        yield block._replace(start=start, end=end)


def cut(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """*blocks*, the long ones in pieces of at most `LONGEST` bytes."""
    for block in blocks:
        if (block.end - block.start) * 4 <= LONGEST or _bytes(text, block.start, block.end) <= LONGEST:
            yield block
        else:
            yield from _pieces(text, block)


def byte_offsets(text: str, positions: Sequence[int]) -> list[int]:
    """The UTF-8 offsets of ascending character *positions* of *text*."""
    if text.isascii():
        return list(positions)
    offsets = []
    before = at = 0
    for position in positions:
        at += len(text[before:position].encode())
        before = position
        offsets.append(at)
    return offsets


def _pieces(text: str, block: Block) -> Iterator[Block]:
    start = block.start
    spoken = False
    while (limit := _fitting(text, start)) < block.end:
        end = _cut_position(text, start, limit, whole_lines=block.kind == "code")
        yield from trimmed(text, block._replace(start=start, end=end))
        start = end
        if block.level:  # one heading is enough
            block = block._replace(kind="paragraph", title="", level=0, anchors=())
        elif block.turn and not spoken:  # the speaker's name stands in the first piece alone
            spoken = True
            block = block._replace(context=f"{block.turn.speaker}\n{block.context}")
    yield from trimmed(text, block._replace(start=start))


def _cut_position(text: str, start: int, limit: int, *, whole_lines: bool) -> int:
    """Where to cut [start, limit): behind the last good place in its second half, else where no character breaks."""
    middle = (start + limit) // 2
    for pattern in (_LINE_END, _SPACE) if whole_lines else (_SENTENCE_END, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, middle, limit)]
        if ends:
            return ends[-1]
    end = limit
    while end > middle and (_sticks(text[end]) or text[end - 1] == _JOINER):
        end -= 1
    return end if end > middle else limit


def _sticks(character: str) -> bool:
    """Whether *character* belongs to the one before it."""
    return character in _JOINED or str(unicodedata2.category(character)).startswith("M")


def _fitting(text: str, start: int) -> int:
    """The end of the longest piece from *start* that has at most `LONGEST` bytes."""
    encoded = text[start : start + LONGEST].encode()[:LONGEST]
    return start + len(encoded.decode(errors="ignore"))


def _bytes(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode())

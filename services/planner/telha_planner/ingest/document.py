"""
A document at the door: what ingestion accepts, and the canonical text that every offset counts in.

Rule 1: a document that breaks a rule is refused with its field; nothing is repaired but two things that carry no
meaning: a byte order mark is dropped, and CRLF and CR become LF. Of plain text and Markdown the result is the canonical
text; HTML and conversations have one made from them (`html.py`, `conversation.py`). The canonical text is stored and
served back, and all offsets are byte offsets into it, so they may differ from offsets into the file as sent.
Rule 2: field paths use the wire's spelling, relative to the document (`content`, `valid_from_us`).
"""

from dataclasses import dataclass

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import INT64_MIN, OPEN_END
from telha_planner.core.value import check_name, check_range, check_text

MAX_DOCUMENT_NAME_BYTES = 1024
MAX_URI_BYTES = 2048
MAX_BASE_SPANS = 200_000
"""Most base spans of the documents of one call: each costs some 3 kB while it is written, whatever it holds."""
MAX_STREAMED_SPANS = 800_000
"""Most base spans of a streamed document: 64 MiB of Markdown that is all lists and short paragraphs (84 bytes each)."""

PLAIN = "text/plain"
MARKDOWN = "text/markdown"
HTML = "text/html"
JSON = "application/json"
JSON_LINES = "application/x-ndjson"
MEDIA_TYPES = (PLAIN, MARKDOWN, HTML, JSON, JSON_LINES)
"""What can be ingested; the last two are conversations."""

WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000"
)
"""What counts as white space, spelled out, since the interpreter's own list may change."""

_ENDINGS = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), MARKDOWN),
    **dict.fromkeys((".html", ".htm"), HTML),
    ".json": JSON,
    **dict.fromkeys((".jsonl", ".ndjson"), JSON_LINES),
}


@dataclass(frozen=True, slots=True)
class DocumentHeader:
    """
    All that is said of a document beside its content; checked when made.

    Attributes:
        source_id: 16 bytes, or None to derive it from tenant, space, and uri or name.
        name: Display name, 1..1024 bytes.
        uri: Where it comes from, 1..2048 bytes.
        space: The space it belongs to.
        media_type: One of `MEDIA_TYPES`; None decides by the ending of *name*.
        valid_from: Since when it is true, µs since 1970 UTC; None is the commit.

    Raises:
        RequestInvalid: A rule is broken.
    """

    source_id: bytes | None
    name: str
    uri: str | None
    space: str
    media_type: str | None
    valid_from: int | None

    def __post_init__(self) -> None:
        if self.source_id is not None and len(self.source_id) != 16:
            raise RequestInvalid(field="source_id", rule="must be 16 bytes")
        check_name("name", self.name, MAX_DOCUMENT_NAME_BYTES)
        if self.uri is not None:
            check_name("uri", self.uri, MAX_URI_BYTES)
        check_name("space", self.space)
        if self.media_type is not None and self.media_type not in MEDIA_TYPES:
            raise RequestInvalid(field="media_type", rule=f"must be one of {', '.join(MEDIA_TYPES)}")
        check_range("valid_from_us", self.valid_from, INT64_MIN, OPEN_END - 1)

    def with_content(self, content: bytes) -> "DocumentInput":
        """The whole document; raises `RequestInvalid` as `DocumentInput` does."""
        return DocumentInput(self.source_id, self.name, self.uri, self.space, self.media_type, content, self.valid_from)


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """
    A document to ingest; checked when made.

    Attributes:
        source_id, name, uri, space, media_type, valid_from: As in `DocumentHeader`.
        content: The document in UTF-8, not blank, without U+0000.

    Raises:
        RequestInvalid: A rule is broken.
    """

    source_id: bytes | None
    name: str
    uri: str | None
    space: str
    media_type: str | None
    content: bytes
    valid_from: int | None

    def __post_init__(self) -> None:
        DocumentHeader(self.source_id, self.name, self.uri, self.space, self.media_type, self.valid_from)
        text = canonical_text(self.content)
        check_text("content", text)
        if not text.strip(WHITE_SPACE):
            raise RequestInvalid(field="content", rule="must not be blank")

    @property
    def resolved_media_type(self) -> str:
        """The media type as stated, or by the ending of the name, else plain text."""
        if self.media_type is not None:
            return self.media_type
        _, dot, ending = self.name.lower().rpartition(".")
        return _ENDINGS.get(dot + ending, PLAIN)


class TooManySpans(Exception):
    """The document has more base spans than one call may write."""


def canonical_text(content: bytes) -> str:
    """
    The text in *content*, without byte order mark, its lines ended by LF.

    Raises:
        RequestInvalid: *content* is not UTF-8 in the strict sense (no surrogates, no overlong forms).
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestInvalid(field="content", rule=f"must be UTF-8; byte {error.start:,} is not") from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")

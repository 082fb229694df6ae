"""What a caller asks "why not?" of: bytes of a source, a source, or a section of one."""

from dataclasses import dataclass

from .model import SpanRef

MAX_SUBJECTS = 32
MAX_SUBJECT_BYTES = 1024


@dataclass(frozen=True, slots=True)
class SourceSubject:
    """
    A source, or a section of it.

    Attributes:
        source: Its id or its display name, 1..1024 bytes.
        section: Title of a section, or several joined by ` > `, at most 1024 bytes; empty means the whole source.
    """

    source: str
    section: str = ""


Subject = SpanRef | SourceSubject

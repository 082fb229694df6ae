"""A context as one text for a model to read; docs/prompt.md describes the text."""

from dataclasses import dataclass

from .inputs import Span


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage of a prompt: its number in the text, from 1, the place of its item, from 0, and its span."""

    number: int
    item: int
    span: Span


@dataclass(frozen=True, slots=True)
class Prompt:
    """
    The items of a context as one text.

    Attributes:
        format: Version of the layout.
        text: An instruction and the passages, numbered and fenced; empty where no passage is shown.
        tokens: Of the whole text; never more than the budget applied.
        tokenizer: Encoding that counted, or `estimate`.
        citations: The passages shown, by number.
        left_out: Spans of the plan that would have exceeded the budget, the least dense.
    """

    format: str
    text: str
    tokens: int
    tokenizer: str
    citations: tuple[Citation, ...]
    left_out: tuple[Span, ...]

"""
A corpus with its manifest: documents, clarifications, and questions with what their answers must show.

Documents stand in the order in which they became known. The manifest is `corpus.toml` in the corpus's folder.
"""

import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from .problems import Problem

MANIFEST = "corpus.toml"


class Document(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """
    One document.

    Attributes:
        file: Path below the corpus's folder.
        valid_from: RFC 3339.
    """

    file: str
    name: str
    valid_from: str | None = None
    space: str | None = None
    source_id: str | None = None


class Clarification(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A question that memory itself has; `name`, `heading` and `passage` tell a reader which node is meant."""

    clarification_id: str
    node_id: str
    state: Literal["pending", "conflicted", "resolved"]
    question: str
    name: str = ""
    heading: str = ""
    passage: str = ""


class Question(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """
    One question of the demo.

    Attributes:
        about: What it shows.
        space: The space to read; None is `main`.
        known_before: Ask as memory knew before this document (its `file`) came.
        surface: Which way in it goes.
        expect: Text that an item must hold.
        empty: The answer must have no items.
        by_meaning: What is expected can be found by its meaning alone: no word of the question leads there.
    """

    about: str
    question: str
    space: str | None = None
    valid_time: str | None = None
    known_before: str | None = None
    max_tokens: int | None = None
    max_frac_per_source: float | None = None
    surface: Literal["cli", "rest"] = "cli"
    expect: str | None = None
    empty: bool = False
    by_meaning: bool = False


class Corpus(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The manifest."""

    about: str
    documents: tuple[Document, ...]
    clarifications: tuple[Clarification, ...] = ()
    questions: tuple[Question, ...] = ()


def load(folder: Path) -> Corpus:
    """
    Read the manifest in *folder*.

    Raises:
        Problem: There is none, or it is not one.
    """
    path = folder / MANIFEST
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Corpus)
    except OSError as fault:
        hint = "run this in the repository's folder, or name the corpus with --examples"
        raise Problem("NOT_FOUND", f"{path} cannot be read: {fault.strerror}", hint=hint) from None
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError) as fault:
        raise Problem("INVALID_REQUEST", f"{path} is not a corpus: {fault}") from None

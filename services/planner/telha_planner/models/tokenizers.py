"""
Token counts, exact and offline, and what is known of reading models.

Rule 1: a count is exact for the encoding it names, or it is not given: a model whose tokenizer is not at hand has no
encoding, and the caller falls back to the estimate of `core.tokens` and says so.
Rule 2: text is data. A special token spelled out in it, such as `<|endoftext|>`, counts as the characters it is.
Rule 3: a tokenizer is loaded at first use and shared by all threads.
"""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import splintr
import tokenizers as huggingface

from telha_planner.config import TokenSettings

from .counts import TokenCounts

BUILT_IN = ("cl100k_base", "o200k_base")
"""Encodings that every span is counted in at ingest."""

ESTIMATE = "estimate"
"""The name that stands in stats where no encoding does; never an encoding."""

_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4})$")


class TokenizersInvalid(ValueError):
    """The settings name a tokenizer that is not there or cannot be read; the message lists every fault."""


class EncodingMissing(LookupError):
    """A count was asked for in an encoding that is neither built in nor configured."""


class KnownModel(NamedTuple):
    """A reading model; *encoding* is None where its tokenizer is not published, *context_window* is in tokens."""

    encoding: str | None
    context_window: int


class Tokenizers:
    """
    Counts tokens in every encoding at hand.

    Args:
        settings: Default encoding, models and `tokenizer.json` files; configured models win over known ones.

    Raises:
        TokenizersInvalid: An encoding is named that does not exist, or a file cannot be read. Files are loaded here,
            since a typing error should stop the start and not the first plan.
    """

    def __init__(self, settings: TokenSettings) -> None:
        self._counters: dict[str, Callable[[str], int]] = {}
        faults = self._load(settings.tokenizer_files)
        named = {"tokens.default_encoding": settings.default_encoding} | {
            f'tokens.models."{name}".encoding': model.encoding for name, model in settings.models.items()
        }
        faults += [
            f"{key} = {encoding!r} must be {', '.join(BUILT_IN)} or a name in tokens.tokenizer_files"
            for key, encoding in named.items()
            if encoding not in BUILT_IN and encoding not in settings.tokenizer_files
        ]
        if faults:
            raise TokenizersInvalid("; ".join(faults))
        self.default_encoding = settings.default_encoding
        self._models = known_models() | {
            name: KnownModel(model.encoding, model.context_window) for name, model in settings.models.items()
        }

    def count(self, encoding: str, text: str) -> int:
        """
        The number of tokens of *text*, special tokens off.

        Raises:
            EncodingMissing: No such encoding is at hand.
        """
        if encoding in BUILT_IN:
            return _built_in(encoding)(text)
        counter = self._counters.get(encoding)
        if counter is None:
            raise EncodingMissing(f"no tokenizer is configured for the encoding {encoding!r}")
        return counter(text)

    def encoding_of(self, model: str) -> str | None:
        """The encoding that *model* reads with; None if that is not known, so that only an estimate can be given."""
        known = self._find(model)
        return known.encoding if known else None

    def context_window(self, model: str) -> int | None:
        """How many tokens *model* can read, or None if that is not known."""
        known = self._find(model)
        return known.context_window if known else None

    def _find(self, model: str) -> KnownModel | None:
        return self._models.get(model) or self._models.get(_SNAPSHOT.sub("", model))

    def _load(self, paths: dict[str, Path]) -> list[str]:
        faults = []
        for encoding, path in paths.items():
            key = f'tokens.tokenizer_files."{encoding}"'
            if encoding in (*BUILT_IN, ESTIMATE):
                faults.append(f"{key} must not take the name of a built-in encoding")
                continue
            try:
                self._counters[encoding] = _from_file(path)
            except Exception as error:  # noqa: BLE001 - the package raises bare Exception for any fault of a file
                faults.append(f"{key} = {str(path)!r} cannot be read as a tokenizer.json: {error}")
        return faults


def token_counts(text: str) -> TokenCounts:
    """All counts of *text* that ingestion stores."""
    characters = len(text)
    ascii_bytes = characters if text.isascii() else sum(map(str.isascii, text))
    return TokenCounts(
        ascii_bytes, characters - ascii_bytes, _built_in("cl100k_base")(text), _built_in("o200k_base")(text)
    )


@cache
def known_models() -> dict[str, KnownModel]:
    """The table of the package, by model name."""
    table = tomllib.loads(files(__package__).joinpath("known_models.toml").read_text("utf-8"))
    return {name: KnownModel(row.get("encoding"), row["context_window"]) for name, row in table["models"].items()}


@cache
def _built_in(encoding: str) -> Callable[[str], int]:
    # `encode` would turn a special token spelled out in the text into one token.
    encode = splintr.Tokenizer.from_pretrained(encoding).encode_ordinary

    def count(text: str) -> int:
        return len(encode(text))

    return count


def _from_file(path: Path) -> Callable[[str], int]:
    tokenizer = huggingface.Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True  # spelled-out special tokens are text
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False))

    return count

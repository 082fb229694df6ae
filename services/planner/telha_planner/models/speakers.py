"""
Who speaks, as terms: a name and a question meet in ids that no text can produce.

A turn is stored with one such id for each term of its speaker's name, beside the terms of its text; a window of turns
with those of its turns. A question names a speaker if it holds terms of the name: "Anna" names Anna Müller, 小明 names
王小明.

Rule 1: terms of one character (an initial; of a name in a script without spaces its single characters) are left out
where there are longer ones, and pairs of Hiragana (titles and endings: さん) where there is anything else.
Rule 2: where a count of occurrences would stand, an id has its share of the name, and in a window of what is said, in
parts of `WHOLE`. A change here raises `INGEST_VERSION`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import xxhash

from . import analysis, characters
from .analysis import term_id, terms

WHOLE = 2520
"""A name with all its ids; divisible by 1 to 10, so that the shares of nearly every name add up to it."""

_DOMAIN = b"\xffspeaker"  # no UTF-8 holds the byte 0xFF
_CACHED_NAMES = 1 << 12


@lru_cache(_CACHED_NAMES)
def name_ids(name: str) -> Mapping[int, int]:
    """
    What a turn by *name* is stored with.

    Returns:
        Id → its share of `WHOLE`, at least 1; empty if the name holds no word at all.
    """
    ids = [speaker_id(term_id(term)) for term in _telling(dict.fromkeys(terms(name)))]
    return dict.fromkeys(ids, max(1, WHOLE // len(ids)) if ids else 0)


def together(turns: Sequence[Mapping[int, int]]) -> dict[int, int]:
    """What several *turns* are stored with as one: id → the mean of its shares, rounded down, at least 1."""
    ids = {name: None for turn in turns for name in turn}
    return {name: max(1, sum(turn.get(name, 0) for turn in turns) // len(turns)) for name in ids}


def speaker_id(term: int) -> int:
    """The id of a speaker whose name holds the term of id *term*."""
    return xxhash.xxh3_64_intdigest(_DOMAIN + term.to_bytes(8, "little"))


def _telling(found: Iterable[str]) -> list[str]:
    every = list(found)
    longer = [term for term in every if not _is_one_character(term)]
    return [term for term in longer if not characters.is_hiragana(term)] or longer or every


def _is_one_character(term: str) -> bool:
    return len(term) == 1 or (not term.isascii() and characters.cluster_pattern().fullmatch(term) is not None)


def forget() -> None:
    """Let go of the names and words that were analysed lately: they may be those of a text that was just erased."""
    name_ids.cache_clear()
    analysis.forget()

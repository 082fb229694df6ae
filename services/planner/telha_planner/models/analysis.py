"""
Text in, index terms out: what BM25 counts, at ingest and for a question alike.

NFKC, words, case folding. A word is a run of letters, digits, underscores and combining marks; invisible joiners are
dropped. An identifier gives its parts beside the whole: `parseHTTPRequest` → parsehttprequest, parse, http, request.
Scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese …) and Hangul give each character with its marks,
and each pair of neighbours. An emoji is a term of its own. There is no stemming, and every
word counts; which of a question's are searched for is the matter of `stop_words`.

Rule 1: equal text gives equal terms for ever, under any interpreter; see `characters`. A change here raises
`ANALYSIS_VERSION`. Rule 2: text that white space separates is analysed piecewise to the same terms.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import xxhash

from . import characters

ANALYSIS_VERSION = 1

_LONGEST_IDENTIFIER = 128  # beyond it, a "word" is encoded data, whose parts mean nothing
_CACHED_TERMS = 1 << 16
_CACHED_LENGTH = 64  # characters; keeps hostile words out of the caches

_WORDS_OF_ASCII = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}


def terms(text: str) -> list[str]:
    """The terms of *text*, in order, repetitions included."""
    return [term for token in _tokens(text) for term in _terms_of(token)]


def term_counts(text: str) -> dict[int, int]:
    """
    How often each term stands in *text*.

    Returns:
        Term id → occurrences ≥ 1, where the id is xxh3_64 (seed 0) of the term's UTF-8, 0..2⁶⁴ − 1.
    """
    counts: dict[int, int] = {}
    for token, occurrences in Counter(_tokens(text)).items():
        ids = _cached_ids(token) if len(token) <= _CACHED_LENGTH else _ids_of(token)
        for term in ids:
            counts[term] = counts.get(term, 0) + occurrences
    return counts


def occurrences(texts: Iterable[str], wanted: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """
    How often each of a few terms stands in each of *texts*: `term_counts` for a pool that is read once.

    Args:
        wanted: Distinct term ids.

    Returns:
        Per text the number of its terms, repetitions included; and per text the occurrences of each wanted term.
    """
    sizes = _Sizes(frozenset(wanted))
    hits = sizes.hits
    lengths: list[int] = []
    found: list[list[int]] = []
    for text in texts:
        tokens = list(_tokens(text))
        lengths.append(sum(map(sizes.__getitem__, tokens)))
        counts = dict.fromkeys(wanted, 0)
        for token in filter(hits.__contains__, tokens):
            for term in hits[token]:
                counts[term] += 1
        found.append(list(counts.values()))
    return lengths, found


class _Sizes(dict[str, int]):
    """The number of terms of each token met, found at first sight; *hits* holds the wanted terms of those with any."""

    def __init__(self, wanted: frozenset[int]) -> None:
        super().__init__()
        self._wanted = wanted
        self.hits: dict[str, list[int]] = {}

    def __missing__(self, token: str) -> int:
        ids = _cached_ids(token) if len(token) <= _CACHED_LENGTH else _ids_of(token)
        hits = [term for term in ids if term in self._wanted]
        if hits:
            self.hits[token] = hits
        self[token] = len(ids)
        return len(ids)


def term_id(term: str) -> int:
    """The id of *term*."""
    return xxhash.xxh3_64_intdigest(term.encode())


def _tokens(text: str) -> Iterator[str]:
    """Words, and runs of letters that stand alone, before folding and parting."""
    if not text.isascii():
        text = characters.normalized(text)
    if text.isascii():
        return iter(text.translate(_WORDS_OF_ASCII).split(" "))
    return (match.group() for match in characters.word_pattern().finditer(text))


def _terms_of(token: str) -> list[str]:
    if not token.isascii():
        token = token.translate(characters.format_characters())
        match = characters.word_pattern().match(token)
        if match is not None and match.group(2):
            return _characters_and_pairs(token)
    whole = characters.folded(token.strip("_"))
    if not whole:
        return []
    found = [whole]
    if len(token) <= _LONGEST_IDENTIFIER:
        parts = [characters.folded(hump) for part in token.split("_") if part for hump in _humps(part)]
        if parts != found:
            found += parts
    return found


def _humps(part: str) -> list[str]:
    if part.isascii() and (part.islower() or part.isdigit()):
        return [part]
    return characters.hump_pattern().split(part)


def _characters_and_pairs(run: str) -> list[str]:
    letters = characters.cluster_pattern().findall(characters.folded(run))
    return letters + [left + right for left, right in pairwise(letters)]


def _ids_of(token: str) -> tuple[int, ...]:
    return tuple(_cached_id(term) if len(term) <= _CACHED_LENGTH else term_id(term) for term in _terms_of(token))


_cached_ids = lru_cache(_CACHED_TERMS)(_ids_of)
_cached_id = lru_cache(_CACHED_TERMS)(term_id)


def forget() -> None:
    """Let go of the words that were analysed lately: they may be those of a text that was just erased."""
    _cached_ids.cache_clear()
    _cached_id.cache_clear()

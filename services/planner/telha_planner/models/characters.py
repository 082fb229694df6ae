"""
What analysis must know of characters: which make words, which stand alone, and how case folds.

Rule 1: nothing here comes from the interpreter's own tables, which change with its version. Categories and
normalisation are `unicodedata2`'s (Unicode 18.0), folding is `casefold.txt`; ranges of scripts are spelled out.
Rule 2: patterns are built at first need (0.1 s), since ASCII text never asks for them.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import unicodedata2

UNICODE_VERSION = "18.0.0"

# Scripts written without spaces between words, and Hangul, whose particles stick to words: each letter stands alone.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Lanna
    (0x3000, 0x30FF),  # CJK marks, Hiragana, Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA000, 0xA48F),  # Yi
    (0xA980, 0xA9FF),  # Javanese, Myanmar
    (0xAA60, 0xAADF),  # Myanmar, Tai Viet
    (0xAC00, 0xD7A3),  # Hangul syllables
    (0xF900, 0xFAFF),
    (0x17000, 0x18DFF),  # Tangut, Khitan
    (0x1AFF0, 0x1B2FF),  # Kana, Nushu
    (0x20000, 0x3FFFF),  # Han
)
_HIRAGANA = range(0x3041, 0x30A0)
_PLANES = range(0x40000)  # no letters are assigned beyond the third supplementary plane
_SYMBOLS_FROM = 0x2600  # emoji and pictographs; below are arrows, box drawing and mathematics


def normalized(text: str) -> str:
    """*text* in NFKC of Unicode 18.0."""
    return str(unicodedata2.normalize("NFKC", text))


def folded(text: str) -> str:
    """*text* (NFKC) in full case folding, NFKC again; two spellings that differ in case alone become equal."""
    if text.isascii():
        return text.lower()
    return normalized(text.translate(_folding()))


def is_hiragana(term: str) -> bool:
    """Whether *term* (NFKC) is of Hiragana alone, its voicing and iteration marks among it."""
    return all(ord(character) in _HIRAGANA for character in term)


@cache
def word_pattern() -> re.Pattern[str]:
    """Matches, in group order: a word or number, a run of letters that stand alone, a symbol such as an emoji."""
    words, alone, marks, formats, symbols = (_set(members) for members in _classes())
    join = f"{marks}{formats}"
    return re.compile(f"([{words}_][{words}_{join}]*)|([{alone}][{alone}{join}]*)|([{symbols}])")


@cache
def cluster_pattern() -> re.Pattern[str]:
    """Matches one character of a run together with its combining marks."""
    _, _, marks, _, _ = (_set(members) for members in _classes())
    return re.compile(f".[{marks}]*", re.DOTALL)


@cache
def format_characters() -> dict[int, None]:
    """A translation that removes what is invisible inside words: joiners, soft hyphens, direction marks."""
    return dict.fromkeys(_classes()[3])


@cache
def hump_pattern() -> re.Pattern[str]:
    """Matches, with no width, where a part of an identifier begins: `parse|HTTP|Request`."""
    upper = "A-Z" + _set(code for code in _PLANES if code > 0x7F and _category(code) in ("Lu", "Lt"))
    lower = "a-z0-9" + _set(code for code in _PLANES if code > 0x7F and _category(code) == "Ll")
    return re.compile(f"(?<=[{lower}])(?=[{upper}])|(?<=[{upper}])(?=[{upper}](?!s$)[{lower}])")


@cache
def _classes() -> tuple[list[int], list[int], list[int], list[int], list[int]]:
    words: list[int] = []
    alone: list[int] = []
    marks: list[int] = []
    formats: list[int] = []
    symbols: list[int] = []
    unspaced = {code for first, last in _UNSPACED for code in range(first, last + 1)}
    for code in _PLANES:
        category = _category(code)
        if category[0] == "L" or category == "Nl":
            (alone if code in unspaced else words).append(code)
        elif category[0] == "N":
            words.append(code)
        elif category[0] == "M":
            marks.append(code)
        elif category == "Cf":
            formats.append(code)
        elif category == "So" and code >= _SYMBOLS_FROM:
            symbols.append(code)
    return words, alone, marks, formats, symbols


def _category(code: int) -> str:
    return str(unicodedata2.category(chr(code)))


def _set(codes: Iterable[int]) -> str:
    """The inside of a regular expression's character set, as ranges of code points."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


@cache
def _folding() -> dict[int, str]:
    table = {code: chr(code + 32) for code in range(ord("A"), ord("Z") + 1)}
    for line in files(__package__).joinpath("casefold.txt").read_text("ascii").splitlines():
        if line.startswith("#"):
            continue
        single, _, several = line.partition(" = ")
        if several:
            table[int(single, 16)] = "".join(chr(int(code, 16)) for code in several.split())
            continue
        first, last, step, offset = line.split()
        for code in range(int(first, 16), int(last, 16) + 1, int(step)):
            table[code] = chr(code + int(offset))
    return table

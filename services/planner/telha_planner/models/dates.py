"""
Days that a question names: "on 8 December 2023", "em maio de 2022", "2023年7月31日", "2024-01-07".

A memory has a time since when it holds, so a date in a question tells which memories it asks of.
English, Portuguese, Spanish, French, German, Chinese and Japanese; and dates in digits, with the year first, or with
the day or the month first (both readings, where both are dates).

Rule 1: names of months mean other things too. They count beside a day or a year, or behind a word that leads to a time
("in May", "im Mai", "em abril"); a year alone only behind such a word. Rule 2: of a date without a year, the last that
had begun is meant. Rule 3: what no calendar has is no date. A change here changes scores: it raises `score_model`.
"""

import re
from collections.abc import Iterable
from datetime import date, timedelta
from itertools import islice
from typing import NamedTuple

from . import characters

_MONTHS = """
    january janeiro enero janvier januar jänner jan
    february fevereiro febrero février februar feb
    march março marzo mars märz mar
    april abril avril apr
    may maio mayo mai
    june junho junio juin juni jun
    july julho julio juillet juli jul
    august agosto août aug
    september setembro septiembre setiembre septembre sept sep
    october outubro octubre octobre oktober oct
    november novembro noviembre novembre nov
    december dezembro diciembre décembre dezember dec
    """
_SHORT = "jan feb mar apr jun jul aug sept sep oct nov dec"
_LEADING = """
    in during of since until till by before after last this next early late mid year
    em de do durante desde até antes depois início fim meados ano
    en del hasta después principios finales mediados año
    dans pendant depuis avant après début fin courant année
    im seit bis vor nach anfang mitte ende jahr jahre
    """
_MOST = 8
"""Most dates that are read of one question."""
_HEAD = 2_048
"""Characters of a question that are read."""

_DAY_LENGTH = 86_400_000_000  # µs
EPOCH = date(1970, 1, 1)
"""Day 0 of instants."""

_MONTH_OF = {name: number for number, line in enumerate(_MONTHS.strip().splitlines(), 1) for name in line.split()}
_DIGITS = {digit: number for number, digit in enumerate("一二三四五六七八九", 1)}

# Ranges are spelled out: no table of the interpreter's decides what a letter is.
_LETTERS = "0-9a-z_\u00df-\u024f"
_EDGE, _END = f"(?<![{_LETTERS}])", f"(?![{_LETTERS}])"
_NAME = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_FULL_NAME = "|".join(sorted(_MONTH_OF.keys() - set(_SHORT.split()), key=len, reverse=True))
_YEAR, _DAY = "(?:19|20)[0-9]{2}", "(?:3[01]|[12][0-9]|0?[1-9])"
_HAN, _GAP = f"(?:{_DAY}|[一二三四五六七八九十]{{1,3}})", " {0,2}"
_OF = "(?:,? {1,2}(?:(?:of|de|del|do) {1,2})?)"
_LEAD, _MORE = "|".join(_LEADING.split()), f"{_OF}{_YEAR}| {{1,2}}{_DAY}{_END}"
_SIGN, _WORD = re.compile("[0-9月年]"), re.compile("[a-z\u00df-\u024f]+")
_DATE = re.compile(
    "|".join(
        (
            rf"(?<![0-9])(?P<y1>{_YEAR}){_GAP}年(?:{_GAP}(?P<m1>{_HAN}){_GAP}月(?:{_GAP}(?P<d1>{_HAN}){_GAP}[日号號])?)?",
            rf"(?<![0-9])(?P<m2>{_HAN}){_GAP}月(?:{_GAP}(?P<d2>{_HAN}){_GAP}[日号號])?(?![间間])",
            rf"(?<![0-9./-])(?P<y3>{_YEAR})(?P<s3>[-/.])(?P<m3>{_DAY})(?P=s3)(?P<d3>{_DAY})(?![0-9])",
            rf"(?<![0-9./-])(?P<d4>{_DAY})(?P<s4>[-/.])(?P<m4>{_DAY})(?P=s4)(?P<y4>{_YEAR})(?![0-9])",
            rf"{_EDGE}(?P<d5>{_DAY})(?:st|nd|rd|th|er|\.?o|\.)?{_OF}(?P<m5>{_NAME}){_END}(?:{_OF}(?P<y5>{_YEAR}){_END})?",
            rf"{_EDGE}(?P<m6>{_NAME}) {{1,2}}(?P<d6>{_DAY})(?:st|nd|rd|th)?{_END}(?:,?{_GAP}(?P<y6>{_YEAR}){_END})?",
            rf"{_EDGE}(?P<m7>{_NAME}){_OF}(?P<y7>{_YEAR}){_END}",
            rf"{_EDGE}(?:{_LEAD}) {{1,2}}(?:(?P<m8>{_FULL_NAME})(?!{_MORE})|(?P<y8>{_YEAR})){_END}",
        )
    )
)


class Days(NamedTuple):
    """
    Days one after the other.

    Attributes:
        first: The first.
        behind: The day after the last.
    """

    first: date
    behind: date


def named_days(question: str, valid_t: int) -> tuple[Days, ...]:
    """
    What the dates in *question* mean, in order, each once.

    Args:
        valid_t: The instant it is asked at, µs since 1970.
    """
    head = question[:_HEAD]
    text = characters.folded(head if head.isascii() else characters.normalized(head))
    if _SIGN.search(text) is None and _MONTH_OF.keys().isdisjoint(_WORD.findall(text)):
        return ()
    return tuple(sorted({days for match in islice(_DATE.finditer(text), _MOST) for days in _meant(match, valid_t)}))


def _meant(match: re.Match[str], valid_t: int) -> Iterable[Days]:
    said = {name[0]: value for name, value in match.groupdict().items() if value is not None}
    year = int(said["y"]) if "y" in said else None
    month = _number(said["m"]) if "m" in said else None
    day = _number(said["d"]) if "d" in said else None
    found = {_days(year, month, day, valid_t)}
    if match["d4"] is not None:
        found.add(_days(year, day, month, valid_t))
    return (days for days in found if days is not None)


def _number(said: str) -> int:
    if said in _MONTH_OF:
        return _MONTH_OF[said]
    if said.isascii():
        return int(said)
    tens, ten, ones = said.rpartition("十")
    return 10 * (_DIGITS.get(tens, 1) if ten else 0) + _DIGITS.get(ones, 0)


def _days(year: int | None, month: int | None, day: int | None, valid_t: int) -> Days | None:
    if month is None:
        return None if year is None else Days(date(year, 1, 1), date(year + 1, 1, 1))
    if year is None:
        today = _day_of(valid_t)
        # 29 February comes once in eight years at worst.
        dates = (_date(year, month, day or 1) for year in range(today.year, max(0, today.year - 9), -1))
        first = next((found for found in dates if found is not None and found <= today), None)
    else:
        first = _date(year, month, day or 1)
    if first is None:
        return None
    return Days(first, first + timedelta(1) if day else date(first.year + month // 12, month % 12 + 1, 1))


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _day_of(instant: int) -> date:
    day = EPOCH.toordinal() + instant // _DAY_LENGTH
    return date.fromordinal(max(1, min(day, date(9000, 1, 1).toordinal())))

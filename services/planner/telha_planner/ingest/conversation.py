"""
A conversation to blocks: one turn, one paragraph, `speaker: text`.

Two shapes carry the same: an object `{"turns": [turn, …]}` (application/json), and one turn on each line
(application/x-ndjson). A turn is `{"speaker", "text"}` and, where it is known, `"time"`: RFC 3339 with an offset, or
whole microseconds since 1970 UTC. A transcript in prose is not guessed at; it is plain text.

Rule 1: unknown fields are refused, since a misspelt `time` would be lost without a word. Rule 2: a fault names the
turn, or the line, counted from 1. Rule 3: the date of a turn, as stated, is indexed with it; its speaker stands in its
text.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeVar

import msgspec

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import INT64_MIN, OPEN_END
from telha_planner.core.value import check_name, check_range, check_text

from .blocks import Block, Turn
from .document import JSON, MAX_BASE_SPANS, WHITE_SPACE, TooManySpans

MAX_SPEAKER_BYTES = 256

_LONGEST_FAULT = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_RFC3339 = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)
_WITHOUT_OFFSET = re.compile(r"\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?", re.ASCII)
_LINE = re.compile("[^\n]*\n?")
_LINE_ENDS = re.compile("\r\n?")


class _Turn(msgspec.Struct, forbid_unknown_fields=True):
    speaker: str
    text: str
    time: str | int | None = None


class _Conversation(msgspec.Struct, forbid_unknown_fields=True):
    turns: list[_Turn]


class Conversation(NamedTuple):
    """
    A conversation's canonical text and blocks.

    Attributes:
        began: The earliest time that a turn states, µs since 1970 UTC, or None.
    """

    text: str
    blocks: tuple[Block, ...]
    began: int | None


def parse(source: str, media_type: str, most_spans: int = MAX_BASE_SPANS) -> Conversation:
    """
    The conversation in *source*, of one of the two media types.

    Raises:
        RequestInvalid: It has another shape, a blank speaker or text, or a time that does not say its offset.
        TooManySpans: It has more than *most_spans* turns.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    at = 0
    for place, turn in _turns(source, media_type):
        speaker, text = _said(place, turn)
        time, date = (None, "") if turn.time is None else _instant(place, turn.time)
        if len(blocks) == most_spans:
            raise TooManySpans
        paragraph = f"{speaker}: {text}"
        parts.append(paragraph)
        blocks.append(Block(at, at + len(paragraph), "paragraph", context=date, turn=Turn(speaker, time)))
        at += len(paragraph) + 2
    if not blocks:
        raise RequestInvalid(field="content", rule="must hold a turn")
    times = [block.turn.time for block in blocks if block.turn and block.turn.time is not None]
    return Conversation("\n\n".join(parts), tuple(blocks), min(times, default=None))


def written_time(time: int) -> str | None:
    """*time* as RFC 3339 in UTC with six digits, so that it sorts as text; None outside the years 1 to 9999."""
    try:
        moment = _EPOCH + timedelta(microseconds=time)
    except OverflowError:
        return None
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _turns(source: str, media_type: str) -> Iterator[tuple[str, _Turn]]:
    if media_type == JSON:
        whole = _decoded("", source, _Conversation)
        yield from ((f"turn {number}: ", turn) for number, turn in enumerate(whole.turns, 1))
        return
    for number, line in enumerate(_LINE.finditer(source), 1):
        if line[0].strip(WHITE_SPACE):
            place = f"line {number}: "
            yield place, _decoded(place, line[0], _Turn)


_Shape = TypeVar("_Shape", _Turn, _Conversation)


def _decoded(place: str, written: str, shape: type[_Shape]) -> _Shape:
    try:
        return msgspec.json.decode(written, type=shape)
    except (msgspec.DecodeError, RecursionError) as fault:
        told = "it is nested too deeply" if isinstance(fault, RecursionError) else str(fault)[:_LONGEST_FAULT]
        expected = '{"turns": [turn, …]}' if shape is _Conversation else "a turn"
        rule = f'must be {expected}, a turn being {{"speaker", "text"}} and perhaps "time"; {place}{told}'
        raise RequestInvalid(field="content", rule=rule) from None


def _said(place: str, turn: _Turn) -> tuple[str, str]:
    try:
        check_name("speaker", turn.speaker, MAX_SPEAKER_BYTES)
        check_text("text", turn.text)
    except RequestInvalid as fault:
        raise RequestInvalid(field="content", rule=f"{place}{fault.field} {fault.rule}") from None
    speaker = turn.speaker.strip(WHITE_SPACE)
    text = _LINE_ENDS.sub("\n", turn.text).strip(WHITE_SPACE)
    if not text or not speaker:
        raise RequestInvalid(field="content", rule=f"{place}{'text' if speaker else 'speaker'} must not be blank")
    return speaker, text


def _instant(place: str, written: str | int) -> tuple[int, str]:
    """The instant, and its date as written: people remember the day that their own clock showed."""
    if isinstance(written, int):
        try:
            check_range("time", written, INT64_MIN, OPEN_END - 1)
        except RequestInvalid as fault:
            raise _time_refused(place, fault.rule or "") from None
        return written, (written_time(written) or "")[:10]
    if _WITHOUT_OFFSET.fullmatch(written):
        raise _time_refused(place, "must say its offset from UTC, as in 2026-06-30T12:00:00Z")
    parts = _RFC3339.fullmatch(written)
    if parts is None:
        raise _time_refused(place, "must be an instant such as 2026-06-30T12:00:00Z, or microseconds since 1970")
    date, clock, fraction, offset = parts.groups()
    if fraction is not None and len(fraction) > 6:
        raise _time_refused(place, "must not be finer than a microsecond")
    zone = "+00:00" if offset in {"Z", "z"} else offset
    try:
        moment = datetime.fromisoformat(f"{date}T{clock}.{(fraction or '').ljust(6, '0')}{zone}")
        return (moment - _EPOCH) // _MICROSECOND, date
    except (ValueError, OverflowError):
        raise _time_refused(place, "must exist on the calendar and the clock") from None


def _time_refused(place: str, rule: str) -> RequestInvalid:
    return RequestInvalid(field="content", rule=f"{place}time {rule}")

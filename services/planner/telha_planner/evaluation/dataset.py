"""
A labelled set: sources, and questions with the spans that an answer must rest on; docs/evaluation.md has the format.

Rule 1: a set is checked whole before anything is asked, and a fault is named by file, line and field.
Rule 2: offsets count bytes of `text`, which must be canonical text already, so that gold is the same bytes in memory.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from blake3 import blake3

from telha_planner.core.errors import RequestInvalid
from telha_planner.core.request import INT64_MIN, OPEN_END, check_question
from telha_planner.core.value import check_text
from telha_planner.ingest.document import MARKDOWN, PLAIN, WHITE_SPACE, DocumentInput, canonical_text
from telha_planner.ingest.identity import uuid5

SOURCES = "sources.jsonl"
QUESTIONS = "questions.jsonl"

REJECTION_KIND = "adversarial"
"""Kind of the questions that the set does not answer: what counts there is how little is returned."""

_NAMESPACE = bytes.fromhex("0b0d6a0c0b9d4a7e8f3cf5a2e7c1d894")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MARKDOWN_ENDINGS = (".md", ".markdown", ".mdown", ".mkd")

Row = Mapping[str, Any]


class DatasetInvalid(Exception):
    """The set cannot be used; the message names file, line, field and rule."""

    def __init__(self, file: str, line: int | None, field: str | None, rule: str) -> None:
        place = [file, *([f"line {line}"] if line else []), *([field] if field else [])]
        super().__init__(f"{', '.join(place)}: {rule}")


@dataclass(frozen=True, slots=True)
class LabelledSource:
    """
    A text of the set.

    Attributes:
        label: Its id in the set.
        content: Canonical text, UTF-8.
        time: When it was said or written, µs since 1970 UTC, or None.
        scope: The unit of isolation; a question sees its own scope alone.
    """

    label: str
    name: str
    content: bytes
    time: int | None
    scope: str

    def document(self, space: str) -> DocumentInput:
        """What is ingested; without a time it has always been true, and no question can come too early for it."""
        media_type = MARKDOWN if self.name.lower().endswith(_MARKDOWN_ENDINGS) else PLAIN
        valid_from = INT64_MIN if self.time is None else self.time
        return DocumentInput(self.id_in(space), self.name, None, space, media_type, self.content, valid_from)

    def id_in(self, space: str) -> bytes:
        """The source's id in memory, 16 bytes."""
        return uuid5(_NAMESPACE, [space, self.label])


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """Bytes [start, end) of the source of that index in the set: evidence."""

    source: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """
    A question of the set.

    Attributes:
        time: The instant it is asked at, µs; None is that of the scope's newest source.
        gold: Its evidence; none if the set holds no answer.
    """

    label: str
    text: str
    kind: str
    scope: str
    time: int | None
    gold: tuple[GoldSpan, ...]

    @property
    def is_rejection(self) -> bool:
        """Whether the right answer is "nothing of this is known"."""
        return self.kind == REJECTION_KIND or not self.gold


@dataclass(frozen=True, slots=True)
class Dataset:
    """
    A checked set.

    Attributes:
        digest: BLAKE3 of both files, hexadecimal.
    """

    name: str
    sources: tuple[LabelledSource, ...]
    questions: tuple[Question, ...]
    digest: str

    def newest(self, scope: str) -> int | None:
        """The time of the newest source of *scope*, µs; None if none has a time."""
        return max((s.time for s in self.sources if s.scope == scope and s.time is not None), default=None)

    def only(self, kept: Sequence[int]) -> "Dataset":
        """The set of the sources *kept*, by index, and of the questions of their scopes."""
        number = {index: new for new, index in enumerate(kept)}
        sources = tuple(self.sources[index] for index in kept)
        scopes = {source.scope for source in sources}
        questions = tuple(
            replace(one, gold=tuple(replace(span, source=number[span.source]) for span in one.gold))
            for one in self.questions
            if one.scope in scopes
        )
        return replace(self, sources=sources, questions=questions)

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes, in the order in which sources name them."""
        return tuple(dict.fromkeys(source.scope for source in self.sources))


def load(folder: Path) -> Dataset:
    """
    Read and check the set in *folder*.

    Raises:
        DatasetInvalid: A file is missing or breaks a rule.
    """
    digest = blake3()
    sources: list[LabelledSource] = []
    labels: dict[str, int] = {}
    for line, row in _rows(folder, SOURCES, ("source_id", "name", "text", "time", "scope"), digest.update):
        source = _source(line, row)
        if source.label in labels:
            raise DatasetInvalid(SOURCES, line, "source_id", f"{source.label!r} stands in an earlier line too")
        labels[source.label] = len(sources)
        sources.append(source)
    questions: list[Question] = []
    asked: set[str] = set()
    fields = ("id", "question", "kind", "scope", "time", "gold")
    for line, row in _rows(folder, QUESTIONS, fields, digest.update):
        question = _question(line, row, labels, sources)
        if question.label in asked:
            raise DatasetInvalid(QUESTIONS, line, "id", f"{question.label!r} stands in an earlier line too")
        asked.add(question.label)
        questions.append(question)
    if not sources:
        raise DatasetInvalid(SOURCES, None, None, "must hold at least one source")
    return Dataset(folder.resolve().name, tuple(sources), tuple(questions), digest.hexdigest())


def _rows(
    folder: Path, file: str, fields: tuple[str, ...], seen: Callable[[bytes], object]
) -> Iterator[tuple[int, Row]]:
    try:
        content = (folder / file).read_bytes()
    except OSError as error:
        raise DatasetInvalid(file, None, None, f"cannot be read: {error.strerror}") from None
    seen(len(content).to_bytes(8, "big") + content)
    for line, raw in enumerate(content.split(b"\n"), 1):
        if not raw and line > 1:
            continue
        row = _object(file, line, raw)
        for field in fields:
            if field not in row:
                raise DatasetInvalid(file, line, field, "is required")
        for field in row:
            if field not in fields:
                raise DatasetInvalid(file, line, field, f"is unknown; the fields are {', '.join(fields)}")
        yield line, row


def _object(file: str, line: int, raw: bytes) -> dict[str, Any]:
    try:
        row = json.loads(raw.decode(), object_pairs_hook=_distinct)
    except ValueError as error:
        raise DatasetInvalid(file, line, None, f"must be a JSON object in UTF-8: {error}") from None
    except RecursionError:
        raise DatasetInvalid(file, line, None, "must not be nested so deep") from None
    if not isinstance(row, dict):
        raise DatasetInvalid(file, line, None, "must be a JSON object")
    return row


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key stands twice")
    return row


def _source(line: int, row: Row) -> LabelledSource:
    label, name, scope = (_text(SOURCES, line, row, field) for field in ("source_id", "name", "scope"))
    text = row["text"]
    if not isinstance(text, str):
        raise DatasetInvalid(SOURCES, line, "text", "must be a string")
    try:
        content = text.encode()
    except UnicodeEncodeError:
        raise DatasetInvalid(SOURCES, line, "text", "must not hold a lone surrogate") from None
    if (canonical := canonical_text(content)) != text:
        at = next((i for i, (a, b) in enumerate(zip(text, canonical, strict=False)) if a != b), len(canonical))
        place = len(text[:at].encode())
        rule = f"must be canonical text, with LF alone and no byte order mark; byte {place:,} is not"
        raise DatasetInvalid(SOURCES, line, "text", rule)
    time = _time(SOURCES, line, row)
    source = LabelledSource(label, name, content, time, scope)
    try:
        source.document("main")
    except RequestInvalid as error:
        field = {"content": "text", "valid_from_us": "time"}.get(error.field, error.field)
        raise DatasetInvalid(SOURCES, line, field, error.rule) from None
    return source


def _question(line: int, row: Row, labels: Mapping[str, int], sources: list[LabelledSource]) -> Question:
    label, text, kind, scope = (_text(QUESTIONS, line, row, field) for field in ("id", "question", "kind", "scope"))
    try:
        check_question(text)
    except RequestInvalid as error:
        raise DatasetInvalid(QUESTIONS, line, "question", error.rule) from None
    if not isinstance(row["gold"], list):
        raise DatasetInvalid(QUESTIONS, line, "gold", "must be a list")
    time = _time(QUESTIONS, line, row)
    gold = tuple(_gold(line, f"gold[{i}]", one, scope, labels, sources) for i, one in enumerate(row["gold"]))
    return Question(label, text, kind, scope, time, gold)


def _gold(
    line: int, place: str, one: object, scope: str, labels: Mapping[str, int], sources: list[LabelledSource]
) -> GoldSpan:
    if not isinstance(one, dict) or set(one) != {"source_id", "start", "end"}:
        raise DatasetInvalid(QUESTIONS, line, place, "must be an object of source_id, start and end")
    index = labels.get(one["source_id"]) if isinstance(one["source_id"], str) else None
    if index is None:
        raise DatasetInvalid(QUESTIONS, line, f"{place}.source_id", f"must be the id of a source of {SOURCES}")
    source = sources[index]
    if source.scope != scope:
        raise DatasetInvalid(QUESTIONS, line, f"{place}.source_id", f"must be of the question's scope {scope!r}")
    start, end = one["start"], one["end"]
    for field, offset in (("start", start), ("end", end)):
        if type(offset) is not int or not 0 <= offset <= len(source.content):
            rule = f"must be a byte offset from 0 to {len(source.content):,}"
            raise DatasetInvalid(QUESTIONS, line, f"{place}.{field}", rule)
        if offset < len(source.content) and source.content[offset] & 0xC0 == 0x80:
            raise DatasetInvalid(QUESTIONS, line, f"{place}.{field}", "must not lie inside a character")
    if not source.content[start:end].decode().strip(WHITE_SPACE):
        raise DatasetInvalid(
            QUESTIONS, line, f"{place}.end", "must lie behind start, with more than white space between"
        )
    return GoldSpan(index, start, end)


def _text(file: str, line: int, row: Row, field: str) -> str:
    value = row[field]
    if not isinstance(value, str) or not value.strip():
        raise DatasetInvalid(file, line, field, "must be a string that is not blank")
    try:
        check_text(field, value)
    except RequestInvalid as error:
        raise DatasetInvalid(file, line, field, error.rule) from None
    return value


def _time(file: str, line: int, row: Row) -> int | None:
    value = row["time"]
    if value is None:
        return None
    rule = "must be null or an ISO 8601 instant with an offset, such as 2026-06-30T12:00:00Z"
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise DatasetInvalid(file, line, "time", rule) from None
    if moment.tzinfo is None:
        raise DatasetInvalid(file, line, "time", rule)
    return min((moment - _EPOCH) // _MICROSECOND, OPEN_END - 1)

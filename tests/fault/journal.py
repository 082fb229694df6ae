"""
What a load sent and what it was told, line by line in a file that outlives everything but the disk.

Rule: a line is written before a call is sent, and after its answer has been read whole; what stands here as answered
was promised by the system.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Coordinate = tuple[str, int, int, int]
"""`sourceId, sourceVersionTx, start, end`."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt of a call: it may have been carried out, answered or not."""

    number: int
    kind: str
    mark: str


@dataclass(frozen=True, slots=True)
class Answered:
    """
    One attempt that was answered.

    Attributes:
        planner: Which planner answered; empty over REST, where a balancer chose.
        trace_id: Empty for kinds that leave none.
        coordinates: Of the returned spans, in returned order.
        digests: SHA-256 of each returned text, hexadecimal.
        window: The instants read at, as REST spells them.
        told: What else the answer said: of an ingest source, version and outcome; of a query a digest of its nodes.
    """

    number: int
    kind: str
    mark: str
    planner: str = ""
    trace_id: str = ""
    plan_hash: str = ""
    coordinates: tuple[Coordinate, ...] = ()
    digests: tuple[str, ...] = ()
    window: dict[str, int] | None = None
    told: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused:
    """One attempt that was refused, or of which nobody knows."""

    number: int
    kind: str
    mark: str
    reason: str


Line = Sent | Answered | Refused
_LINES = {line.__name__: line for line in (Sent, Answered, Refused)}


class Journal:
    """Appends lines to the file at *path*; safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, line: Line) -> None:
        """Hand *line* to the operating system before returning."""
        told = json.dumps([type(line).__name__, asdict(line)], ensure_ascii=False)
        with self._lock:
            self._file.write(told + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file; it stays."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Read:
    """A journal, read: *sent* and *answered* by mark, *refused* in order."""

    sent: dict[str, Sent]
    answered: dict[str, Answered]
    refused: list[Refused]

    @classmethod
    def of(cls, lines: Iterator[Line] | list[Line]) -> "Read":
        """Sort *lines* by what they are."""
        read = cls({}, {}, [])
        for line in lines:
            if isinstance(line, Sent):
                read.sent[line.mark] = line
            elif isinstance(line, Answered):
                read.answered[line.mark] = line
            else:
                read.refused.append(line)
        return read

    @property
    def traced(self) -> list[Answered]:
        """Answers that promise a trace."""
        return [answer for answer in self.answered.values() if answer.trace_id]


def lines(path: Path) -> Iterator[Line]:
    """The lines of a journal's file."""
    with path.open(encoding="utf-8") as file:
        for raw in file:
            name, values = json.loads(raw)
            if name == Answered.__name__:
                values["coordinates"] = tuple(tuple(one) for one in values["coordinates"])
                values["digests"] = tuple(values["digests"])
            yield _LINES[name](**values)

"""
What must hold after everything, judged from a journal and from what is found; nothing here touches a process.

Rule: a check compares what was promised with what is there, both read from outside, and says each fault in a line.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from fault.calls import TRACED, mark_in, note, pool_source
from fault.journal import Answered, Coordinate, Read, Refused
from fault.load import WRONG_HASH
from fault.stores import StoredTrace, StoredVersion
from fault.wire import digest

EXPLAINED = frozenset(
    {"UNAVAILABLE", "DRAINING", "OVERLOADED", "TRACE_BACKLOG_FULL", "TRACE_PENDING", "DEADLINE_EXCEEDED"}
)
"""Reasons with which a system under faults may refuse."""

_TRANSPORT = frozenset(
    {"ConnectError", "ReadError", "RemoteProtocolError", "ReadTimeout", "ConnectTimeout", "WriteError"}
)
_MOST_TOLD = 20


@dataclass(slots=True)
class Findings:
    """
    What is wrong, by kind, a line each.

    Attributes:
        lost: Answered, and without a trace, a version, or an own trace that could be read.
        doubled: There more than once.
        unknown: Traces that no call that was sent can have left.
        mismatched: There, and not what was answered; also refusals that no fault explains.
        broken: Stores, spools or stream that are not as they must be.
    """

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    mismatched: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def any(self) -> bool:
        """Whether anything is wrong."""
        return any((self.lost, self.doubled, self.unknown, self.mismatched, self.broken))

    def told(self) -> list[str]:
        """The first of each kind."""
        kinds = {name: getattr(self, name) for name in ("lost", "doubled", "unknown", "mismatched", "broken")}
        return [f"{kind}: {line}" for kind, lines in kinds.items() for line in lines[:_MOST_TOLD]]


def check_traces(journal: Read, stored: Iterable[StoredTrace], found: Findings) -> None:
    """Each answered call has exactly one trace, with its id, hash and coordinates; each trace, a call that was sent."""
    by_id: dict[str, StoredTrace] = {}
    by_mark: Counter[str] = Counter()
    pools = {pool_source(mark): mark for mark, sent in journal.sent.items() if sent.kind == "select"}
    for trace in stored:
        if trace.trace_id in by_id:
            found.doubled.append(f"trace {trace.trace_id} is stored twice")
        by_id[trace.trace_id] = trace
        mark = pools.get(trace.first) if trace.kind == "select" else mark_in(trace.question)
        if mark is None or mark not in journal.sent or journal.sent[mark].kind not in TRACED:
            found.unknown.append(f"trace {trace.trace_id} of no call that was sent")
            continue
        by_mark[mark] += 1
    found.doubled += [f"{mark} has {count} traces" for mark, count in by_mark.items() if count > 1]
    for answer in journal.traced:
        trace = by_id.get(answer.trace_id)
        if trace is None:
            found.lost.append(f"{answer.kind} {answer.mark}: no trace {answer.trace_id}")
        else:
            _compare(answer, trace.plan_hash, trace.coordinates, found)
            mark = pools.get(trace.first) if trace.kind == "select" else mark_in(trace.question)
            if mark != answer.mark:
                found.mismatched.append(f"{answer.mark}: trace {answer.trace_id} is that of {mark}")


def check_read(answer: Answered, shown: tuple[str, tuple[Coordinate, ...]], found: Findings) -> None:
    """`Traces.Get` shows the trace of *answer* as it was answered."""
    _compare(answer, *shown, found)


def check_reads(journal: Read, found: Findings) -> None:
    """What callers read of their own traces while everything failed was right, and never "not found"."""
    for shown in journal.answered.values():
        if shown.kind == "read":
            _compare(journal.answered[shown.told["of"]], shown.plan_hash, shown.coordinates, found)
    found.lost += [f"read {one.mark}: not found" for one in journal.refused if _is_loss(one)]


def check_refusals(journal: Read, found: Findings) -> None:
    """Every refusal has a reason that faults explain."""
    for one in journal.refused:
        if one.reason in EXPLAINED | _TRANSPORT or _is_loss(one):
            continue
        what = "a hash that is not the plan's" if one.reason == WRONG_HASH else f"refused with {one.reason}"
        found.mismatched.append(f"{one.kind} {one.mark}: {what}")


def check_texts(journal: Read, text_of: Callable[[str, int], bytes | None], found: Findings) -> int:
    """The coordinates of each plan and context cut exactly the returned texts out of their versions; how many did."""
    right = 0
    for answer in journal.traced:
        if answer.kind == "select":  # coordinates are the caller's own, of no stored source
            continue
        for (source, version, start, end), expected in zip(answer.coordinates, answer.digests, strict=True):
            text = text_of(source, version)
            if text is None:
                found.mismatched.append(f"{answer.mark}: version {version} of {source} cannot be read")
            elif digest(text[start:end].decode(errors="replace")) != expected:
                found.mismatched.append(f"{answer.mark}: [{start}:{end}] of {source} is not what was returned")
            else:
                right += 1
    return right


def check_again(answer: Answered, again: Answered, found: Findings) -> None:
    """A call that is made again as of its instants gives the same hash, spans and texts, or the same nodes."""
    same = ("plan_hash", "coordinates", "digests") if answer.kind != "query" else ("told",)
    for name in same:
        if getattr(answer, name) != getattr(again, name):
            found.mismatched.append(f"{answer.kind} {answer.mark}: made again, its {name} differs")


def check_ingests(journal: Read, stored: Iterable[StoredVersion], found: Findings) -> None:
    """Each answered ingest is there once, as the version it was told; one that was not answered, once at most."""
    by_place = {(one.source_id, one.version): one.text for one in stored}
    texts = Counter(line for text in by_place.values() for line in text.splitlines() if line.startswith("Notation "))
    answered: Mapping[int, Answered] = {a.number: a for a in journal.answered.values() if a.kind == "ingest"}
    for number in sorted({sent.number for sent in journal.sent.values() if sent.kind == "ingest"}):
        if texts[note(number)] > 1:
            found.doubled.append(f"ingest {number} is stored {texts[note(number)]} times")
        if number not in answered:
            continue
        told = answered[number].told
        text = by_place.get((told["source"], told["version"]))
        if text is None:
            found.lost.append(f"ingest {number}: no version {told['version']} of {told['source']}")
        elif note(number) not in text.splitlines():
            found.mismatched.append(f"ingest {number}: version {told['version']} holds another text")
        if told["outcome"] not in {"created", "updated"}:
            found.mismatched.append(f"ingest {number} was told that it is {told['outcome']}")


def _is_loss(refused: Refused) -> bool:
    """Only traces that were answered are read."""
    return refused.kind == "read" and refused.reason == "NOT_FOUND"


def _compare(answer: Answered, plan_hash: str, coordinates: tuple[Coordinate, ...], found: Findings) -> None:
    # A call without evidence is answered with no plan; its trace holds the empty plan's hash.
    if answer.plan_hash and answer.plan_hash != plan_hash:
        found.mismatched.append(f"{answer.mark}: its trace has the hash {plan_hash}")
    if answer.coordinates != coordinates:
        found.mismatched.append(f"{answer.mark}: its trace has other coordinates")

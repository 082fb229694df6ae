"""
One fault run: start a system, load it, let faults strike, let it settle, hold everything against the journal.

    corpus ──► load ∥ faults ──► settle ──► traces, texts, reads, ingests ──► calls again ──► stop ──► stores, spools
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fault import checks, journal, settling
from fault.calls import call, corpus
from fault.checks import Findings
from fault.faults import EFFECTS, FAULTS
from fault.field import STEPPED, Field, NotHere
from fault.journal import Answered, Journal, Read
from fault.load import Load
from fault.report import Report
from fault.stores import Stores, broken_laws, recorded_before, stored_traces, stored_versions
from fault.system import System
from fault.wire import Grpc, Refusal, Rest, WrongHash
from telha_client import Client

_CORPUS_AT_ONCE = 12
_HALF_AN_HOUR_US = 1_800_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """
    What to run.

    Attributes:
        calls: Least number of calls.
        faults: Kinds; each strikes at least once, and again while the load goes on.
        scale: Length of the faults that last; 1 is full.
        pause_s: Longest pause between two faults.
        minutes: Bound of the load.
        settle_s: Bound of the settling.
        again: Calls to make again at the end.
    """

    calls: int
    seed: int
    faults: Sequence[str] = tuple(FAULTS)
    scale: float = 1.0
    pause_s: float = 3.0
    callers: int = 6
    minutes: float = 45.0
    settle_s: float = 180.0
    again: int = 400


def run(options: Options, folder: Path, stores: Stores, say: Callable[[str], None]) -> tuple[Report, Read]:
    """Run; *say* hears how it goes, a line at a time."""
    report, began_us = Report(stores.name, options.seed), time.time_ns() // 1000
    path = folder / "journal.jsonl"
    with System(folder, stores) as system:
        if system.without_shim:
            say(f"no shim: {system.without_shim}")
        with Client(system.address("planner-1"), key=system.key) as client:
            documents = corpus(options.seed)
            for first in range(0, len(documents), _CORPUS_AT_ONCE):
                client.memory.ingest(documents[first : first + _CORPUS_AT_ONCE])
        _load(system, options, path, report, say)
        read = Read.of(journal.lines(path))
        say(f"{len(read.sent)} attempts, {len(read.answered)} answered; settling")
        report.settle_s = settling.settle(system, read, options.settle_s)
        report.met[STEPPED] = recorded_before(stores, began_us - _HALF_AN_HOUR_US)
        _check(system, options, read, report, say)
        unmet = [name for name in report.faults if name in EFFECTS and not report.met[EFFECTS[name]]]
        report.found.broken += [f"{name} struck without effect, so nothing is proven of it" for name in unmet]
    return report, read


def _load(system: System, options: Options, path: Path, report: Report, say: Callable[[str], None]) -> None:
    written = Journal(path)
    planners = {part.name: system.address(part.name) for part in system.planners}
    load = Load(written, planners, system.url, system.key, seed=options.seed, count=options.calls)
    since = time.monotonic()
    load.start(options.callers)
    try:
        _strike(system, options, load, report, say)
        load.finish()
        while load.calls and time.monotonic() < since + 60 * options.minutes:
            time.sleep(0.1)
    finally:
        load.stop()
        written.close()
    report.calls = load.made
    report.load_s = time.monotonic() - since
    report.found.broken += load.faults
    if not load.done:
        report.found.broken.append(
            f"only {load.made} of {options.calls} calls were made in {options.minutes:g} minutes"
        )


def _strike(system: System, options: Options, load: Load, report: Report, say: Callable[[str], None]) -> None:
    """Let every kind strike once, in an order of the seed, then go on in others until the calls are made."""
    dice = random.Random(f"{options.seed}/faults")
    field = Field(system, dice, load, options.scale)
    end = time.monotonic() + 60 * options.minutes
    decks = 0
    while decks == 0 or not load.done:
        for name in dice.sample(options.faults, len(options.faults)):
            if name in report.absent:
                continue
            if (decks and load.done) or time.monotonic() > end:
                break
            time.sleep(dice.uniform(0.2, options.pause_s))
            since, before = time.monotonic(), load.made
            try:
                FAULTS[name](field)
            except NotHere as absent:
                report.absent[name] = str(absent)
                say(f"{name}: not here: {absent}")
                continue
            report.faults[name] += 1
            say(f"{name}: {time.monotonic() - since:.1f} s, {load.made - before} calls meanwhile, {load.made} in all")
        decks += 1
        if time.monotonic() > end:
            break
    report.met += field.met
    report.found.broken += field.wrong


def _check(system: System, options: Options, read: Read, report: Report, say: Callable[[str], None]) -> None:
    found = report.found
    found.broken += settling.stream_left(system)
    stored = stored_traces(system.stores)
    report.traces = len(stored)
    checks.check_traces(read, stored, found)
    checks.check_reads(read, found)
    checks.check_refusals(read, found)
    checks.check_ingests(read, stored_versions(system.stores), found)
    planners = [Grpc.open(part.name, system.address(part.name), system.key) for part in system.planners]
    rest = Rest.open(system.url, system.key)
    say("reading every text and every trace through the services")
    report.texts = checks.check_texts(read, _texts(planners[0]), found)
    with ThreadPoolExecutor(4) as threads:
        for wrong in threads.map(lambda pair: _read(*pair), zip(read.traced, _turns([*planners, rest]), strict=False)):
            _join(found, wrong)
        again = _sample(read, options)
        say(f"making {len(again)} calls again")
        for wrong in threads.map(lambda pair: _again(options.seed, *pair), zip(again, _turns(planners), strict=False)):
            _join(found, wrong)
    report.again = len(again)
    for planner in planners:
        planner.channel.close()
    rest.client.close()
    found.broken += settling.stop_all(system)
    found.broken += broken_laws(system.stores)
    found.broken += settling.spools_left(system.spools)


def _turns(ways: Sequence[Grpc | Rest]) -> Iterator[Grpc | Rest]:
    while True:
        yield from ways


def _texts(planner: Grpc) -> Callable[[str, int], bytes | None]:
    known: dict[tuple[str, int], bytes | None] = {}

    def text_of(source: str, version: int) -> bytes | None:
        if (source, version) not in known:
            try:
                known[source, version] = planner.text(source, version)
            except Refusal:
                known[source, version] = None
        return known[source, version]

    return text_of


def _read(answer: Answered, way: Grpc | Rest) -> Findings:
    found = Findings()
    try:
        checks.check_read(answer, way.trace(answer.trace_id), found)
    except Refusal as refusal:
        found.lost.append(f"{answer.kind} {answer.mark}: its trace is refused with {refusal.reason}")
    return found


def _sample(read: Read, options: Options) -> list[Answered]:
    kinds = {"plan", "context", "select", "query"}
    able = [answer for answer in read.answered.values() if answer.kind in kinds and "code" not in answer.told]
    return random.Random(f"{options.seed}/again").sample(able, min(options.again, len(able)))


def _again(seed: int, answer: Answered, way: Grpc | Rest) -> Findings:
    found = Findings()
    for attempt in range(1, 4):
        try:
            again = way.send(call(seed, answer.number), answer.mark, answer.window)
        except Refusal as refusal:
            if not refusal.again or attempt == 3:
                found.mismatched.append(f"{answer.mark}: made again, it is refused with {refusal.reason}")
                break
            time.sleep(0.1 * attempt)
        except WrongHash as wrong:
            found.mismatched.append(f"{wrong}: made again, its hash is not the plan's")
            break
        else:
            checks.check_again(answer, again, found)
            break
    return found


def _join(found: Findings, more: Findings) -> None:
    found.lost += more.lost
    found.mismatched += more.mismatched

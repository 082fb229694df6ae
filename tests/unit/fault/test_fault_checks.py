"""The checks of a fault run find what they are there to find: each is given a world with one thing wrong."""

from collections import Counter
from dataclasses import replace

import pytest
from fault import checks
from fault.calls import call, note, pool_source
from fault.checks import Findings
from fault.faults import FAULTS, says
from fault.journal import Answered, Journal, Line, Read, Refused, Sent, lines
from fault.load import WRONG_HASH
from fault.report import Report
from fault.stores import StoredTrace, StoredVersion
from fault.wire import digest

SOURCE, VERSION = "5d2f0c3b-0000-4000-8000-000000000001", 1_790_000_000_000_000
TEXT = "The tram stops. 夜间电车停运。 החשמלית עוצרת 👩‍👩‍👧"
FIRST, SECOND = (SOURCE, VERSION, 0, 15), (SOURCE, VERSION, 16, 37)
HASH = "b3:" + "ab" * 32
PLANNED = Answered(
    1,
    "plan",
    "zq7x1y1",
    "planner-1",
    "trace-1",
    HASH,
    (FIRST, SECOND),
    tuple(digest(TEXT.encode()[start:end].decode()) for _, _, start, end in (FIRST, SECOND)),
    {"validTime": VERSION, "txTime": VERSION},
)
SELECTED = Answered(2, "select", "zq7x2y1", "planner-1", "trace-2", HASH, (("s", 1, 0, 4),), (digest("text"),))
BARREN = Answered(3, "barren", "zq7x3y2", "planner-2", "trace-3", told={"code": "INSUFFICIENT_EVIDENCE"})
WRITTEN = Answered(4, "ingest", "zq7x4y2", told={"source": SOURCE, "version": VERSION, "outcome": "created"})
FOUND = Answered(5, "query", "zq7x5y1", window={"validTime": 1, "txTime": 1}, told={"nodes": digest("a\nb")})
SHOWN = Answered(6, "read", "zq7x6y1", "planner-1", "", HASH, (FIRST, SECOND), told={"of": PLANNED.mark})
UNSURE = Sent(3, "barren", "zq7x3y1")
LINES: list[Line] = [
    *(Sent(one.number, one.kind, one.mark) for one in (PLANNED, SELECTED, BARREN, WRITTEN, FOUND)),
    UNSURE,
    Refused(3, "barren", UNSURE.mark, "UNAVAILABLE"),
    PLANNED,
    SELECTED,
    BARREN,
    WRITTEN,
    FOUND,
    SHOWN,
]
TRACES = [
    StoredTrace("trace-1", "plan", f"which tram? {PLANNED.mark}", "", HASH, (FIRST, SECOND)),
    StoredTrace("trace-2", "select", "", pool_source(SELECTED.mark), HASH, (("s", 1, 0, 4),)),
    StoredTrace("trace-3", "plan", BARREN.mark, "", "b3:empty", ()),
]
VERSIONS = [StoredVersion(SOURCE, VERSION, f"# Note\n\n{note(4)}\n")]


def traces(stored: list[StoredTrace], told: list[Line] = LINES) -> Findings:
    found = Findings()
    checks.check_traces(Read.of(told), stored, found)
    return found


def counts(found: Findings) -> dict[str, int]:
    kinds = ("lost", "doubled", "unknown", "mismatched", "broken")
    return {kind: len(getattr(found, kind)) for kind in kinds if getattr(found, kind)}


def test_a_world_as_promised_is_right() -> None:
    """X3: no check finds anything where all is well; a trace of an unanswered attempt is no fault."""
    unsure = StoredTrace("trace-4", "plan", UNSURE.mark, "", "b3:empty", ())
    assert counts(traces(TRACES)) == {}
    assert counts(traces([*TRACES, unsure])) == {}
    found, read = Findings(), Read.of(LINES)
    assert checks.check_texts(read, lambda *_: TEXT.encode(), found) == 2
    checks.check_reads(read, found)
    checks.check_refusals(read, found)
    checks.check_ingests(read, VERSIONS, found)
    checks.check_again(PLANNED, PLANNED, found)
    checks.check_again(FOUND, FOUND, found)
    assert not found.any


@pytest.mark.parametrize("missing", range(len(TRACES)))
def test_an_answer_without_a_trace_is_lost(missing: int) -> None:
    """X3: each kind of call that leaves a trace is missed, one without evidence too."""
    assert counts(traces([trace for at, trace in enumerate(TRACES) if at != missing])) == {"lost": 1}


@pytest.mark.parametrize("at", range(len(TRACES)))
def test_a_second_trace_of_an_attempt_is_doubled(at: int) -> None:
    """X2: a row that is there twice, and a second trace of one attempt under another id."""
    assert counts(traces([*TRACES, replace(TRACES[at], trace_id="trace-9")])) == {"doubled": 1}
    assert counts(traces([*TRACES, TRACES[at]])) == {"doubled": 2}


@pytest.mark.parametrize(
    "stray",
    [
        StoredTrace("trace-8", "plan", "nobody asked", "", HASH, ()),
        StoredTrace("trace-8", "plan", "zq7x99y1", "", HASH, ()),
        StoredTrace("trace-8", "select", f"x {SELECTED.mark}", SOURCE, HASH, ()),
        StoredTrace("trace-8", "plan", WRITTEN.mark, "", HASH, ()),
    ],
)
def test_a_trace_of_no_call_is_noticed(stray: StoredTrace) -> None:
    """X3: without a mark, with a mark that was never sent, and with that of a call which leaves no trace."""
    assert counts(traces([*TRACES, stray])) == {"unknown": 1}


@pytest.mark.parametrize(
    "changed",
    [
        replace(TRACES[0], plan_hash="b3:other"),
        replace(TRACES[0], coordinates=(SECOND, FIRST)),
        replace(TRACES[0], coordinates=(FIRST,)),
        replace(TRACES[0], question=f"which tram? {UNSURE.mark}"),
    ],
)
def test_a_trace_that_differs_is_a_mismatch(changed: StoredTrace) -> None:
    """X4: hash, coordinates, their order, and whose trace it is."""
    assert counts(traces([changed, *TRACES[1:]])) == {"mismatched": 1}


@pytest.mark.parametrize("text", [TEXT.replace("tram", "tran"), f" {TEXT}", "", None])
def test_a_text_that_is_not_what_was_returned_is_a_mismatch(text: str | None) -> None:
    """X4, R5: coordinates that cut something else, and versions that are gone."""
    found = Findings()
    checks.check_texts(Read.of(LINES), lambda *_: None if text is None else text.encode(), found)
    assert found.mismatched


def test_reads_of_own_traces_are_held_to_the_answers() -> None:
    """X4: what was shown of a trace, at the time and at the end, and "not found" by any planner."""
    found = Findings()
    unlike = replace(SHOWN, coordinates=(FIRST,))
    missing = Refused(7, "read", f"zq7x7y1 of {PLANNED.mark}", "NOT_FOUND")
    checks.check_reads(Read.of([*LINES[:-1], unlike, missing]), found)
    checks.check_read(PLANNED, ("b3:other", (FIRST, SECOND)), found)
    assert counts(found) == {"lost": 1, "mismatched": 2}


@pytest.mark.parametrize(
    ("kind", "reason", "wrong"),
    [
        ("plan", "UNAVAILABLE", False),
        ("context", "ConnectError", False),
        ("read", "NOT_FOUND", False),
        ("plan", "NOT_FOUND", True),
        ("plan", "INTERNAL", True),
        ("plan", WRONG_HASH, True),
        ("ingest", "IDEMPOTENCY_KEY_REUSED", True),
    ],
)
def test_refusals_that_no_fault_explains_are_mismatches(kind: str, reason: str, wrong: bool) -> None:
    """A1: whatever fails, callers hear what they can act on, and never INTERNAL."""
    found = Findings()
    checks.check_refusals(Read.of([Refused(8, kind, "zq7x8y1", reason)]), found)
    assert counts(found) == ({"mismatched": 1} if wrong else {})


def test_a_call_made_again_must_be_equal() -> None:
    """S9, X5: hash, coordinates and texts of plans, nodes of queries."""
    for changed in ({"plan_hash": "b3:other"}, {"coordinates": (FIRST,)}, {"digests": ("00",)}):
        found = Findings()
        checks.check_again(PLANNED, replace(PLANNED, **changed), found)
        assert counts(found) == {"mismatched": 1}
    found = Findings()
    checks.check_again(FOUND, replace(FOUND, told={"nodes": digest("a")}), found)
    assert counts(found) == {"mismatched": 1}


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ([], {"lost": 1}),
        ([*VERSIONS, replace(VERSIONS[0], version=VERSION + 1)], {"doubled": 1}),
        ([replace(VERSIONS[0], text="# Note\n")], {"mismatched": 1}),
        ([replace(VERSIONS[0], version=VERSION + 1)], {"lost": 1}),
    ],
)
def test_an_ingest_is_there_once(versions: list[StoredVersion], expected: dict[str, int]) -> None:
    """M1: answered and absent, there twice, there with another text, there as another version."""
    found = Findings()
    checks.check_ingests(Read.of(LINES), versions, found)
    assert counts(found) == expected


def test_an_ingest_of_which_nobody_heard_may_be_there_once() -> None:
    """M1: unanswered, it is there once or not at all."""
    sent: list[Line] = [Sent(9, "ingest", "zq7x9y1"), Sent(9, "ingest", "zq7x9y2")]
    for times in range(3):
        found = Findings()
        stored = [StoredVersion(SOURCE, VERSION + at, note(9)) for at in range(times)]
        checks.check_ingests(Read.of(sent), stored, found)
        assert counts(found) == ({"doubled": 1} if times > 1 else {})
    told = replace(WRITTEN, told={**WRITTEN.told, "outcome": "unchanged"})
    found = Findings()
    checks.check_ingests(Read.of([*LINES, told]), VERSIONS, found)
    assert counts(found) == {"mismatched": 1}


def test_the_journal_gives_back_what_was_written(tmp_path) -> None:
    """X3: line by line, also while it is being written."""
    journal = Journal(tmp_path / "journal.jsonl")
    for line in LINES:
        journal.write(line)
    assert list(lines(journal.path)) == LINES
    journal.close()


def test_a_report_is_right_only_if_nothing_is_wrong() -> None:
    """X3: any finding, and a system that does not settle, make the run fail; the report names every fault's count."""
    read = Read.of(LINES)
    good = Report("SQLite", 7, faults=Counter(kill_planner=3), settle_s=1.5, traces=3)
    assert good.right
    told = good.markdown(read)
    assert "| lost | 0 |" in told
    assert "| acknowledged | 6 |" in told
    assert f"| {says('kill_planner')} | 3 |" in told
    assert all(says(name) in told for name in FAULTS)
    assert not replace(good, settle_s=None).right
    for kind in ("lost", "doubled", "unknown", "mismatched", "broken"):
        bad = replace(good, found=Findings(**{kind: ["because"]}))
        assert not bad.right
        assert f"- {kind}: because" in bad.markdown(read)


def test_calls_follow_from_seed_and_number() -> None:
    """X3: a run can be repeated; every attempt has a mark of its own, and no document holds one."""
    calls = [call(7, number) for number in range(300)]
    assert calls == [call(7, number) for number in range(300)]
    assert calls != [call(8, number) for number in range(300)]
    assert {one.kind for one in calls} == {"plan", "context", "select", "barren", "ingest", "query", "read"}
    assert len({one.mark(attempt) for one in calls for attempt in (1, 2)}) == 600
    assert not any("zq7x" in str(one.body) for one in calls)

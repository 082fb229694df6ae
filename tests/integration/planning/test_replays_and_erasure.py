"""What erasure does to the replay of a plan: the border of identical, changed and erased, and what is told of it."""

import pytest
from planner_parts import Parts, parts_over
from replays import causes, changed, outcome, plan_of, replayed
from telha.planner.v1 import plan_pb2
from telha_planner.core.request import Window
from telha_planner.core.value import format_uuid
from telha_planner.trace.compared import instant

QUESTION = "tram bridge 電車 closed"
TRAM = "The tram bridge is closed.\n\n電車 hold until nine.\n"
DEPOT = "The depot behind the tram bridge is open.\n"


@pytest.fixture
def parts(store_url):
    parts = parts_over(store_url)
    yield parts
    parts.close()


def erase(parts: Parts, source, tenant="acme"):
    """Erase a source; the instant."""
    return parts.writer.erase_source(parts.planning.caller(parts.key(tenant)).tenant, source.bytes).tx


def test_what_stands_elsewhere_may_go(parts):
    """M5, M7: an erasure in a space that was not read changes nothing, and is not told."""
    parts.remember("tram.md", TRAM)
    secret = parts.remember("secret.md", TRAM, space="side")
    record = plan_of(parts, QUESTION)
    erase(parts, secret)
    again = replayed(parts, record)
    assert outcome(parts, record) == "identical"
    assert (again.erased, causes(again)) == ((), {})


def test_a_plan_that_lost_a_part_is_changed(parts):
    """M5, X5: one of two sources is gone: which, when, and how many of its spans; the rest of the plan stands."""
    tram, depot = parts.remember("tram.md", TRAM), parts.remember("depot.md", DEPOT)
    record = plan_of(parts, QUESTION, max_frac_per_source=1.0)
    at = erase(parts, depot)
    again = replayed(parts, record)
    assert outcome(parts, record) == "changed"
    assert [(one.source_id, one.erased_us) for one in again.erased] == [(depot.bytes, at)]
    lost = [held for held in again.difference.gone if held.span.source_id == depot.bytes]
    assert again.erased[0].spans == len(lost) > 0
    assert {planned.span.source_id for planned in again.plan.spans} == {tram.bytes}
    assert causes(again) == {"ERASURE": ("", f"{format_uuid(depot.bytes)} at {instant(at)}")}


def test_a_plan_of_which_nothing_stands_is_erased(parts):
    """M5, X5: every span of the trace is gone; what memory still has about the question is another plan."""
    tram = parts.remember("tram.md", TRAM)
    record = plan_of(parts, QUESTION)
    at = erase(parts, tram)
    other = parts.remember("depot.md", DEPOT)
    again = replayed(parts, record)
    assert outcome(parts, record) == "erased"
    assert not again.plan.spans  # as of the recorded instant nothing else was known
    assert [(one.source_id, one.erased_us) for one in again.erased] == [(tram.bytes, at)]
    erase(parts, other)
    assert [one.source_id for one in replayed(parts, record).erased] == [tram.bytes]


def test_what_comes_back_under_the_same_name_is_another_version(parts):
    """M5, M1: a document that is ingested again after its erasure does not bring the trace back."""
    tram = parts.remember("tram.md", TRAM)
    record = plan_of(parts, QUESTION)
    first = erase(parts, tram)
    assert parts.remember("tram.md", TRAM) == tram
    assert outcome(parts, record) == "erased"
    erase(parts, tram)
    assert [one.erased_us for one in replayed(parts, record).erased] == [first]


@pytest.mark.parametrize("space", ["main", "side"])
def test_a_plan_that_an_erasure_moved_is_changed(parts, space):
    """M5, M7: nothing that was cited is gone, but the corpus is another: the newest erasure is told as the cause."""
    parts.remember("tram.md", TRAM)
    gone = [parts.remember(f"{n}.md", f"Bridge {n} closed.\n" + "tram " * 30, space=space) for n in range(3)]
    record = plan_of(parts, QUESTION, budget=plan_pb2.Budget(max_tokens=14), max_frac_per_source=1.0, spaces=["*"])
    at = max(erase(parts, source) for source in gone)
    again = replayed(parts, record)
    assert outcome(parts, record) == "changed"
    assert again.erased == ()
    assert causes(again) == {"ERASURE": ("", f"{format_uuid(gone[-1].bytes)} at {instant(at)}")}
    if space == "side":
        receipt = parts.writer.erase_space(parts.planning.caller(parts.key()).tenant, "side")
        told = causes(replayed(parts, record))["ERASURE"][1]
        assert told == f"the space side at {instant(receipt.tx)}"


def test_an_erased_space_is_erased(parts):
    """M5, M7: all that a space held is gone."""
    tram = parts.remember("tram.md", TRAM, space="side")
    record = plan_of(parts, QUESTION, spaces=["side"])
    receipt = parts.writer.erase_space(parts.planning.caller(parts.key()).tenant, "side")
    again = replayed(parts, record)
    assert outcome(parts, record) == "erased"
    assert [(one.source_id, one.erased_us) for one in again.erased] == [(tram.bytes, receipt.tx)]


def test_a_limited_key_hears_nothing_of_other_spaces(parts):
    """M7, A6: what a foreign space erased is neither a cause nor an instant, whatever else changed."""
    parts.remember("tram.md", TRAM)
    secret = parts.remember("secret.md", TRAM, space="side")
    record = plan_of(parts, QUESTION, key_spaces=("main",))
    erase(parts, secret)
    parts.writer.erase_space(parts.planning.caller(parts.key()).tenant, "side")
    forged = changed(record, plan_hash="b3:" + "0" * 64)
    again = replayed(parts, forged, spaces=("main",))
    assert set(causes(again)) == {"CODE"}
    assert causes(replayed(parts, forged))["CODE"]


def test_what_was_gone_at_the_call_is_no_cause(parts):
    """X5: a call that looked into a past out of which something had been erased already did not see it either."""
    parts.remember("tram.md", TRAM)
    gone = parts.remember("depot.md", DEPOT)
    past = parts.plan(QUESTION).window
    erase(parts, gone)
    window = plan_pb2.Window(valid_time_us=past.valid_time, tx_time_us=past.tx_time)
    record = plan_of(parts, QUESTION, window=window)
    assert outcome(parts, record) == "identical"
    assert set(causes(replayed(parts, changed(record, plan_hash="b3:" + "0" * 64)))) == {"CODE"}


def test_a_record_of_before_still_tells_its_erasures(parts):
    """X5: one without `last_tx` goes by the instant at which it was recorded."""
    tram = parts.remember("tram.md", TRAM)
    kept = parts.remember("depot.md", DEPOT)
    record = changed(plan_of(parts, QUESTION, max_frac_per_source=1.0), last_tx=..., settings=..., software=...)
    assert outcome(parts, record) == "identical"
    erase(parts, tram)
    again = replayed(parts, record)
    assert set(causes(again)) == {"ERASURE"}
    erase(parts, kept)
    assert outcome(parts, record) == "erased"


def test_the_window_of_a_replay_is_the_recorded_one(parts):
    """R3, X5: later commits do not move it."""
    parts.remember("tram.md", TRAM)
    record = plan_of(parts, QUESTION)
    before = parts.plan(QUESTION).window
    parts.remember("depot.md", DEPOT)
    again = replayed(parts, record)
    assert again.window.tx_time == before.tx_time
    assert isinstance(again.window, Window)
    assert again.window.tx_time < parts.plan(QUESTION).window.tx_time

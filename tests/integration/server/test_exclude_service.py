"""Asking again without what was given, over real gRPC, with a real trace writer behind the planner."""

from dataclasses import replace
from uuid import uuid4

import msgpack
import pytest
from planner_server import RealPlanner
from redis import Redis
from running_writer import running_writer
from telha_client import Document, Fragment, InsufficientEvidence, InvalidRequest, Unavailable
from telha_planner.trace.recorded import RecordUnreadable, read_gave
from trace_path import STREAM, TOKEN, an_entry

TRAMS = ("red", "blue", "amber", "teal", "pink")
FACTS = [f"The {name} tram stops at platform {number} 🚋." for number, name in enumerate(TRAMS)]
NOTES = "# Trams\n\n" + "\n\n".join(FACTS) + "\n"
QUESTION = "at which platform does the tram stop?"
ASKED = {"max_tokens": 30, "max_frac_per_source": 1.0}


@pytest.fixture(scope="module")
def planner(tmp_path_factory, shared_valkey):
    with shared_valkey.client() as client:
        client.flushall()
    folder = tmp_path_factory.mktemp("x")
    with (
        running_writer(folder, shared_valkey.url) as address,
        RealPlanner(folder, writer=address, token=TOKEN) as planner,
    ):
        with planner.client() as client:
            client.memory.ingest([Document(name="trams.md", content=NOTES)])
            client.memory.ingest([Document(name="night.md", content="The night tram stops nowhere.\n")], space="night")
        yield planner


@pytest.fixture
def client(planner):
    with planner.client() as client:
        yield client


def places(answer):
    """Where the spans of a plan, or the items of a context, stand."""
    spans = [planned.span for planned in answer.spans] if hasattr(answer, "spans") else [i.source for i in answer.items]
    return [(span.source_id, span.source_version_tx, span.start, span.end) for span in spans]


def test_an_agent_that_asks_again_gets_what_it_does_not_have(client):
    """C11: by results or by ids of traces, until nothing is left; the last answer says why it is empty."""
    answers, end = [], None
    while end is None:
        try:
            answer = client.plan(QUESTION, **ASKED, exclude=answers)
        except InsufficientEvidence as refused:
            end = refused
            continue
        assert answer.spans
        assert not set(places(answer)) & {place for before in answers for place in places(before)}
        assert (answer.stats.recall.excluded > 0) == bool(answers)
        answers.append(answer)
    assert len(answers) > 1
    told = "\n".join(span.text for answer in answers for span in answer.spans)
    assert all(fact in told for fact in FACTS)
    assert end.excluded >= len(answers)
    assert client.trace(end.trace_id).record["stats"]["recall"]["excluded"] > 0


def test_context_that_has_nothing_new_is_an_answer(client):
    """C7, C11: empty items, honest statistics; a plan excludes what Context gave and the other way round."""
    first = client.memory.context(QUESTION, max_frac_per_source=1.0)
    assert first.items
    again = client.memory.context(QUESTION, max_frac_per_source=1.0, exclude=[first.trace_id])
    assert not set(places(again)) & set(places(first))
    last = client.memory.context(QUESTION, max_frac_per_source=1.0, exclude=[first, again])
    assert last.items == ()
    assert last.stats.candidates == 0
    assert last.stats.plan.recall.excluded > 0
    plan = client.plan(QUESTION, max_frac_per_source=1.0, exclude=[first], allow_ungrounded=True)
    assert not set(places(plan)) & set(places(first))


def test_the_record_holds_the_coordinates_and_needs_no_other_trace(client):
    """X1: as resolved, distinct, in canonical order; the request as sent names the traces."""
    first = client.plan(QUESTION, **ASKED)
    second = client.plan(QUESTION, **ASKED, exclude=[first])
    third = client.plan(QUESTION, **ASKED, exclude=[second, first], allow_ungrounded=True)
    record = client.trace(third.trace_id).record
    assert record["exclusions"] == [list(place) for place in sorted({*places(first), *places(second)})]
    assert record["request"]["exclude"] == {"traceIds": [second.trace_id, first.trace_id]}
    assert client.trace(first.trace_id).record["exclusions"] == []
    at = {"valid_time": third.window.valid_time, "tx_time": third.window.tx_time}
    turned = client.plan(QUESTION, **ASKED, **at, exclude=[first, second], allow_ungrounded=True)
    assert turned.plan_hash == third.plan_hash


def test_a_replay_needs_none_of_the_traces(client):
    """X5, C11: the record's coordinates stand for them; a difference of two names the exclusions."""
    first = client.plan(QUESTION, **ASKED)
    second = client.plan(QUESTION, **ASKED, exclude=[first])
    assert client.replay(second.trace_id).outcome == "identical"
    assert {change.input for change in client.diff(first.trace_id, second.trace_id).difference.changes} >= {
        "exclusions"
    }


def test_excluding_a_trace_that_gave_nothing_changes_nothing(client):
    """C11: the same bits; nothing was left out."""
    nothing = client.plan("zq7x3y2", allow_ungrounded=True)
    plain = client.plan(QUESTION, **ASKED)
    at = {"valid_time": plain.window.valid_time, "tx_time": plain.window.tx_time}
    again = client.plan(QUESTION, **ASKED, **at, exclude=[nothing])
    assert (again.plan_hash, again.stats) == (plain.plan_hash, plain.stats)


def test_another_version_of_a_source_is_new(client):
    """C11: what was given of an older version does not keep the newer one out."""
    first = client.memory.context("when does the ferry sail?", max_frac_per_source=1.0)
    written = client.memory.ingest([Document(name="ferry.md", content="The ferry sails at nine.\n")])
    first = client.memory.context("when does the ferry sail?", max_frac_per_source=1.0)
    assert any("nine" in item.text for item in first.items)
    source = written.documents[0].source_id
    client.memory.ingest([Document(name="ferry.md", content="The ferry sails at nine.\n\nOr ten.\n", source_id=source)])
    again = client.memory.context("when does the ferry sail?", max_frac_per_source=1.0, exclude=[first])
    assert any("nine" in item.text for item in again.items)


def test_what_a_selection_gave_is_excluded_too(client):
    """C11: its coordinates are coordinates like any other."""
    span = client.plan(QUESTION, **ASKED).spans[0]
    fragment = Fragment(span=span.span, text=span.text, score=1.0)
    selected = client.select([fragment], max_frac_per_source=1.0)
    again = client.plan(QUESTION, **ASKED, exclude=[selected])
    assert span.span not in {planned.span for planned in again.spans}


def test_a_persisted_trace_excludes_as_one_in_the_spool_does(client, shared_valkey):
    """C11, X4: wherever the record is; numbers beyond 2^53 come back as they were."""
    source, version = client.plan(QUESTION, **ASKED).spans[0].span.source_id, 2**62 + 1
    trace_id = str(uuid4())
    with Redis.from_url(shared_valkey.url) as redis:
        redis.xadd(STREAM, an_entry(trace_id, item_coords=[[source, version, 0, 9]]))
    answer = client.plan(QUESTION, **ASKED, exclude=[trace_id])
    assert client.trace(answer.trace_id).record["exclusions"] == [[source, str(version), 0, 9]]


def test_a_trace_names_no_coordinate_of_a_space_that_it_did_not_read(client, planner):
    """C11, M7: whoever may read a trace learns nothing of what a wider key was given of another space."""
    elsewhere = client.plan("where does the night tram stop?", spaces=["night"])
    here = client.plan(QUESTION, **ASKED)
    again = client.plan(QUESTION, **ASKED, exclude=[elsewhere, here])
    with planner.client(spaces=["main"]) as limited:
        record = limited.trace(again.trace_id).record
    assert record["exclusions"] == [list(place) for place in sorted(places(here))]
    assert elsewhere.spans[0].span.source_id not in str(record)
    assert client.replay(again.trace_id).outcome == "identical"


def test_what_was_given_is_read_without_the_pool_of_its_call():
    """C11: a record of any layout that says what it read and gave; one that does not is refused."""
    row = [str(uuid4()), 2**62 + 1, 0, 9]
    gave = read_gave(msgpack.packb({"key_id": "k", "spaces": [], "item_coords": [row], "pool": [["?"]]}))
    assert (gave.key_id, gave.spaces) == ("k", ())
    assert [span.source_version_tx for span in gave.spans or ()] == [2**62 + 1]
    for places_told in (None, [["x", 1, 0, 9]], [[*row, 1]], [[row[0], "1", 0, 9]], [[row[0], 1, 9, 0]]):
        told = {"key_id": "k", "spaces": None, "item_coords": places_told}
        assert read_gave(msgpack.packb(told)).spans is None
    for unreadable in ({"spaces": []}, {"key_id": 1, "spaces": []}, {"key_id": "k", "spaces": [1]}, []):
        with pytest.raises(RecordUnreadable):
            read_gave(msgpack.packb(unreadable))


@pytest.mark.parametrize(
    ("exclude", "field", "rule"),
    [
        ([f"{number:08x}-0000-4000-8000-000000000000" for number in range(33)], "", "must name 1 to 32 traces"),
        (["x"], "[0]", "must be a lower-case UUID"),
        ([str(uuid4()).upper()], "[0]", "must be a lower-case UUID"),
    ],
)
def test_what_is_no_list_of_traces_is_refused(client, exclude, field, rule):
    """C11: with its place."""
    for ask in (client.plan, client.memory.context):
        with pytest.raises(InvalidRequest) as refused:
            ask(QUESTION, exclude=exclude)
        assert (refused.value.field, refused.value.rule) == (f"exclude.trace_ids{field}", rule)


def test_a_trace_that_is_named_twice_is_refused(client):
    """C11: with the place of the second."""
    first = client.plan(QUESTION, **ASKED)
    with pytest.raises(InvalidRequest) as refused:
        client.plan(QUESTION, exclude=[first, first])
    assert (refused.value.field, refused.value.rule) == ("exclude.trace_ids[1]", "must not repeat a trace")


def test_absent_and_foreign_traces_are_refused_alike(planner, client):
    """C11, A6, M7: of nobody, of another tenant, of a space that the key may not read: the same words."""
    own = client.plan(QUESTION, **ASKED)
    with planner.client("rival") as rival:
        rival.memory.ingest([Document(name="n.md", content="The rival tram stops here.\n")])
        foreign = rival.plan("rival tram", max_frac_per_source=1.0)
    with planner.client(spaces=["night"]) as limited:
        for ask, excluded in ((client, str(uuid4())), (client, foreign.trace_id), (limited, own.trace_id)):
            with pytest.raises(InvalidRequest) as refused:
                ask.plan("tram", exclude=[own.trace_id, excluded] if ask is client else [excluded])
            index = 1 if ask is client else 0
            assert refused.value.field == f"exclude.trace_ids[{index}]"
            assert refused.value.rule == "must be a trace that this key may read"
        with pytest.raises(InvalidRequest) as refused:
            client.memory.context("tram", exclude=[foreign.trace_id])
        assert (refused.value.reason, refused.value.field) == ("CONTEXT_INVALID", "exclude.trace_ids[0]")


@pytest.mark.parametrize(
    "coordinates", [None, 7, [7], [["x", 1, 2, 3]], [[str(uuid4()), 1, 3, 2]], [[str(uuid4()), 1.5, 2, 3]]]
)
def test_a_trace_that_does_not_say_what_it_gave_is_refused(client, shared_valkey, coordinates):
    """C11, X4: another version of the planner may have written it."""
    trace_id = str(uuid4())
    with Redis.from_url(shared_valkey.url) as redis:
        redis.xadd(STREAM, an_entry(trace_id, item_coords=coordinates))
    with pytest.raises(InvalidRequest) as refused:
        client.plan(QUESTION, exclude=[trace_id])
    assert refused.value.rule == "must be a trace that names the spans it gave"


def test_a_trace_that_cannot_be_told_is_pending(tmp_path):
    """C11, X4: with the writer away, a trace of another planner is neither there nor absent: try again."""
    with RealPlanner(tmp_path) as planner, planner.client() as client:
        client.memory.ingest([Document(name="trams.md", content=NOTES)])
        first = client.plan(QUESTION, **ASKED)
        assert client.plan(QUESTION, **ASKED, exclude=[first]).spans
        with pytest.raises(Unavailable) as refused:
            client.plan(QUESTION, exclude=[str(uuid4())], timeout=1.0)
        assert refused.value.reason == "TRACE_PENDING"


def test_an_answer_without_a_trace_cannot_be_excluded(client):
    """C11: it is refused before it is sent."""
    with pytest.raises(InvalidRequest, match="must name traces"):
        client.plan(QUESTION, exclude=[replace(client.plan(QUESTION, **ASKED), trace_id="")])

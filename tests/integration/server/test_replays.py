"""Replay and Diff over gRPC: what was planned is planned anew, through every surface that leaves a trace."""

from uuid import uuid4

import grpc
import pytest
from planner_server import RealPlanner
from redis import Redis
from running_writer import running_writer
from telha.context.v1 import context_pb2, context_pb2_grpc
from telha.planner.v1 import explanation_pb2, plan_pb2, planner_pb2, planner_pb2_grpc, replay_pb2
from telha_client import Document, Fragment, InvalidRequest, NotFound, Span, TelhaError, WhyNot, requests
from telha_planner.config import PlannerConfig, ServerSettings
from telha_runtime import frame
from telha_runtime.frame import Frame
from trace_path import STREAM, TOKEN

NIGHT = (
    "# Eléctrico 28\n\nO eléctrico 28 não circula à noite. 夜间停运。 لا يعمل ليلاً 👩‍👩‍👧\n\nO bilhete custa 3 euros.\n"
)
QUESTION = "o eléctrico circula à noite?"


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("replays")) as planner:
        with planner.client() as client:
            client.memory.ingest([Document(name="noite.md", content=NIGHT)])
        yield planner


def asked(planner, method, message, key=None):
    """The answer to one call."""
    metadata = (("authorization", f"Bearer {key or planner.key()}"),)
    service, name = method.split("/")
    stub = {"Planner": planner_pb2_grpc.PlannerStub, "Context": context_pb2_grpc.ContextStub}[service]
    with grpc.insecure_channel(planner.address) as channel:
        return getattr(stub(channel), name)(message, metadata=metadata, timeout=20)


def replay(planner, trace_id, key=None):
    return asked(planner, "Planner/Replay", replay_pb2.ReplayRequest(trace_id=trace_id), key)


POOL = [
    Fragment(span=Span("0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", 7, 10 * n, 10 * n + 9), score=0.1 * n, tokens=n)
    for n in range(1, 5)
]


def made_by(client, surface, **more):
    """A call of *surface* that leaves some candidates out."""
    if surface == "plan":
        return client.plan(QUESTION, max_tokens=30, **more)
    if surface == "context":
        return client.memory.context(QUESTION, max_tokens=30, **more)
    return client.select(POOL, max_tokens=6, **more)


@pytest.mark.parametrize("surface", ["plan", "context", "select"])
def test_a_plan_is_what_it_was(planner, surface):
    """X5: a trace of each surface replays to its own hash, texts and instants included."""
    with planner.client() as client:
        made = made_by(client, surface)
        client.memory.ingest([Document(name="later.md", content="# Eléctrico 28\n\nO eléctrico 28 circula à noite.\n")])
        told = client.replay(made.trace_id)
    assert (told.outcome, told.plan.plan_hash, told.recorded.kind) == ("identical", made.plan_hash, surface)
    assert told.difference.identical
    assert told.plan.explanation is None
    again = replay(planner, made.trace_id)
    assert again.outcome == replay_pb2.REPLAY_OUTCOME_IDENTICAL, again.difference
    assert again.plan.plan_hash == made.plan_hash == again.recorded.plan_hash
    assert again.plan.spans
    assert again.recorded.kind == surface


def a_call(surface, **more):
    """The method and the message of such a call."""
    budget = plan_pb2.Budget(max_tokens=30)
    if surface == "plan":
        return "Planner/Plan", planner_pb2.PlanRequest(question=QUESTION, budget=budget, **more)
    if surface == "context":
        return "Context/Build", context_pb2.BuildRequest(question=QUESTION, budget=budget, **more)
    pool = requests.select(POOL, {}).message.pool
    return "Planner/Select", planner_pb2.SelectRequest(pool=pool, budget=plan_pb2.Budget(max_tokens=6), **more)


@pytest.mark.parametrize("surface", ["plan", "context", "select"])
def test_a_replay_explains_what_was_not_explained(planner, surface):
    """X7, X6: a trace made without explain gets its rejected spans by replay: those of a call with explain."""
    method, message = a_call(surface, explain=True)
    told = asked(planner, method, message).explanation
    with planner.client() as client:
        made = made_by(client, surface)
        replayed = client.replay(made.trace_id, explain=True)
    again = asked(planner, "Planner/Replay", replay_pb2.ReplayRequest(trace_id=made.trace_id, explain=True))
    assert again.outcome == replay_pb2.REPLAY_OUTCOME_IDENTICAL
    assert again.explanation == told
    assert {span.outcome for span in told.spans} > {explanation_pb2.SPAN_OUTCOME_PACKED}
    assert len(replayed.plan.explanation.spans) == len(told.spans)
    assert not replay(planner, made.trace_id).HasField("explanation")


def test_a_replay_answers_why_not(planner):
    """X6, X7: of a subject, too, and of one that nobody has; a subject that breaks a rule is refused with its place."""
    with planner.client() as client:
        made = made_by(client, "plan")
        subjects = [WhyNot(source="noite.md"), WhyNot(source="nobody.md")]
        told = client.replay(made.trace_id, why_not=subjects).plan.explanation
        assert [subject.verdict for subject in told.subjects] == ["candidate", "unknown"]
        assert told.spans == ()
        with pytest.raises(InvalidRequest) as refused:
            client.replay(made.trace_id, why_not=[WhyNot(source=" ")])
        assert refused.value.field == "why_not[0].source.source"
        pool = client.replay(made_by(client, "select").trace_id, why_not=[WhyNot(span=POOL[0].span)])
        assert pool.plan.explanation.subjects[0].verdict == "candidate"


def test_erasure_is_told_by_the_trace_and_by_its_replay(planner):
    """M5, X5: what can no longer be resolved is told, place by place; a selection's spans are its caller's own."""
    with planner.client("erasing") as client:
        lost = client.memory.ingest([Document(name="noite.md", content=NIGHT)]).documents[0]
        client.memory.ingest([Document(name="dia.md", content="O bilhete do eléctrico 28 custa 3 euros de dia.\n")])
        made = client.plan(QUESTION, max_frac_per_source=1.0)
        selected = client.select(POOL, max_tokens=6)
        assert client.trace(made.trace_id).erased_items == ()
        erasure = client.memory.erase_source(lost.source_id)
        trace, again = client.trace(made.trace_id), client.replay(made.trace_id)
        places = [index for index, row in enumerate(trace.record["item_coords"]) if row[0] == lost.source_id]
        assert list(trace.erased_items) == places != []
        assert again.outcome == "changed"
        assert [(one.source_id, one.erased, one.spans) for one in again.erased] == [
            (lost.source_id, erasure.tx, len(places))
        ]
        assert {span.source_name for span in again.difference.gone if span.span.source_id == lost.source_id} == {None}
        assert [change.input for change in again.difference.changes] == ["erasure"]
        assert client.trace(selected.trace_id).erased_items == ()
        assert client.replay(selected.trace_id).outcome == "identical"


def test_two_traces_are_compared_from_their_records(planner):
    """X5: request, window and budget differ; names of sources are told; a trace beside itself is identical."""
    with planner.client() as client:
        one, other = client.plan(QUESTION, max_tokens=30), client.memory.context("bilhete euros", max_tokens=200)
        found = client.diff(one.trace_id, other.trace_id)
        assert (found.before.kind, found.after.kind) == ("plan", "context")
        assert (found.before.plan_hash, found.after.plan_hash) == (one.plan_hash, other.plan_hash)
        assert {change.input for change in found.difference.changes} >= {"request", "budget"}
        assert {span.source_name for span in found.difference.new} <= {"noite.md", "later.md"}
        assert found.difference.new
        turned = client.diff(other.trace_id, one.trace_id).difference
        assert (turned.gone, turned.new) == (found.difference.new, found.difference.gone)
        itself = client.diff(one.trace_id, one.trace_id).difference
        assert (itself.identical, itself.changes, itself.because) == (True, (), "The plans are identical.")


def test_replays_leave_nothing_and_count_for_the_key(tmp_path_factory):
    """X5, A9, C9: no trace, no count among plans; each takes one of the calls that the key may make."""
    config = PlannerConfig(server=ServerSettings(plan_calls_per_minute=4))
    with RealPlanner(tmp_path_factory.mktemp("quota"), config) as planner, planner.client() as client:
        client.memory.ingest([Document(name="noite.md", content=NIGHT)])
        made = client.plan(QUESTION)
        before = planner.spool.depth
        counted = {sample.name: sample.value for sample in budget_uses(planner)}
        client.replay(made.trace_id)
        client.diff(made.trace_id, made.trace_id)
        client.replay(made.trace_id)
        assert {sample.name: sample.value for sample in budget_uses(planner)} == counted
        assert planner.spool.depth == before
        with pytest.raises(TelhaError) as refused:
            client.replay(made.trace_id, timeout=1)
        assert refused.value.reason == "RATE_LIMITED"


def budget_uses(planner):
    """Samples of the histogram that each plan is counted in."""
    return [
        sample
        for family in planner.meters.registry.collect()
        if family.name == "telha_budget_use_ratio"
        for sample in family.samples
        if sample.name.endswith("_count")
    ]


def test_an_id_must_be_one(planner):
    """A1: a malformed id is refused with its place; one that nobody has cannot be told without the trace writer."""
    with planner.client() as client:
        made = client.plan(QUESTION)
        for call, field in (
            (lambda: client.replay("x"), "trace_id"),
            (lambda: client.diff("x", made.trace_id), "trace_id"),
            (lambda: client.diff(made.trace_id, made.trace_id.upper()), "other_trace_id"),
        ):
            with pytest.raises(InvalidRequest) as refused:
                call()
            assert refused.value.field == field
        with pytest.raises(TelhaError) as pending:
            client.replay("0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", timeout=1)
        assert pending.value.reason == "TRACE_PENDING"


@pytest.mark.parametrize("surface", ["plan", "context", "select"])
def test_a_persisted_trace_is_replayed(tmp_path_factory, valkey_server, surface):
    """X4, X5: from the stream or the store of the trace writer, as it was written."""
    folder = tmp_path_factory.mktemp("persisted")
    with (
        running_writer(folder, valkey_server.url) as address,
        RealPlanner(folder, writer=address, token=TOKEN) as planner,
        planner.client() as client,
        Redis.from_url(valkey_server.url) as redis,
    ):
        client.memory.ingest([Document(name="noite.md", content=NIGHT)])
        made = made_by(client, surface)
        record = planner.spool.get("acme", made.trace_id)
        redis.xadd(STREAM, {frame.FIELD: frame.encode(Frame(str(uuid4()), 1, made.trace_id, "acme", record))})
        planner.run(erased_from(planner.spool, made.trace_id))
        again = client.replay(made.trace_id)
        assert (again.outcome, again.plan.plan_hash) == ("identical", made.plan_hash)
        assert client.diff(made.trace_id, made.trace_id).difference.identical
        nobody = planner.client("beta")
        with nobody, pytest.raises(NotFound):
            nobody.replay(made.trace_id)


async def erased_from(spool, trace_id):
    spool.erase("acme", trace_id)

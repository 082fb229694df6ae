"""Replay and Diff over gRPC: what was planned is planned anew, through every surface that leaves a trace."""

import grpc
import pytest
from planner_server import RealPlanner
from telha.context.v1 import context_pb2, context_pb2_grpc
from telha.planner.v1 import explanation_pb2, plan_pb2, planner_pb2, planner_pb2_grpc, replay_pb2
from telha_client import Document, Fragment, InvalidRequest, Span, WhyNot, requests

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

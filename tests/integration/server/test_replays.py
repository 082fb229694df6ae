"""Replay and Diff over gRPC: what was planned is planned anew, through every surface that leaves a trace."""

import grpc
import pytest
from planner_server import RealPlanner
from telha.planner.v1 import planner_pb2_grpc, replay_pb2
from telha_client import Document, Fragment, Span

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
    with grpc.insecure_channel(planner.address) as channel:
        return getattr(planner_pb2_grpc.PlannerStub(channel), method)(message, metadata=metadata, timeout=20)


def replay(planner, trace_id, key=None):
    return asked(planner, "Replay", replay_pb2.ReplayRequest(trace_id=trace_id), key)


POOL = [
    Fragment(span=Span("0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", 7, 10 * n, 10 * n + 9), score=0.1 * n, tokens=n)
    for n in range(1, 5)
]


@pytest.mark.parametrize("surface", ["plan", "context", "select"])
def test_a_plan_is_what_it_was(planner, surface):
    """X5: a trace of each surface replays to its own hash, texts and instants included."""
    with planner.client() as client:
        made = {
            "plan": lambda: client.plan(QUESTION, max_tokens=60),
            "context": lambda: client.memory.context(QUESTION),
            "select": lambda: client.select(POOL, max_tokens=6),
        }[surface]()
        client.memory.ingest([Document(name="later.md", content="# Eléctrico 28\n\nO eléctrico 28 circula à noite.\n")])
        told = client.replay(made.trace_id)
    assert (told.outcome, told.plan.plan_hash, told.recorded.kind) == ("identical", made.plan_hash, surface)
    assert told.difference.identical
    again = replay(planner, made.trace_id)
    assert again.outcome == replay_pb2.REPLAY_OUTCOME_IDENTICAL, again.difference
    assert again.plan.plan_hash == made.plan_hash == again.recorded.plan_hash
    assert again.plan.spans
    assert again.recorded.kind == surface

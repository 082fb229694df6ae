"""Questions on the way to a plan: who may have one embedded, and what an endpoint that is slow or away costs."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from embedding_endpoint import Endpoint, held, status
from planner_server import RealPlanner
from telha_client import Client, Document, TelhaError, Unavailable
from telha_planner.config import EmbeddingSettings, PlannerConfig, ServerSettings

FERRY = b"# Ferry\n\nThe ferry leaves the harbour at nine.\n\nIt carries sheep.\n"
QUESTION = "When does the ferry leave the harbour?"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Endpoint() as running:
        yield running


@pytest.fixture
def planner(tmp_path: Path, endpoint: Endpoint, request: pytest.FixtureRequest) -> Iterator[RealPlanner]:
    """Each key may ask as often as the test says, and by default 20 times a minute."""
    quota = getattr(request, "param", 20)
    settings = EmbeddingSettings(provider="http", url=endpoint.url, model="words/1", dimensions=64, timeout_ms=30_000)
    config = PlannerConfig(embedding=settings, server=ServerSettings(plan_calls_per_minute=quota))
    with RealPlanner(tmp_path, config) as running:
        with running.client() as client:
            client.memory.ingest([Document(name="ferry.md", content=FERRY)])
        endpoint.bodies.clear()
        yield running


def test_a_question_is_embedded_once_for_whoever_may_ask(planner: RealPlanner, endpoint: Endpoint) -> None:
    """R1, C2: by both surfaces; the second time from what is kept."""
    with planner.client() as client:
        plan = client.plan(QUESTION)
        assert plan.stats.recall.legs.vector > 0
        assert client.memory.context(QUESTION).stats.legs.vector > 0
    assert endpoint.texts == [QUESTION]


@pytest.mark.parametrize("planner", [1], indirect=True)
def test_nothing_is_embedded_for_those_who_may_not_ask(
    planner: RealPlanner, endpoint: Endpoint, one_attempt: None
) -> None:
    """A6, C9: a wrong key, no right to read, another's space, a quota that is spent: none reaches the endpoint."""
    refused = [
        Client(planner.address, f"telha_{'a' * 12}_{'b' * 52}"),
        planner.client(rights=["write"]),
    ]
    for client in refused:
        with client, pytest.raises(TelhaError):
            client.plan(QUESTION)
    with planner.client(spaces=["mine"]) as client, pytest.raises(TelhaError):
        client.plan(QUESTION, spaces=["main"])
    with planner.client() as client:
        client.plan("another question", legs=["lexical"], allow_ungrounded=True)
        with pytest.raises(TelhaError) as error:
            client.plan(QUESTION)
    assert error.value.reason == "RATE_LIMITED"
    assert endpoint.bodies == []


def test_an_endpoint_that_is_away_is_told_and_not_felt(
    planner: RealPlanner, endpoint: Endpoint, one_attempt: None
) -> None:
    """C2: answers go on lexically; a leg that was named is a failed precondition; an ingest is refused whole."""
    endpoint.faults = [status(401)] * 3
    with planner.client() as client:
        plan = client.plan(QUESTION)
        assert plan.stats.recall.vector_leg_skipped == "the embedding endpoint answered 401"
        assert plan.stats.recall.legs.lexical > 0
        with pytest.raises(TelhaError, match="cannot run: the embedding endpoint answered 401") as error:
            client.plan(QUESTION, legs=["semantic"])
        assert error.value.reason == "VECTOR_LEG_UNAVAILABLE"
        with pytest.raises(Unavailable, match="the embedder is not available"):
            client.memory.ingest([Document(name="more.md", content=b"More.\n")])
        assert len(client.memory.sources().items) == 1
        assert client.plan(QUESTION).stats.recall.legs.vector > 0


def test_a_slow_endpoint_holds_up_its_own_callers_alone(planner: RealPlanner, endpoint: Endpoint) -> None:
    """C2: the plan thread does not wait for a network, so other plans are made meanwhile."""
    gate = threading.Event()
    endpoint.faults = [held(gate, endpoint.vectors)]
    with planner.client() as client, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.plan, QUESTION)
        while not endpoint.bodies:
            time.sleep(0.005)
        for _ in range(5):
            client.plan(QUESTION, legs=["lexical"])
        assert not waiting.done()
        gate.set()
        assert waiting.result().stats.recall.legs.vector > 0


def test_a_deadline_leaves_time_for_the_plan(planner: RealPlanner, endpoint: Endpoint) -> None:
    """C2: a question may take half of what a call has left; the answer comes in time, without the leg."""
    gate = threading.Event()
    endpoint.faults = [held(gate, endpoint.vectors)]
    with planner.client() as client:
        plan = client.plan(QUESTION, timeout=3)
    gate.set()
    assert plan.stats.recall.vector_leg_skipped == "the embedder did not answer in time"


def test_a_move_to_the_configured_model_is_the_administrator_s(planner: RealPlanner, endpoint: Endpoint) -> None:
    """M8: the right `admin`, every space; a cursor that is not ours is refused by its name."""
    for client in (planner.client(rights=["read", "write"]), planner.client(spaces=["main"])):
        with client, pytest.raises(TelhaError) as error:
            client.memory.reembed()
        assert error.value.reason == "PERMISSION_DENIED"
    with planner.client() as client:
        with pytest.raises(TelhaError, match="cursor must be the next_cursor of the call before"):
            client.memory.reembed("elsewhere")
        done = client.memory.reembed()
        assert (done.model, done.embedded, done.left, done.next_cursor, done.finished) == ("words/1", 0, 0, "", True)
    assert endpoint.bodies == []

"""Explain through both Python clients against a whole planner: what the wire says arrives as dataclasses."""

import asyncio

import pytest
from planner_server import RealPlanner
from telha_client import (
    AsyncClient,
    Client,
    Document,
    Explanation,
    Fragment,
    InvalidRequest,
    Plan,
    Span,
    WhyNot,
    as_json,
)

TRAMS = "# Trams\n\n" + "\n\n".join(f"Tram {n} leaves the harbour at {n}:12, says the night board." for n in range(9))
QUESTION = "when does the night tram leave the harbour"
POOL = [
    Fragment(span=Span("0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", 7, 10 * n, 10 * n + 14), tokens=n, score=0.5)
    for n in range(1, 9)
]


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("planner")) as planner:
        with planner.client() as client:
            client.memory.ingest(
                [Document(name="trams.md", content=TRAMS), Document(name="电车.md", content="电车 tram.")]
            )
        yield planner


def _explained(told: Explanation | None) -> Explanation:
    assert told is not None
    return told


def _same(one: Plan, other: Plan) -> None:
    assert (one.plan_hash, one.explanation) == (other.plan_hash, other.explanation)


def test_both_clients_are_told_the_same(planner) -> None:
    """X6, A5: Plan, Context and Select, sync and async; every span of the plan is among the candidates."""

    async def ask(window) -> tuple:
        async with AsyncClient(planner.address, planner.key()) as client:
            return (
                await client.plan(QUESTION, max_tokens=60, max_frac_per_source=0.9, explain=True, **window),
                await client.memory.context(QUESTION, max_tokens=60, max_frac_per_source=0.9, explain=True, **window),
                await client.select(POOL, max_tokens=12, max_frac_per_source=0.9, explain=True),
            )

    with Client(planner.address, planner.key()) as client:
        plan = client.plan(QUESTION, max_tokens=60, max_frac_per_source=0.9, explain=True)
        assert plan.window is not None
        window = {"valid_time": plan.window.valid_time, "tx_time": plan.window.tx_time}
        context = client.memory.context(QUESTION, max_tokens=60, max_frac_per_source=0.9, explain=True, **window)
        selected = client.select(POOL, max_tokens=12, max_frac_per_source=0.9, explain=True)
    one, other, third = asyncio.run(ask(window))
    _same(plan, one)
    _same(selected, third)
    assert context.explanation == other.explanation == plan.explanation
    told = _explained(plan.explanation)
    assert {span.span for span in told.spans if span.outcome == "packed"} == {span.span for span in plan.spans}
    assert len(told.spans) == plan.stats.pool_spans
    assert {span.source_name for span in told.spans} == {"trams.md", "电车.md"}
    best = told.spans[0]
    assert best.score is not None
    assert best.score.legs[0].leg == "lexical"
    assert (told.top_k, told.constants is not None, told.subjects) == (64, True, ())
    chosen = _explained(selected.explanation)
    assert (chosen.top_k, chosen.constants, chosen.spans[0].score) == (0, None, None)
    assert {span.outcome for span in chosen.spans} >= {"packed", "budget"}


def test_who_does_not_ask_is_told_nothing_and_gets_the_same_plan(planner) -> None:
    """X6: explain never alters the plan."""
    with Client(planner.address, planner.key()) as client:
        explained = client.plan(QUESTION, max_tokens=60, max_frac_per_source=0.9, explain=True)
        plain = client.plan(QUESTION, max_tokens=60, max_frac_per_source=0.9)
        assert (plain.plan_hash, plain.explanation) == (explained.plan_hash, None)
        assert "explanation" not in as_json(plain)
        assert client.memory.context(QUESTION).explanation is None
        assert client.select(POOL).explanation is None


def test_both_clients_ask_why_not(planner) -> None:
    """X6, A5: subjects come back as they were asked, each with its verdict."""
    asked = [WhyNot("trams.md"), WhyNot("电车.md", section="no such"), WhyNot("no.md")]

    async def ask() -> Plan:
        async with AsyncClient(planner.address, planner.key()) as client:
            return await client.plan(QUESTION, why_not=asked)

    told = _explained(asyncio.run(ask()).explanation)
    assert [subject.subject for subject in told.subjects] == asked
    assert [subject.verdict for subject in told.subjects] == ["candidate", "unknown", "unknown"]
    with Client(planner.address, planner.key()) as client:
        again = _explained(client.memory.context(QUESTION, why_not=asked[:1]).explanation)
        assert again.subjects[0].candidates[0].source_name == "trams.md"
        chosen = _explained(client.select(POOL, why_not=[WhyNot(span=POOL[0].span)]).explanation)
        assert chosen.subjects[0].candidates[0].span == POOL[0].span
        with pytest.raises(InvalidRequest, match="why_not") as refused:
            client.plan(QUESTION, why_not=[WhyNot("x" * 1025)])
        assert refused.value.field == "why_not[0].source.source"

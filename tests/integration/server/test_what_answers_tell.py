"""What the three surfaces tell of themselves over real gRPC: limits echoed, traces, refusals, counters."""

import pytest
from planner_server import RealPlanner
from telha_client import Document, Fragment, InsufficientEvidence, Span, verify_hash
from telha_planner.config import ContextSettings, PlannerConfig

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
TRAMS = "# Trams\n\nThe first tram leaves at 05:12 from the harbour.\n\nThe last tram returns at 23:40.\n"
POOL = [
    Fragment(span=Span(SOURCE, 7, 0, 5), text="hello tram", score=0.5, kind="メタ🎈"),
    Fragment(span=Span(SOURCE, 7, 10, 15), text="world", tokens=4, score=1.0),
]


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    config = PlannerConfig(context=ContextSettings(max_tokens_ceiling=500, default_max_tokens=300, max_spans_ceiling=9))
    with RealPlanner(tmp_path_factory.mktemp("planner"), config) as planner:
        with planner.client() as client:
            client.memory.ingest([Document(name="trams.md", content=TRAMS)])
        yield planner


@pytest.fixture
def client(planner):
    with planner.client() as client:
        yield client


def test_every_limit_is_told_by_every_surface_and_its_trace(client):
    """S4, S5, S6, S12, S13, X1: share, overhead and span limit, in the statistics and in the record."""
    limits = {"max_frac_per_source": 0.625, "span_overhead_tokens": 3, "max_spans": 2, "max_tokens": 120}
    plan, selection = client.plan("tram", **limits), client.select(POOL, **limits)
    context = client.memory.context("tram", **limits)
    answers = (
        (plan.trace_id, plan.stats, "plan"),
        (selection.trace_id, selection.stats, "select"),
        (context.trace_id, context.stats.plan, "context"),
    )
    for trace_id, stats, kind in answers:
        assert (stats.max_frac_per_source, stats.span_overhead_tokens, stats.max_spans) == (0.625, 3, 2)
        assert (stats.requested, stats.applied) == (120, 120)
        record = client.trace(trace_id).record
        assert record["kind"] == kind
        told = record["budget"]
        assert (told["maxFracPerSource"], told["spanOverheadTokens"], told["maxSpans"]) == (0.625, 3, 2)
        assert (record["plan_model"], record["score_model"]) == (stats.plan_model, stats.score_model) == ("v1", "v3")
    assert plan.used == sum(span.tokens + 3 for span in plan.spans)


def test_a_kind_in_any_script_comes_back_and_is_hashed(client):
    """S9, S11: kinds are UTF-8."""
    plan = client.select(POOL, max_tokens=100, max_frac_per_source=1.0)
    assert {span.kind for span in plan.spans} == {"メタ🎈", "body"}
    assert verify_hash(plan)


def test_a_pool_of_nothing_is_no_evidence_for_select_either(client):
    """R6, S11: empty, or of fragments that share no term with the question; the trace says so."""
    unmatched = [Fragment(span=Span(SOURCE, 7, 0, 5), text="hello")]
    for pool, question in (([], None), (unmatched, "zanzibar")):
        with pytest.raises(InsufficientEvidence) as refusal:
            client.select(pool, question=question)
        record = client.trace(refusal.value.trace_id).record
        assert (record["kind"], record["error"]) == ("select", "INSUFFICIENT_EVIDENCE")
        allowed = client.select(pool, question=question, allow_ungrounded=True)
        assert (allowed.spans, allowed.used, allowed.stats.pool_spans) == ((), 0, 0)
        assert verify_hash(allowed)
        assert allowed.plan_hash == record["plan_hash"]


def test_a_ceiling_is_told_and_the_plan_is_that_of_the_ceiling(client):
    """C1, C7, C8: what was asked for and what was applied."""
    context = client.memory.context("tram harbour", max_tokens=100_000, max_spans=100)
    budget = context.stats.budget
    assert (budget.requested, budget.applied, context.stats.plan.max_spans) == (100_000, 500, 9)
    window = {"valid_time": context.window.valid_time, "tx_time": context.window.tx_time}
    plan = client.plan("tram harbour", max_tokens=500, max_spans=9, **window)
    assert (plan.plan_hash, plan.used) == (context.plan_hash, budget.used)
    default = client.memory.context("tram harbour").stats
    assert (default.budget.requested, default.plan.max_spans) == (300, 9)


def test_context_is_metered_in_its_own_namespace_by_tenant(planner):
    """C9: calls, milliseconds, trace writes and packed tokens of Context; Plan and Select leave them alone."""

    def meters(tenant: str) -> dict[str, float]:
        names = ("calls", "planner_ms_count", "trace_writes", "tokens_packed")
        return {name: planner.meters.registry.get_sample_value(_spelt(name), {"tenant": tenant}) or 0 for name in names}

    with planner.client("metered") as client:
        client.memory.ingest([Document(name="trams.md", content=TRAMS)])
        client.plan("tram")
        client.select(POOL)
        assert not any(meters("metered").values())
        packed = [client.memory.context(question).stats.budget.used for question in ("tram", "harbour", "zanzibar")]
    assert packed[0] > 0
    assert meters("metered") == {
        "calls": 3,
        "planner_ms_count": 3,
        "trace_writes": 3,
        "tokens_packed": sum(packed),
    }


def test_every_call_is_metered_under_a_name_of_its_own(planner):
    """C9: by method and code, failures included; no other program's `calls_total` is meant."""
    with planner.client("counted") as client:
        client.memory.ingest([Document(name="trams.md", content=TRAMS)])
        client.plan("tram")
        with pytest.raises(InsufficientEvidence):
            client.plan("zanzibar")

    def calls(code: str) -> float:
        labels = {"method": "telha.planner.v1.Planner/Plan", "code": code}
        return planner.meters.registry.get_sample_value("telha_calls_total", labels) or 0

    assert calls("OK") >= 1
    assert calls("FAILED_PRECONDITION") >= 1
    assert all(family.name.startswith(("telha_", "context_")) for family in planner.meters.registry.collect())


def _spelt(name: str) -> str:
    """The exposition's name of a meter: counters end in `_total`."""
    return f"context_{name}" if name.endswith("_count") else f"context_{name}_total"

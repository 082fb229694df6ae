"""Suggestions over real gRPC: what other budgets would have packed, and whether a caller may have them."""

import pytest
from planner_server import RealPlanner
from telha_client import Document, Fragment, InvalidRequest, Span
from telha_planner.config import ContextSettings, PlannerConfig, TokenSettings

FACTS = [
    f"The {name} tram stops at platform {number}, and leaves it again 🚋." for number, name in enumerate("abcdefgh")
]
QUESTION = "at which platform does the tram stop?"
ASKED = {"find": "passage", "expand_depth": 0, "max_frac_per_source": 1.0}
CEILING = 60
POOL = [
    Fragment(span=Span(f"0197a3f2-7c1e-7d7b-9a53-{number:012x}", 1, 0, 9), tokens=tokens, score=score)
    for number, (tokens, score) in enumerate([(30, 1.0), (25, 0.5), (40, 0.2), (10, 0.05), (90, 0.04)])
]


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    config = PlannerConfig(
        context=ContextSettings(max_tokens_ceiling=CEILING, default_max_tokens=40),
        tokens=TokenSettings(models={"tiny": {"encoding": "o200k_base", "context_window": 100}}),
    )
    with RealPlanner(tmp_path_factory.mktemp("suggest"), config) as planner:
        with planner.client() as client:
            client.memory.ingest([Document(name="trams.md", content="\n\n".join(FACTS))])
        yield planner


@pytest.fixture
def client(planner):
    with planner.client() as client:
        yield client


def test_nobody_is_told_who_did_not_ask(client):
    """C1, S4: Absent unless asked for, and the plan is the same to the bit."""
    plain = client.plan(QUESTION, **ASKED, max_tokens=40)
    at = {"valid_time": plain.window.valid_time, "tx_time": plain.window.tx_time}
    told = client.plan(QUESTION, **ASKED, **at, max_tokens=40, suggest=True)
    assert plain.suggestion is None
    assert (told.plan_hash, told.stats, told.spans) == (plain.plan_hash, plain.stats, plain.spans)
    assert told.suggestion.weight_share == 0.1
    assert client.trace(told.trace_id).record["request"]["suggest"] == {}
    shared = client.plan(QUESTION, **ASKED, **at, max_tokens=40, suggest=0.5)
    assert client.trace(shared.trace_id).record["request"]["suggest"] == {"weightShare": 0.5}


def test_a_suggested_selection_holds_what_was_promised(client):
    """S11: over a pool of the caller's own nothing else changes, so the suggestion is kept to the span."""
    told = client.select(POOL, max_tokens=35, max_frac_per_source=1.0, suggest=0.15).suggestion
    assert (told.wanted_spans, told.smallest_budget, told.exact, told.max_tokens) == (3, 95, True, 95)
    assert (told.greatest_budget, told.forbidden_by) == (None, None)
    again = client.select(POOL, max_tokens=95, max_frac_per_source=1.0)
    assert {span.span for span in again.spans} >= {fragment.span for fragment in POOL[:3]}
    less = client.select(POOL, max_tokens=94, max_frac_per_source=1.0)
    assert not {span.span for span in less.spans} >= {fragment.span for fragment in POOL[:3]}
    assert [step.budget for step in told.steps] == [70, 140, 280]
    for step in told.steps:
        plan = client.select(POOL, max_tokens=step.budget, max_frac_per_source=1.0)
        assert (step.used, step.spans) == (plan.used, len(plan.spans))
        assert (step.packed_weight, step.share_of_bound) == (plan.stats.packed_weight, plan.stats.weight_share)
    assert told.steps[-1].spans == len(POOL)


def test_the_ceiling_of_context_forbids_what_plan_may_have(client):
    """C8: it says how much would be enough, and that it cannot be asked for here."""
    told = client.memory.context(QUESTION, **ASKED, suggest=0.01).suggestion
    assert told.greatest_budget == CEILING < told.smallest_budget
    assert told.forbidden_by == "ceiling"
    plan = client.plan(QUESTION, **ASKED, max_tokens=told.max_tokens, suggest=0.01)
    assert plan.budget == told.smallest_budget
    assert (plan.suggestion.smallest_budget, plan.suggestion.forbidden_by) == (told.smallest_budget, None)
    assert len(plan.spans) >= told.wanted_spans


def test_the_context_window_of_the_reading_model_forbids_too(client):
    """T4: half of it is the most that a plan may have."""
    told = client.plan(QUESTION, **ASKED, model="tiny", suggest=0.01).suggestion
    assert (told.greatest_budget, told.forbidden_by) == (50, "context_window")
    context = client.memory.context(QUESTION, **ASKED, model="tiny", suggest=0.01).suggestion
    assert (context.greatest_budget, context.forbidden_by) == (50, "context_window")


def test_of_estimates_more_has_to_be_asked_for(client):
    """T4: what to ask for is the budget before the safety factor, and not a token more."""
    told = client.plan(QUESTION, **ASKED, model="unheard-of", max_tokens=50, suggest=0.01).suggestion
    assert told.max_tokens > told.smallest_budget
    enough = client.plan(QUESTION, **ASKED, model="unheard-of", max_tokens=told.max_tokens)
    assert enough.budget == told.smallest_budget
    less = client.plan(QUESTION, **ASKED, model="unheard-of", max_tokens=told.max_tokens - 1)
    assert less.budget == told.smallest_budget - 1


def test_a_span_limit_may_keep_every_budget_from_it(client):
    """S6: then there is none, and the limit is named."""
    told = client.select(POOL, max_tokens=35, max_spans=2, max_frac_per_source=1.0, suggest=0.15).suggestion
    assert (told.wanted_spans, told.smallest_budget, told.max_tokens) == (3, None, None)
    assert (told.exact, told.forbidden_by) == (True, "max_spans")


def test_an_empty_pool_wants_nothing(client):
    """R6: and an answer without spans may still be asked."""
    told = client.plan("zq7x3y2", allow_ungrounded=True, suggest=True).suggestion
    assert (told.wanted_spans, told.smallest_budget, told.steps) == (0, None, ())


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5, float("nan"), float("inf")])
def test_a_share_out_of_range_is_refused(client, share):
    """S10: With its place, on every surface."""
    for ask in (
        lambda: client.plan(QUESTION, suggest=share),
        lambda: client.memory.context(QUESTION, suggest=share),
        lambda: client.select(POOL, suggest=share),
    ):
        with pytest.raises(InvalidRequest) as refused:
            ask()
        assert refused.value.field == "suggest.weight_share"
        assert refused.value.rule == "must be above 0 and at most 1"

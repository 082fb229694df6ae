import math
from uuid import UUID

import pytest
from telha.context.v1 import context_pb2
from telha.planner.v1 import explanation_pb2, plan_pb2, planner_pb2, suggestion_pb2
from telha_planner.core.bound import Optimality
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.core.plan import EvidencePlan, LegCounts, PlannedSpan, PlanStats, RecallStats
from telha_planner.core.request import Fragment, Leg, PlanRequest, Window
from telha_planner.core.subject import SourceSubject
from telha_planner.server.translate_context import read_build
from telha_planner.server.translate_plan import plan_message, read_plan, read_select

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"


def fragment(**changes):
    span = plan_pb2.SpanRef(source_id=SOURCE, source_version_tx=7, start=0, end=5)
    return planner_pb2.Fragment(**{"span": span, "tokens": 3, "score": 1.0, **changes})


def span(**changes):
    return plan_pb2.SpanRef(**{"source_id": SOURCE, "source_version_tx": 7, "start": 0, "end": 5, **changes})


def test_a_request_is_read_as_a_checked_type_and_as_sent():
    """X1: the trace keeps the request as sent: only what was set, in camelCase."""
    message = planner_pb2.PlanRequest(question="o que é? 你好", spaces=["a"], legs=[plan_pb2.LEG_LEXICAL])
    message.budget.max_tokens = 5
    message.window.tx_time_us = 0
    request, sent = read_plan(message)
    assert request == PlanRequest(
        question="o que é? 你好",
        spaces=("a",),
        legs=frozenset({Leg.LEXICAL}),
        max_tokens=5,
        window=Window(tx_time=0),
    )
    assert sent == {
        "question": "o que é? 你好",
        "spaces": ["a"],
        "legs": ["lexical"],
        "budget": {"maxTokens": 5},
        "window": {"txTimeUs": 0},
    }


def test_every_field_of_a_plan_request_is_read():
    """A1: a field that is forgotten here would be ignored silently."""
    message = planner_pb2.PlanRequest(
        question="q",
        query=plan_pb2.NodeQuery(find="passage", limit=3),
        vector=plan_pb2.QueryVector(values=[0.5, 0.25], model="mini"),
        expand_depth=0,
        window=plan_pb2.Window(valid_time_us=-1, tx_time_us=2),
        budget=plan_pb2.Budget(max_tokens=9, max_spans=0),
        model="gpt-4o",
        spaces=["b", "a"],
        max_frac_per_source=1.0,
        span_overhead_tokens=0,
        legs=[plan_pb2.LEG_SEMANTIC, plan_pb2.LEG_STRUCTURED],
        allow_ungrounded=True,
        min_similarity=0.25,
        explain=True,
        why_not=[
            explanation_pb2.Subject(source=explanation_pb2.SourceSubject(source="notes.md", section="α > β")),
            explanation_pb2.Subject(span=span()),
        ],
        exclude=plan_pb2.Exclude(trace_ids=[SOURCE]),
        suggest=suggestion_pb2.Suggest(weight_share=0.25),
    )
    assert {field.name for field, _ in message.ListFields()} == set(message.DESCRIPTOR.fields_by_name)
    request, sent = read_plan(message)
    assert request == PlanRequest(
        question="q",
        find="passage",
        find_limit=3,
        vector=(0.5, 0.25),
        vector_model="mini",
        expand_depth=0,
        window=Window(-1, 2),
        max_tokens=9,
        max_spans=0,
        model="gpt-4o",
        spaces=("b", "a"),
        max_frac_per_source=1.0,
        span_overhead_tokens=0,
        legs=frozenset({Leg.SEMANTIC, Leg.STRUCTURED}),
        allow_ungrounded=True,
        min_similarity=0.25,
        explain=True,
        why_not=(SourceSubject("notes.md", "α > β"), SpanRef(UUID(SOURCE).bytes, 7, 0, 5)),
        suggest=0.25,
    )
    assert set(sent) == {field.json_name for field in message.DESCRIPTOR.fields}
    assert sent["vector"] == {"values": [0.5, 0.25], "model": "mini"}
    assert sent["query"] == {"find": "passage", "limit": 3}
    assert sent["whyNot"] == [
        {"source": {"source": "notes.md", "section": "α > β"}},
        {"span": {"sourceId": SOURCE, "sourceVersionTx": 7, "start": 0, "end": 5}},
    ]


def test_context_reads_its_switches():
    """C3: include flags default to true and are no part of the plan's request."""
    message = context_pb2.BuildRequest(question="q", include=context_pb2.Include(scores=False, open_questions=True))
    request, wanted, sent = read_build(message)
    assert request == PlanRequest(question="q")
    assert wanted == {"open_questions", "stats"}
    assert sent == {"question": "q", "include": {"scores": False, "openQuestions": True}}
    shared = {field.name for field in planner_pb2.PlanRequest.DESCRIPTOR.fields}
    own = {field.name for field in context_pb2.BuildRequest.DESCRIPTOR.fields}
    assert (own - shared, shared - own) == ({"include"}, {"allow_ungrounded"})


def test_a_pool_is_read_with_its_defaults():
    """S11: kind defaults to body and class to truth; absent is not 0."""
    message = planner_pb2.SelectRequest(
        pool=[fragment(), fragment(kind="note", span_class=plan_pb2.SPAN_CLASS_CACHE, text="t", tokens=0, score=0.0)]
    )
    request, sent = read_select(message)
    ref = SpanRef(UUID(SOURCE).bytes, 7, 0, 5)
    assert list(request.pool) == [
        Fragment(ref, tokens=3, score=1.0),
        Fragment(ref, "note", SpanClass.CACHE, "t", 0, 0.0),
    ]
    where = {"sourceId": SOURCE, "sourceVersionTx": 7, "start": 0, "end": 5}
    assert sent == {
        "pool": [
            {"span": where, "tokens": 3, "score": 1.0},
            {"span": where, "kind": "note", "class": "cache", "text": "t", "tokens": 0, "score": 0.0},
        ]
    }


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (planner_pb2.PlanRequest(), "question"),
        (planner_pb2.PlanRequest(question=" \n"), "question"),
        (planner_pb2.PlanRequest(question="a\0b"), "question"),
        (planner_pb2.PlanRequest(question="q", expand_depth=3), "expand_depth"),
        (planner_pb2.PlanRequest(question="q", budget=plan_pb2.Budget(max_tokens=0)), "budget.max_tokens"),
        (planner_pb2.PlanRequest(question="q", budget=plan_pb2.Budget(max_tokens=-1)), "budget.max_tokens"),
        (planner_pb2.PlanRequest(question="q", budget=plan_pb2.Budget(max_spans=-1)), "budget.max_spans"),
        (planner_pb2.PlanRequest(question="q", max_frac_per_source=0.0), "max_frac_per_source"),
        (planner_pb2.PlanRequest(question="q", max_frac_per_source=math.nan), "max_frac_per_source"),
        (planner_pb2.PlanRequest(question="q", max_frac_per_source=math.inf), "max_frac_per_source"),
        (planner_pb2.PlanRequest(question="q", span_overhead_tokens=-1), "span_overhead_tokens"),
        (planner_pb2.PlanRequest(question="q", min_similarity=1.25), "min_similarity"),
        (planner_pb2.PlanRequest(question="q", min_similarity=math.nan), "min_similarity"),
        (planner_pb2.PlanRequest(question="q", legs=[99]), "legs[0]"),
        (planner_pb2.PlanRequest(question="q", legs=[plan_pb2.LEG_UNSPECIFIED]), "legs[0]"),
        (planner_pb2.PlanRequest(question="q", spaces=[""]), "spaces[0]"),
        (planner_pb2.PlanRequest(question="q", spaces=["a", "a"]), "spaces[1]"),
        (planner_pb2.PlanRequest(question="q", spaces=["a", "*"]), "spaces"),
        (planner_pb2.PlanRequest(question="q", model=""), "model"),
        (planner_pb2.PlanRequest(query=plan_pb2.NodeQuery()), "query.find"),
        (planner_pb2.PlanRequest(query=plan_pb2.NodeQuery(find="a", limit=0)), "query.limit"),
        (planner_pb2.PlanRequest(vector=plan_pb2.QueryVector()), "vector.values"),
        (planner_pb2.PlanRequest(vector=plan_pb2.QueryVector(values=[1, math.nan])), "vector.values[1]"),
        (planner_pb2.PlanRequest(vector=plan_pb2.QueryVector(values=[math.inf])), "vector.values[0]"),
        (planner_pb2.PlanRequest(vector=plan_pb2.QueryVector(values=[0, 0])), "vector.values"),
        (
            planner_pb2.PlanRequest(question="q", window=plan_pb2.Window(valid_time_us=2**63 - 1)),
            "window.valid_time_us",
        ),
    ],
)
def test_a_bad_plan_request_is_refused_with_its_field(message, field):
    """S10: every door refuses with the place."""
    with pytest.raises(RequestInvalid) as refusal:
        read_plan(message)
    assert refusal.value.field == field


@pytest.mark.parametrize(
    ("pool", "question", "field"),
    [
        ([planner_pb2.Fragment(tokens=1, score=1)], None, "pool[0].span"),
        ([fragment(span=span(source_id=SOURCE.upper()))], None, "pool[0].span.source_id"),
        ([fragment(span=span(start=5))], None, "pool[0].span.end"),
        ([fragment(), fragment(span=span(end=2**53))], None, "pool[1].span.end"),
        ([fragment(span=span(end=2**64 - 1))], None, "pool[0].span.end"),
        ([fragment(score=math.nan)], None, "pool[0].score"),
        ([fragment(score=math.inf)], None, "pool[0].score"),
        ([fragment(score=-0.5)], None, "pool[0].score"),
        ([fragment(tokens=-1)], None, "pool[0].tokens"),
        ([fragment(span_class=9)], None, "pool[0].class"),
        ([fragment(kind=" ")], None, "pool[0].kind"),
        ([fragment(text="t")], "q", "pool[0].score"),
        ([planner_pb2.Fragment(span=span(), score=1.0)], None, "pool[0].text"),
        ([planner_pb2.Fragment(span=span(), tokens=1)], "q", "pool[0].text"),
        ([fragment(text="a"), fragment(text="b")], None, "pool[1].text"),
    ],
)
def test_a_bad_pool_is_refused_with_its_field(pool, question, field):
    """S10, S11: spans backwards or without tokens, scores that are no numbers, one coordinate with two texts."""
    with pytest.raises(RequestInvalid) as refusal:
        read_select(planner_pb2.SelectRequest(pool=pool, question=question))
    assert refusal.value.field == field


def test_a_plan_is_written_bit_for_bit():
    """S12: the plan's shape; weights keep their bits, offsets reach 2^53 - 1."""
    stats = PlanStats(
        *range(1, 9),
        True,
        "o200k_base",
        9,
        10,
        11,
        0.5,
        12,
        RecallStats(LegCounts(1, 2, 3, 4), *range(5, 11), "none", 0.25, 11, 0.125),
        Optimality(1.5, 2.0, 0.75),
    )
    planned = PlannedSpan(
        SpanRef(UUID(SOURCE).bytes, -5, 0, 2**53 - 1), "célula", SpanClass.CACHE, 5e-324, 2**53 - 1, "🧑‍🚀 שלום"
    )
    message = plan_message(EvidencePlan(10, 8, (planned,), stats, "b3:00"), "trace")
    assert message.spans[0] == plan_pb2.PlannedSpan(
        span=span(source_version_tx=-5, end=2**53 - 1),
        kind="célula",
        span_class=plan_pb2.SPAN_CLASS_CACHE,
        weight=5e-324,
        tokens=2**53 - 1,
        text="🧑‍🚀 שלום",
    )
    assert (message.budget, message.used, message.plan_hash, message.trace_id) == (10, 8, "b3:00", "trace")
    told = message.stats
    assert (told.packed_weight, told.weight_upper_bound, told.weight_share) == (1.5, 2.0, 0.75)
    elsewhere = {"recall", "packed_weight", "weight_upper_bound", "weight_share"}
    names = [field.name for field in plan_pb2.PlanStats.DESCRIPTOR.fields if field.name not in elsewhere]
    assert {name: getattr(message.stats, name) for name in names} == {name: getattr(stats, name) for name in names}
    recall = [field.name for field in plan_pb2.RecallStats.DESCRIPTOR.fields if field.name != "legs"]
    assert all(getattr(message.stats.recall, name) == getattr(stats.recall, name) for name in recall)
    legs = message.stats.recall.legs
    assert (legs.query, legs.vector, legs.lexical, legs.traversal) == (1, 2, 3, 4)

"""Plan, select and context through the gateway."""

import struct

import pytest
from telha.context.v1 import context_pb2
from telha.planner.v1 import plan_pb2, planner_pb2

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
TRACE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99"
HASH = "b3:" + "0f" * 32
WEIGHT = struct.unpack("<d", struct.pack("<Q", 0x3FE5_5555_5555_5557))[0]


def a_span(text="Deploys to eu-west need a sign-off.", span_class=plan_pb2.SPAN_CLASS_TRUTH):
    return plan_pb2.PlannedSpan(
        span=plan_pb2.SpanRef(source_id=SOURCE, source_version_tx=1780315200000001, start=10, end=2**53 - 1),
        kind="paragraph",
        span_class=span_class,
        weight=WEIGHT,
        tokens=9,
        text=text,
    )


def some_stats(*, recall=True):
    stats = plan_pb2.PlanStats(
        pool_spans=21,
        selected_spans=1,
        deduped=2,
        unpackable=3,
        budget_skipped=4,
        cap_skipped=5,
        span_limit_skipped=6,
        budget_stranded_by_cap=7,
        token_estimate=True,
        tokenizer="o200k_base",
        requested=2000,
        applied=1800,
        max_spans=8,
        max_frac_per_source=0.4,
        span_overhead_tokens=9,
        plan_model="v1",
        score_model="s1",
        packed_weight=1.25,
        weight_upper_bound=2.5,
        weight_share=0.5,
    )
    if recall:
        stats.recall.CopyFrom(
            plan_pb2.RecallStats(
                legs=plan_pb2.LegCounts(query=1, vector=2, lexical=3, traversal=4),
                nodes=10,
                nodes_without_spans=11,
                kind_missing=12,
                slices_missing=13,
                zero_score=14,
                pool_capped=15,
                vector_leg_skipped="no embedder is configured",
                min_similarity=0.125,
                below_floor=16,
                best_evidence=0.0625,
                excluded=17,
            )
        )
    return stats


def a_plan(spans, *, recall=True):
    return plan_pb2.EvidencePlan(
        plan_model="v1",
        budget=1800,
        used=9,
        spans=spans,
        stats=some_stats(recall=recall),
        plan_hash=HASH,
        trace_id=TRACE,
    )


STATS = {
    "poolSpans": 21,
    "selectedSpans": 1,
    "deduped": 2,
    "unpackable": 3,
    "budgetSkipped": 4,
    "capSkipped": 5,
    "spanLimitSkipped": 6,
    "budgetStrandedByCap": 7,
    "tokenEstimate": True,
    "tokenizer": "o200k_base",
    "requested": 2000,
    "applied": 1800,
    "maxSpans": 8,
    "maxFracPerSource": 0.4,
    "spanOverheadTokens": 9,
    "recall": {
        "legs": {"query": 1, "vector": 2, "lexical": 3, "traversal": 4},
        "nodes": 10,
        "nodesWithoutSpans": 11,
        "kindMissing": 12,
        "slicesMissing": 13,
        "zeroScore": 14,
        "poolCapped": 15,
        "vectorLegSkipped": "no embedder is configured",
        "minSimilarity": 0.125,
        "belowFloor": 16,
        "bestEvidence": 0.0625,
        "excluded": 17,
    },
    "planModel": "v1",
    "scoreModel": "s1",
    "packedWeight": 1.25,
    "weightUpperBound": 2.5,
    "weightShare": 0.5,
}


def span_json(text, name="truth"):
    return {
        "span": {"sourceId": SOURCE, "sourceVersionTx": 1780315200000001, "start": 10, "end": 2**53 - 1},
        "kind": "paragraph",
        "class": name,
        "weight": WEIGHT,
        "tokens": 9,
        "text": text,
    }


def test_a_plan_has_the_promised_shape(rest, script):
    """S12: the plan's JSON shape, numbers as numbers, text of any script, the weight bit for bit."""
    text = "部署 🧑‍🚀 شالوم"
    window = plan_pb2.Window(valid_time_us=1780315200000002, tx_time_us=1780315200000001)
    script.answers["Plan"] = planner_pb2.PlanResponse(
        plan=a_plan([a_span(text), a_span(span_class=plan_pb2.SPAN_CLASS_CACHE)]), window=window
    )
    answer = rest.post("/v1/plan", json={"question": "who signs off?"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "planModel": "v1",
        "budget": 1800,
        "used": 9,
        "spans": [span_json(text), span_json("Deploys to eu-west need a sign-off.", "cache")],
        "stats": STATS,
        "planHash": HASH,
        "traceId": TRACE,
        "window": {"validTime": 1780315200000002, "txTime": 1780315200000001},
    }


def test_every_field_of_a_plan_request_reaches_the_planner(rest, script):
    """A2: nothing that REST takes is lost on the way."""
    script.answers["Plan"] = planner_pb2.PlanResponse(plan=a_plan([]))
    body = {
        "question": "who?",
        "find": "passage",
        "limit": 7,
        "vector": {"values": [0.5, -1.0], "model": "m"},
        "expandDepth": 0,
        "window": {"validTime": "2026-06-01T14:00:00+02:00", "txTime": -5},
        "budget": {"maxTokens": 100, "maxSpans": 0},
        "model": "gpt-x",
        "spaces": ["a", "b"],
        "maxFracPerSource": 0.25,
        "spanOverheadTokens": 0,
        "legs": ["structured", "semantic", "lexical"],
        "allowUngrounded": True,
    }
    assert rest.post("/v1/plan", json=body).status_code == 200
    expected = planner_pb2.PlanRequest(
        question="who?",
        query=plan_pb2.NodeQuery(find="passage", limit=7),
        vector=plan_pb2.QueryVector(values=[0.5, -1.0], model="m"),
        expand_depth=0,
        window=plan_pb2.Window(valid_time_us=1780315200000000, tx_time_us=-5),
        budget=plan_pb2.Budget(max_tokens=100, max_spans=0),
        model="gpt-x",
        spaces=["a", "b"],
        max_frac_per_source=0.25,
        span_overhead_tokens=0,
        legs=[plan_pb2.LEG_STRUCTURED, plan_pb2.LEG_SEMANTIC, plan_pb2.LEG_LEXICAL],
        allow_ungrounded=True,
    )
    assert script.asked["Plan"] == expected


def test_what_is_left_out_stays_absent(rest, script):
    """T4: absent is not 0, so REST must not send what nobody said."""
    script.answers["Plan"] = planner_pb2.PlanResponse(plan=a_plan([]))
    rest.post("/v1/plan", json={"question": "who?", "budget": {}})
    assert script.asked["Plan"] == planner_pb2.PlanRequest(question="who?", budget=plan_pb2.Budget())


def test_select_sends_the_pool_and_has_no_window(rest, script):
    """S11, S12: the pool arrives whole; the answer is the plan's shape without recall and window."""
    script.answers["Select"] = planner_pb2.SelectResponse(plan=a_plan([a_span("x")], recall=False))
    span = {"sourceId": SOURCE, "sourceVersionTx": 3, "start": 0, "end": 4}
    pool = [
        {"span": span, "kind": "code", "class": "cache", "text": "text", "tokens": 0, "score": 0.75},
        {"span": span, "text": "text"},
    ]
    answer = rest.post("/v1/select", json={"pool": pool, "question": "q", "budget": {"maxTokens": 5}})
    assert answer.status_code == 200
    ref = plan_pb2.SpanRef(source_id=SOURCE, source_version_tx=3, start=0, end=4)
    assert script.asked["Select"] == planner_pb2.SelectRequest(
        pool=[
            planner_pb2.Fragment(
                span=ref, kind="code", span_class=plan_pb2.SPAN_CLASS_CACHE, text="text", tokens=0, score=0.75
            ),
            planner_pb2.Fragment(span=ref, text="text"),
        ],
        question="q",
        budget=plan_pb2.Budget(max_tokens=5),
    )
    stats = {key: value for key, value in STATS.items() if key != "recall"}
    assert answer.json() == {
        "planModel": "v1",
        "budget": 1800,
        "used": 9,
        "spans": [span_json("x")],
        "stats": stats,
        "planHash": HASH,
        "traceId": TRACE,
    }


def a_context():
    return context_pb2.BuildResponse(
        items=[
            context_pb2.Item(
                text="Deploys need a sign-off.",
                source=context_pb2.ItemSource(
                    source_id=SOURCE, source_version_tx=5, start=0, end=24, name="runbook.md"
                ),
                kind="paragraph",
                span_class=plan_pb2.SPAN_CLASS_TRUTH,
                score=WEIGHT,
                valid_time=context_pb2.ValidTime(start_us=5, end_us=9),
                pending_clarification=context_pb2.PendingClarification(clarification_id=TRACE, state="conflicted"),
            ),
            context_pb2.Item(
                text="b",
                source=context_pb2.ItemSource(source_id=SOURCE, source_version_tx=5, start=30, end=31, name="r"),
                kind="cell",
                span_class=plan_pb2.SPAN_CLASS_TRUTH,
                valid_time=context_pb2.ValidTime(start_us=-5),
            ),
        ],
        open_questions=[
            context_pb2.OpenQuestion(clarification_id=TRACE, state="conflicted", question="Who signs off?")
        ],
        stats=context_pb2.ContextStats(
            legs=plan_pb2.LegCounts(lexical=3),
            candidates=10,
            dedup_dropped=1,
            cap_skipped=2,
            budget_skipped=3,
            unpackable=0,
            span_limit_skipped=2,
            budget=context_pb2.BudgetStats(requested=9000, applied=8192, used=33, stranded=4),
            token_estimate=False,
            tokenizer="o200k_base",
        ),
        trace_id=TRACE,
        plan_hash=HASH,
        window=plan_pb2.Window(valid_time_us=7, tx_time_us=6),
    )


def test_context_has_the_promised_shape(rest, script):
    """C4, C5, C6: items, open questions, stats, trace and hash, as promised."""
    script.answers["Build"] = a_context()
    answer = rest.post("/v1/memory/context", json={"question": "who?"})
    assert answer.status_code == 200
    assert answer.json() == {
        "items": [
            {
                "text": "Deploys need a sign-off.",
                "source": {
                    "sourceId": SOURCE,
                    "sourceVersionTx": 5,
                    "start": 0,
                    "end": 24,
                    "name": "runbook.md",
                },
                "kind": "paragraph",
                "class": "truth",
                "score": WEIGHT,
                "validTime": {"start": 5, "end": 9},
                "pendingClarification": {"clarificationId": TRACE, "state": "conflicted"},
            },
            {
                "text": "b",
                "source": {"sourceId": SOURCE, "sourceVersionTx": 5, "start": 30, "end": 31, "name": "r"},
                "kind": "cell",
                "class": "truth",
                "validTime": {"start": -5},
            },
        ],
        "openQuestions": [{"clarificationId": TRACE, "state": "conflicted", "question": "Who signs off?"}],
        "stats": {
            "legs": {"query": 0, "vector": 0, "lexical": 3, "traversal": 0},
            "candidates": 10,
            "dedupDropped": 1,
            "capSkipped": 2,
            "budgetSkipped": 3,
            "unpackable": 0,
            "spanLimitSkipped": 2,
            "budget": {"requested": 9000, "applied": 8192, "used": 33, "stranded": 4},
            "tokenEstimate": False,
            "tokenizer": "o200k_base",
        },
        "traceId": TRACE,
        "planHash": HASH,
        "window": {"validTime": 7, "txTime": 6},
    }


def test_every_field_of_a_context_request_reaches_the_planner(rest, script):
    """C3: all fields and switches of the context request arrive."""
    script.answers["Build"] = a_context()
    body = {
        "question": "q",
        "find": "passage",
        "limit": 3,
        "vector": {"values": [1.0]},
        "expandDepth": 2,
        "window": {"validTime": 1},
        "budget": {"maxSpans": 4},
        "model": "m",
        "spaces": ["*"],
        "maxFracPerSource": 1,
        "spanOverheadTokens": 3,
        "legs": ["lexical"],
        "include": {"openQuestions": False, "scores": False, "stats": True},
    }
    assert rest.post("/v1/memory/context", json=body).status_code == 200
    assert script.asked["Build"] == context_pb2.BuildRequest(
        question="q",
        query=plan_pb2.NodeQuery(find="passage", limit=3),
        vector=plan_pb2.QueryVector(values=[1.0]),
        expand_depth=2,
        window=plan_pb2.Window(valid_time_us=1),
        budget=plan_pb2.Budget(max_spans=4),
        model="m",
        spaces=["*"],
        max_frac_per_source=1.0,
        span_overhead_tokens=3,
        legs=[plan_pb2.LEG_LEXICAL],
        include=context_pb2.Include(open_questions=False, scores=False, stats=True),
    )


def test_nothing_relevant_is_an_honest_200(rest, script):
    """C7: an empty context is an answer, with its empty lists; untraced context has no traceId."""
    script.answers["Build"] = context_pb2.BuildResponse(plan_hash=HASH, stats=context_pb2.ContextStats())
    answer = rest.post("/v1/memory/context", json={"question": "who?"})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["items"], body["openQuestions"]) == ([], [])
    assert "traceId" not in body


def test_open_questions_that_nobody_wanted_are_absent(rest, script):
    """C3: a part that was switched off is left out, not empty."""
    script.answers["Build"] = context_pb2.BuildResponse(plan_hash=HASH)
    body = rest.post("/v1/memory/context", json={"question": "q", "include": {"openQuestions": False}}).json()
    assert "openQuestions" not in body
    assert "stats" not in body


@pytest.mark.parametrize("weight", [5e-324, 0.1 + 0.2, 1.0, 1e300, 0.0])
def test_a_weight_survives_json_bit_for_bit(rest, script, weight):
    """S9: whoever recomputes the hash from JSON needs the exact float64."""
    span = a_span()
    span.weight = weight
    script.answers["Plan"] = planner_pb2.PlanResponse(plan=a_plan([span]))
    got = rest.post("/v1/plan", json={"question": "q"}).json()["spans"][0]["weight"]
    assert struct.pack("<d", got) == struct.pack("<d", weight)

"""Exclusions, prompt blocks and suggestions between JSON and the contract."""

from uuid import UUID

import pytest
from telha.context.v1 import context_pb2
from telha.planner.v1 import plan_pb2, planner_pb2, suggestion_pb2

SOURCE, TRACE, OTHER = (str(UUID(int=number)) for number in (1, 2, 3))
HASH = "b3:" + "0" * 64
SPAN = plan_pb2.SpanRef(source_id=SOURCE, source_version_tx=5, start=0, end=24)
PLACE = {"sourceId": SOURCE, "sourceVersionTx": 5, "start": 0, "end": 24}


def test_exclusions_reach_the_planner(rest, script):
    """A2, C11: on Plan and Context, in the order sent; absent, there are none."""
    script.answers["Plan"] = planner_pb2.PlanResponse(plan=plan_pb2.EvidencePlan(plan_hash=HASH))
    script.answers["Build"] = context_pb2.BuildResponse(plan_hash=HASH)
    for path, method in (("/v1/plan", "Plan"), ("/v1/memory/context", "Build")):
        assert rest.post(path, json={"question": "q", "exclude": {"traceIds": [OTHER, TRACE]}}).status_code == 200
        assert script.asked[method].exclude == plan_pb2.Exclude(trace_ids=[OTHER, TRACE])
        assert rest.post(path, json={"question": "q", "exclude": {"traceIds": []}}).status_code == 200
        assert script.asked[method].HasField("exclude")
        assert rest.post(path, json={"question": "q"}).status_code == 200
        assert not script.asked[method].HasField("exclude")


@pytest.mark.parametrize(
    ("exclude", "pointer"),
    [
        ([TRACE], "/exclude"),
        ({"traceIds": TRACE}, "/exclude/traceIds"),
        ({"traceIds": [5]}, "/exclude/traceIds/0"),
        ({}, "/exclude/traceIds"),
        ({"traceIds": [TRACE], "spans": []}, "/exclude/spans"),
    ],
)
def test_what_is_no_exclusion_is_refused_with_its_place(rest, exclude, pointer):
    """C7, C11: a pointer to the fault."""
    for path, code in (("/v1/plan", "INVALID_REQUEST"), ("/v1/memory/context", "CONTEXT_INVALID")):
        answer = rest.post(path, json={"question": "q", "exclude": exclude})
        assert (answer.status_code, answer.json()["code"]) == (400, code)
        assert answer.json()["pointer"] == pointer


def test_a_prompt_has_the_promised_shape(rest, script):
    """A2, C10: the text as it is, citations and what was left out; absent unless it is there."""
    prompt = context_pb2.Prompt(
        format="v1",
        text='[1] "指南.md"\n```\n第一班\u202e电车\n```\n',
        tokens=33,
        tokenizer="o200k_base",
        citations=[context_pb2.Citation(number=1, item=0, span=SPAN)],
        left_out=[SPAN],
    )
    script.answers["Build"] = context_pb2.BuildResponse(plan_hash=HASH, prompt=prompt)
    answer = rest.post("/v1/memory/context", json={"question": "q", "include": {"prompt": True}})
    assert script.asked["Build"].include == context_pb2.Include(prompt=True)
    assert answer.json()["prompt"] == {
        "format": "v1",
        "text": prompt.text,
        "tokens": 33,
        "tokenizer": "o200k_base",
        "citations": [{"number": 1, "item": 0, "span": PLACE}],
        "leftOut": [PLACE],
    }
    script.answers["Build"] = context_pb2.BuildResponse(plan_hash=HASH)
    assert "prompt" not in rest.post("/v1/memory/context", json={"question": "q"}).json()


@pytest.mark.parametrize(
    ("path", "method", "response", "body"),
    [
        ("/v1/plan", "Plan", planner_pb2.PlanResponse, {"question": "q"}),
        ("/v1/memory/context", "Build", context_pb2.BuildResponse, {"question": "q"}),
        ("/v1/select", "Select", planner_pb2.SelectResponse, {"pool": []}),
    ],
)
def test_a_suggestion_is_asked_for_and_has_the_promised_shape(rest, script, path, method, response, body):
    """A2: on each surface; what is not known is absent."""
    step = suggestion_pb2.BudgetStep(budget=200, used=150, spans=4, packed_weight=0.5, share_of_bound=0.25)
    told = suggestion_pb2.Suggestion(
        weight_share=0.1,
        wanted_spans=3,
        smallest_budget=120,
        exact=True,
        max_tokens=134,
        greatest_budget=100,
        forbidden_by="ceiling",
        steps=[step],
    )
    hashed = {"plan_hash": HASH} if method == "Build" else {"plan": plan_pb2.EvidencePlan(plan_hash=HASH)}
    script.answers[method] = response(suggestion=told, **hashed)
    answer = rest.post(path, json=body | {"suggest": {"weightShare": 0.1}})
    assert script.asked[method].suggest == suggestion_pb2.Suggest(weight_share=0.1)
    assert answer.json()["suggestion"] == {
        "weightShare": 0.1,
        "wantedSpans": 3,
        "smallestBudget": 120,
        "exact": True,
        "maxTokens": 134,
        "greatestBudget": 100,
        "forbiddenBy": "ceiling",
        "steps": [{"budget": 200, "used": 150, "spans": 4, "packedWeight": 0.5, "shareOfBound": 0.25}],
    }
    script.answers[method] = response(suggestion=suggestion_pb2.Suggestion(weight_share=0.1), **hashed)
    nothing = rest.post(path, json=body | {"suggest": {}}).json()["suggestion"]
    assert nothing == {"weightShare": 0.1, "wantedSpans": 0, "exact": False, "steps": []}
    assert not script.asked[method].suggest.HasField("weight_share")
    script.answers[method] = response(**hashed)
    assert "suggestion" not in rest.post(path, json=body).json()
    assert not script.asked[method].HasField("suggest")

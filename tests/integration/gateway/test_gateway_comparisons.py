"""Replays and differences through the gateway."""

import pytest
from telha.planner.v1 import difference_pb2, plan_pb2, replay_pb2

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
ONE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e98"
OTHER = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99"
HASH = "b3:" + "0f" * 32
PLACE = {"sourceId": SOURCE, "sourceVersionTx": 1780315200000001, "start": 10, "end": 20}


def a_span(weight, name=""):
    return difference_pb2.DifferentSpan(
        span=plan_pb2.SpanRef(source_id=SOURCE, source_version_tx=1780315200000001, start=10, end=20),
        kind="paragraph",
        span_class=plan_pb2.SPAN_CLASS_CACHE,
        weight=weight,
        tokens=9,
        source_name=name,
    )


def as_json(weight, **name):
    return {"span": PLACE, "kind": "paragraph", "class": "cache", "weight": weight, "tokens": 9, **name}


DIFFERENCE = difference_pb2.PlanDifference(
    gone=[a_span(0.1, "a.md")],
    new=[a_span(0.2)],
    reweighed=[difference_pb2.ReweighedSpan(span=a_span(0).span, before=a_span(0.3), after=a_span(0.4))],
    unchanged=5,
    changes=[
        difference_pb2.InputChange(input="PLAN_INPUT_SCORE_MODEL", before="v2", after="v3"),
        difference_pb2.InputChange(input=99),
    ],
    because="in words",
)
DIFFERENCE_AS_JSON = {
    "identical": False,
    "gone": [as_json(0.1, sourceName="a.md")],
    "new": [as_json(0.2)],
    "reweighed": [{"span": PLACE, "before": as_json(0.3), "after": as_json(0.4)}],
    "unchanged": 5,
    "changes": [{"input": "score_model", "before": "v2", "after": "v3"}, {"input": "unrecognized"}],
    "because": "in words",
}


def a_plan(trace_id, kind="plan"):
    window = plan_pb2.Window() if kind == "select" else plan_pb2.Window(valid_time_us=0, tx_time_us=2)
    return replay_pb2.ComparedPlan(
        trace_id=trace_id, kind=kind, recorded_us=3, plan_hash=HASH, window=window, budget=4, used=1
    )


def plan_as_json(trace_id):
    window = {"validTime": 0, "txTime": 2}
    return {
        "traceId": trace_id,
        "kind": "plan",
        "recorded": 3,
        "planHash": HASH,
        "window": window,
        "budget": 4,
        "used": 1,
    }


@pytest.mark.parametrize("body", [{}, {"json": {}}, {"content": b""}])
def test_a_replay_is_told_in_full(rest, script, body):
    """X5, A2: outcome, both plans, the difference and its causes; the body may be left out."""
    script.answers["Replay"] = replay_pb2.ReplayResponse(
        outcome=replay_pb2.REPLAY_OUTCOME_ERASED,
        recorded=a_plan(ONE),
        plan=plan_pb2.EvidencePlan(plan_model="v1", plan_hash=HASH, budget=4),
        window=plan_pb2.Window(valid_time_us=0, tx_time_us=1),
        difference=DIFFERENCE,
        erased=[replay_pb2.ErasedSource(source_id=SOURCE, erased_us=7, spans=2)],
    )
    answer = rest.post(f"/v1/trace/{ONE}/replay", **body)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told.pop("plan") | {"stats": None} == {
        "planModel": "v1",
        "budget": 4,
        "used": 0,
        "spans": [],
        "stats": None,
        "planHash": HASH,
    }
    assert told == {
        "outcome": "erased",
        "recorded": plan_as_json(ONE),
        "window": {"validTime": 0, "txTime": 1},
        "difference": DIFFERENCE_AS_JSON,
        "erased": [{"sourceId": SOURCE, "erased": 7, "spans": 2}],
    }
    assert script.asked["Replay"] == replay_pb2.ReplayRequest(trace_id=ONE)


def test_a_selection_has_no_window(rest, script):
    """X5: what read no memory has no instants."""
    script.answers["Replay"] = replay_pb2.ReplayResponse(
        outcome=1, recorded=a_plan(ONE, "select"), plan=plan_pb2.EvidencePlan(plan_hash=HASH)
    )
    told = rest.post(f"/v1/trace/{ONE}/replay").json()
    assert told["outcome"] == "identical"
    assert "window" not in told
    assert "window" not in told["recorded"]


def test_a_body_must_be_json_if_there_is_one(rest, script):
    """A2: an optional body is as strict as any other."""
    path = f"/v1/trace/{ONE}/replay"
    assert rest.post(path, content=b"{}").status_code == 415
    assert rest.post(path, content=b"{}", headers={"content-type": "text/plain"}).status_code == 415
    assert rest.post(path, content=b"", headers={"content-type": "text/plain"}).status_code == 415
    refused = rest.post(path, json={"explian": True})
    assert (refused.status_code, refused.json()["pointer"]) == (400, "/explian")


def test_two_traces_are_compared(rest, script):
    """X5, A2: both ids stand in the path, and a fault names the one that it is about."""
    script.answers["Diff"] = replay_pb2.DiffResponse(before=a_plan(ONE), after=a_plan(OTHER), difference=DIFFERENCE)
    answer = rest.get(f"/v1/trace/{ONE}/diff/{OTHER}")
    assert answer.json() == {
        "before": plan_as_json(ONE),
        "after": plan_as_json(OTHER),
        "difference": DIFFERENCE_AS_JSON,
    }
    assert script.asked["Diff"] == replay_pb2.DiffRequest(trace_id=ONE, other_trace_id=OTHER)

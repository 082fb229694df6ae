"""Explain over REST and the real pipeline, beside the same call through the Python client."""

import httpx
import pytest
from gateway_server import Script, running
from planner_server import RealPlanner
from rest_contract import check
from telha_client import Document, Fragment, Span, as_json

TRAMS = "# Trams\n\n" + "\n\n".join(f"Tram {n} leaves the harbour at {n}:12, says the night board." for n in range(9))
QUESTION = "when does the night tram leave the harbour"
SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
POOL = [Fragment(span=Span(SOURCE, 7, 10 * n, 10 * n + 14), tokens=n, score=0.5) for n in range(1, 9)]


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("planner")) as planner:
        with planner.client() as client:
            client.memory.ingest([Document(name="trams.md", content=TRAMS)])
        yield planner


@pytest.fixture(scope="module")
def rest(planner):
    headers = {"authorization": f"Bearer {planner.key()}"}
    with (
        running(Script(), planner=planner.address) as url,
        httpx.Client(base_url=url, headers=headers, timeout=20, event_hooks={"response": [check]}) as client,
    ):
        yield client


def _answered(rest, path, body):
    answer = rest.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_rest_says_what_the_client_says(rest, planner):
    """X6, A2: Plan, Context and Select; numbers as numbers, words in lower case, what is absent left out."""
    asked = {"question": QUESTION, "budget": {"maxTokens": 60}, "maxFracPerSource": 0.9, "explain": True}
    plan = _answered(rest, "/v1/plan", asked)
    asked["window"] = plan["window"]
    context = _answered(rest, "/v1/memory/context", asked)
    body = [as_json(fragment) for fragment in POOL]
    selected = _answered(
        rest, "/v1/select", {"pool": body, "budget": {"maxTokens": 12}, "maxFracPerSource": 0.9, "explain": True}
    )
    window = {"valid_time": plan["window"]["validTime"], "tx_time": plan["window"]["txTime"]}
    with planner.client() as client:
        one = client.plan(QUESTION, max_tokens=60, max_frac_per_source=0.9, explain=True, **window)
        assert selected["explanation"] == as_json(
            client.select(POOL, max_tokens=12, max_frac_per_source=0.9, explain=True).explanation
        )
    assert plan["explanation"] == context["explanation"] == as_json(one.explanation)
    best, *_ = plan["explanation"]["spans"]
    assert best["outcome"] == "packed"
    assert isinstance(best["weight"], float)
    assert isinstance(best["rank"], int)
    assert best["score"]["legs"][0]["leg"] == "lexical"
    assert "duplicate" not in best
    outcomes = {span["outcome"] for span in plan["explanation"]["spans"]}
    assert outcomes >= {"packed", "duplicate", "budget"}


def test_who_does_not_ask_gets_no_explanation(rest):
    """X6: explain defaults to false."""
    for explain in (False, None):
        told = _answered(rest, "/v1/plan", {"question": QUESTION, "explain": explain})
        assert "explanation" not in told
    assert "explanation" not in _answered(rest, "/v1/memory/context", {"question": QUESTION})


def test_a_trace_keeps_what_was_explained(rest):
    """X1, X6: for whoever looks at it later; without explain it keeps none."""
    told = _answered(
        rest, "/v1/plan", {"question": QUESTION, "budget": {"maxTokens": 60}, "maxFracPerSource": 0.9, "explain": True}
    )
    record = rest.get(f"/v1/trace/{told['traceId']}").json()["record"]
    assert len(record["explained"]["rows"]) == told["stats"]["poolSpans"]
    plain = _answered(rest, "/v1/plan", {"question": QUESTION})
    assert rest.get(f"/v1/trace/{plain['traceId']}").json()["record"]["explained"] is None


@pytest.mark.parametrize("path", ["/v1/plan", "/v1/memory/context"])
def test_explain_is_true_or_false(rest, path):
    """C3: anything else is refused with its place."""
    refused = rest.post(path, json={"question": "q", "explain": "yes"})
    assert (refused.status_code, refused.json()["pointer"]) == (400, "/explain")

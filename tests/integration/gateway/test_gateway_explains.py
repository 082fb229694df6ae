"""Explain over REST and the real pipeline, beside the same call through the Python client."""

import httpx
import pytest
from gateway_server import Script, running
from planner_server import RealPlanner
from rest_contract import check
from telha_client import Document, Fragment, Span, WhyNot, as_json

TRAMS = "# Trams\n\n" + "\n\n".join(f"Tram {n} leaves the harbour at {n}:12, says the night board." for n in range(9))
QUESTION = "when does the night tram leave the harbour"
SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
_SPAN = {"sourceId": SOURCE, "sourceVersionTx": 7, "start": 0, "end": 5}
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


def test_why_not_over_rest_is_why_not_of_the_client(rest, planner):
    """X6, A2: a source, a section, a span; verdicts in lower case; the plan stays the same."""
    plain = _answered(rest, "/v1/plan", {"question": QUESTION, "budget": {"maxTokens": 60}})
    span = plain["spans"][0]["span"]
    why_not = [{"source": "trams.md"}, {"source": "trams.md", "section": "Trams"}, {"span": span}, {"source": "no.md"}]
    asked = {"question": QUESTION, "budget": {"maxTokens": 60}, "window": plain["window"], "whyNot": why_not}
    told = _answered(rest, "/v1/plan", asked)
    assert told["planHash"] == plain["planHash"]
    subjects = told["explanation"]["subjects"]
    assert [subject["subject"] for subject in subjects] == why_not
    assert [subject["verdict"] for subject in subjects] == ["candidate", "candidate", "candidate", "unknown"]
    assert subjects[2]["candidates"][0]["outcome"] == "packed"
    assert told["explanation"]["spans"] == []
    assert _answered(rest, "/v1/memory/context", asked)["explanation"] == told["explanation"]
    window = {"valid_time": plain["window"]["validTime"], "tx_time": plain["window"]["txTime"]}
    subjects_of = [
        WhyNot("trams.md"),
        WhyNot("trams.md", section="Trams"),
        WhyNot(span=Span(span["sourceId"], span["sourceVersionTx"], span["start"], span["end"])),
        WhyNot("no.md"),
    ]
    with planner.client() as client:
        assert (
            as_json(client.plan(QUESTION, max_tokens=60, why_not=subjects_of, **window).explanation)
            == (told["explanation"])
        )
    pool = [as_json(fragment) for fragment in POOL]
    chosen = _answered(rest, "/v1/select", {"pool": pool, "whyNot": [{"span": pool[0]["span"]}]})
    assert chosen["explanation"]["subjects"][0]["verdict"] == "candidate"


@pytest.mark.parametrize(
    ("why_not", "pointer", "rule"),
    [
        ([{}], "/whyNot/0", "must have a source or a span, and not both"),
        ([{"source": "a"}, {"source": "a", "span": _SPAN}], "/whyNot/1", "must have a source or a span, and not both"),
        ([{"span": _SPAN, "section": "x"}], "/whyNot/0/section", "belongs to a source, not to a span"),
        ([{"source": ""}], "/whyNot/0/source", "must"),
        ([{"source": "x" * 1025}], "/whyNot/0/source", "at most 1,024 bytes"),
        ([{"source": "a", "section": "x" * 1025}], "/whyNot/0/section", "at most 1,024 bytes"),
        ([{"span": {**_SPAN, "end": 0}}], "/whyNot/0/span/end", "greater than start"),
        ([{"span": {**_SPAN, "sourceId": "x"}}], "/whyNot/0/span/sourceId", "UUID"),
        ([{"node": "x"}], "/whyNot/0/node", "is not a known field"),
        ([{"source": f"{n}"} for n in range(33)], "/whyNot", "at most 32"),
        ("a.md", "/whyNot", "must be an array"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/plan", "/v1/memory/context", "/v1/select"])
def test_a_subject_that_is_none_is_refused_with_its_place(rest, path, why_not, pointer, rule):
    """A2, C7: the pointer is into the body as it was sent, whoever finds the fault."""
    asked = {"question": "q"} if path != "/v1/select" else {"pool": [as_json(fragment) for fragment in POOL]}
    refused = rest.post(path, json=asked | {"whyNot": why_not})
    problem = refused.json()
    assert (refused.status_code, problem["pointer"]) == (400, pointer), problem
    assert rule in problem["detail"]

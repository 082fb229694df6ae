"""REST over the real pipeline: parsing, columns, recall, selection, spool; nothing scripted."""

import copy
import json
import math
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import UUID

import httpx
import pytest
from gateway_server import Script, running
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planner_parts import parts_in
from planner_server import PlannerServer
from rest_contract import check
from telha_planner.config import ContextSettings, PlannerConfig
from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.core.plan import PlannedSpan, plan_hash
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.replay import Replaying
from telha_planner.server.context import ContextSurface
from telha_planner.server.dispatch import PlanThread
from telha_planner.server.planner import PlannerSurface
from telha_planner.server.questions import QuestionThreads
from telha_planner.server.quota import Quota
from telha_planner.server.replay import Replays
from telha_planner.server.trace_reader import TraceReader
from telha_planner.server.trace_writer_port import TraceWriter
from telha_planner.trace.spool import Spool

RUNBOOK = """# Deploys

Deploys to eu-west need a sign-off from the release captain.

The night tram to the harbour stops at two.

部署到欧洲需要签字。

שחרור דורש אישור 🧑‍🚀.
"""


@contextmanager
def planner(folder, config):
    """A real planner's Plan, Select and Context on a real listener."""
    parts = parts_in(folder, config=config)
    thread = PlanThread(4, lambda _: True)
    threads = QuestionThreads(thread, None)
    spools = []

    def services():
        spools.append(Spool.open(folder / "spool", 1 << 20))
        writer = TraceWriter(f"unix:{folder}/no-writer.sock", "token")
        replaying = Replaying(parts.planning, parts.store, config, Tokenizers(config.tokens))
        reader = TraceReader(spools[0], writer)
        replays = Replays(parts.planning, replaying, thread, reader, Quota(0), 4 << 20)
        limit = config.server.max_message_bytes
        planning = PlannerSurface(parts.planning, threads, spools[0], Quota(0), server.meters, replays, reader, limit)
        context = ContextSurface(
            parts.planning, threads, spools[0], Quota(0), server.meters, reader, limit, enabled=config.context.enabled
        )
        return [planning.service(), context.service()]

    server = PlannerServer(services)
    with server:
        try:
            yield parts, server
        finally:
            server.run(spools[0].close())
    thread.close()
    parts.close()


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with planner(tmp_path_factory.mktemp("real"), PlannerConfig()) as (parts, server):
        source = parts.remember("runbook.md", RUNBOOK)
        key = parts.key()
        headers = {"authorization": f"Bearer {key}"}
        with (
            running(Script(), planner=server.address) as url,
            httpx.Client(base_url=url, headers=headers, timeout=20, event_hooks={"response": [check]}) as rest,
        ):
            yield parts, rest, source


@pytest.fixture
def rest(stack):
    return stack[1]


def test_a_plan_is_the_text_of_the_source_and_its_hash_can_be_recomputed(rest, stack):
    """S9, S12: from REST's JSON alone, the plan hash comes out again; texts are the source's own bytes."""
    answer = rest.post("/v1/plan", json={"question": "who signs off deploys to eu-west?", "budget": {"maxTokens": 200}})
    assert answer.status_code == 200
    plan = answer.json()
    assert plan["spans"]
    assert plan["used"] <= plan["budget"] == 200
    canonical = RUNBOOK.encode()
    spans = []
    for planned in plan["spans"]:
        place = planned["span"]
        assert place["sourceId"] == str(stack[2])
        assert canonical[place["start"] : place["end"]].decode() == planned["text"]
        ref = SpanRef(UUID(place["sourceId"]).bytes, place["sourceVersionTx"], place["start"], place["end"])
        span_class = SpanClass[planned["class"].upper()]
        spans.append(
            PlannedSpan(ref, planned["kind"], span_class, planned["weight"], planned["tokens"], planned["text"])
        )
    assert plan_hash(plan["budget"], plan["used"], spans) == plan["planHash"]
    stats = plan["stats"]
    outcomes = ("deduped", "unpackable", "budgetSkipped", "spanLimitSkipped", "capSkipped", "selectedSpans")
    assert stats["poolSpans"] == sum(stats[name] for name in outcomes)


def test_context_is_the_same_plan_as_items(rest):
    """C1, C4: equal requests have equal hashes on both surfaces; scores are the plan's weights, bit for bit."""
    asked = {"question": "release captain sign-off", "budget": {"maxTokens": 150, "maxSpans": 5}}
    context = rest.post("/v1/memory/context", json=asked).json()
    plan = rest.post("/v1/plan", json=asked | {"window": context["window"]}).json()
    assert context["planHash"] == plan["planHash"]
    assert context["window"] == plan["window"]
    bits = [struct.pack(">d", item["score"]) for item in context["items"]]
    assert bits == sorted(bits, reverse=True)
    assert sorted(bits) == sorted(struct.pack(">d", span["weight"]) for span in plan["spans"])


def test_rfc_3339_and_microseconds_are_one_instant(rest):
    """C3: both spellings of a time plan the same."""
    base = {"question": "night tram", "window": {"validTime": 4102444800000000}}
    other = {"question": "night tram", "window": {"validTime": "2100-01-01T02:00:00.000000+02:00"}}
    first, second = (rest.post("/v1/plan", json=body).json() for body in (base, other))
    assert first["window"] == second["window"]
    assert first["planHash"] == second["planHash"]


def test_memory_before_its_first_commit_is_empty(rest):
    """R6, C7: nothing found is a 422 with a trace from Plan, and an honest 200 from Context."""
    asked = {"question": "night tram", "window": {"txTime": "1999-01-01T00:00:00Z"}}
    answer = rest.post("/v1/plan", json=asked)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "INSUFFICIENT_EVIDENCE")
    assert UUID(problem["traceId"])
    answer = rest.post("/v1/memory/context", json=asked)
    assert answer.status_code == 200
    assert answer.json()["items"] == []
    assert answer.json()["stats"]["candidates"] == 0
    ungrounded = rest.post("/v1/plan", json=asked | {"allowUngrounded": True})
    assert (ungrounded.status_code, ungrounded.json()["spans"]) == (200, [])


SHOUTED = "0197A3F2-7C1E-7D7B-9A53-2F0C3B7F9E10"


def fragment(start=0, end=5, **changes):
    place = {"sourceId": "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", "sourceVersionTx": 1, "start": start, "end": end}
    return {"span": place, "text": "hello", "score": 1.0} | changes


def test_select_packs_a_pool_of_ones_own(rest):
    """S11: exact packing over fragments that memory never saw."""
    pool = [fragment(), fragment(10, 15, score=0.5, text="world"), fragment(20, 25, tokens=5000)]
    selection = rest.post("/v1/select", json={"pool": pool, "budget": {"maxTokens": 100}}).json()
    assert [span["span"]["start"] for span in selection["spans"]] == [0, 10]
    assert selection["stats"]["unpackable"] == 1
    assert "window" not in selection


@pytest.mark.parametrize(
    ("path", "body", "pointer", "rule"),
    [
        ("/v1/plan", {}, "/question", "or find or vector is required"),
        ("/v1/plan", {"question": "  \t"}, "/question", "must not be blank"),
        ("/v1/plan", {"question": "a\0b"}, "/question", "U+0000"),
        ("/v1/plan", {"question": "q" * 16_385}, "/question", "16,384 bytes"),
        ("/v1/plan", {"question": "q", "expandDepth": 3}, "/expandDepth", "between 0 and 2"),
        ("/v1/plan", {"question": "q", "budget": {"maxTokens": 0}}, "/budget/maxTokens", "at least 1"),
        ("/v1/plan", {"question": "q", "budget": {"maxTokens": -1}}, "/budget/maxTokens", "at least 1"),
        ("/v1/plan", {"question": "q", "budget": {"maxSpans": -1}}, "/budget/maxSpans", "at least 0"),
        ("/v1/plan", {"question": "q", "maxFracPerSource": 0}, "/maxFracPerSource", "above 0 and at most 1"),
        ("/v1/plan", {"question": "q", "maxFracPerSource": 1.5}, "/maxFracPerSource", "above 0 and at most 1"),
        ("/v1/plan", {"question": "q", "spanOverheadTokens": -1}, "/spanOverheadTokens", "between 0 and"),
        ("/v1/plan", {"question": "q", "spaces": ["a", "a"]}, "/spaces/1", "must not repeat"),
        ("/v1/plan", {"question": "q", "spaces": ["*", "a"]}, "/spaces", "beside *"),
        ("/v1/plan", {"find": " "}, "/find", "must not be blank"),
        ("/v1/plan", {"find": "passage", "limit": 0}, "/limit", "between 1 and 1,000"),
        ("/v1/plan", {"question": "q", "limit": 5}, "/find", "must not be blank"),
        ("/v1/plan", {"vector": {"values": []}}, "/vector/values", "1 to 4,096"),
        ("/v1/plan", {"vector": {"values": [0.5, 1e39]}}, "/vector/values/1", "finite"),
        ("/v1/plan", {"vector": {"values": [0.0]}}, "/vector/values", "zero vector"),
        ("/v1/plan", {"question": "q", "window": {"txTime": 2**63 - 1}}, "/window/txTime", "must be between"),
        ("/v1/plan", {"question": "q", "model": ""}, "/model", "must not be blank"),
        ("/v1/select", {"pool": [fragment(5, 5)]}, "/pool/0/span/end", "greater than start"),
        ("/v1/select", {"pool": [fragment(), fragment(9, 3)]}, "/pool/1/span/end", "greater than start"),
        ("/v1/select", {"pool": [fragment(score=-1)]}, "/pool/0/score", "at least 0"),
        ("/v1/select", {"pool": [fragment(score=None)]}, "/pool/0/score", "is required without a question"),
        ("/v1/select", {"pool": [fragment(text=None)]}, "/pool/0/text", "or tokens is required"),
        ("/v1/select", {"pool": [fragment()], "question": "q"}, "/pool/0/score", "absent beside a question"),
        ("/v1/select", {"pool": [fragment(), fragment(text="other")]}, "/pool/1/text", "same coordinate"),
        ("/v1/select", {"pool": [fragment(tokens=-1)]}, "/pool/0/tokens", "between 0 and"),
        (
            "/v1/select",
            {
                "pool": [
                    fragment() | {"span": fragment()["span"] | {"sourceId": "0197A3F2-7C1E-7D7B-9A53-2F0C3B7F9E10"}}
                ]
            },
            "/pool/0/span/sourceId",
            "lower-case UUID",
        ),
    ],
)
def test_the_planners_rules_hold_through_rest(rest, path, body, pointer, rule):
    """S10, T4, R1, C7: bad input is refused with the field and the rule, in REST's own spelling."""
    for route in [path] if path == "/v1/select" else [path, "/v1/memory/context"]:
        answer = rest.post(route, json=body)
        problem = answer.json()
        assert (answer.status_code, problem["pointer"]) == (400, pointer)
        assert rule in problem["detail"]
        assert problem["code"] == ("CONTEXT_INVALID" if route.endswith("context") else "INVALID_REQUEST")
        assert "_" not in problem["detail"]


@pytest.mark.parametrize(
    "raw",
    [b'{"vector":{"values":[1e999]}}', b'{"vector":{"values":[-1e999]}}'],
)
def test_infinity_by_overflow_is_refused_by_the_planner(rest, raw):
    """A2: infinity by overflow is refused by the planner."""
    answer = rest.post("/v1/plan", content=raw, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["pointer"]) == (400, "/vector/values/0")


@pytest.mark.parametrize("key", [None, "", "Bearer", "Basic eDp5", "Bearer telha_nothing", "telha_x"])
def test_without_a_key_that_holds_there_is_one_answer(rest, key):
    """A6, C7: missing, malformed and unknown keys are 401, all with the same words."""
    headers = {"content-type": "application/json"} | ({} if key is None else {"authorization": key})
    answer = httpx.post(rest.base_url.join("/v1/plan"), content=b'{"question":"q"}', headers=headers)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["detail"]) == (
        401,
        "UNAUTHENTICATED",
        "a valid API key is required",
    )


def test_a_key_of_other_spaces_sees_nothing_and_is_told_so(rest, stack):
    """A6, M7: scope comes from the key; a space that it does not allow is 403."""
    key = stack[0].key(spaces=("private",))
    headers = {"authorization": f"Bearer {key}"}
    answer = rest.post("/v1/plan", json={"question": "night tram", "spaces": ["main"]}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "PERMISSION_DENIED")
    answer = rest.post("/v1/plan", json={"question": "night tram"}, headers=headers)
    assert answer.json()["code"] == "INSUFFICIENT_EVIDENCE"


def test_a_named_leg_that_cannot_run_is_a_422(rest):
    """R1: a leg that was named explicitly is a precondition, not a wish."""
    answer = rest.post("/v1/plan", json={"question": "q", "legs": ["semantic"]})
    assert (answer.status_code, answer.json()["code"]) == (422, "VECTOR_LEG_UNAVAILABLE")


def test_many_at_once_are_answered_or_told_to_come_back(rest):
    """A1: overload is 429 with a time to wait; nothing else goes wrong."""
    with ThreadPoolExecutor(24) as callers:
        answers = list(callers.map(lambda n: rest.post("/v1/plan", json={"question": f"night tram {n}"}), range(120)))
    statuses = {answer.status_code for answer in answers}
    assert 200 in statuses
    assert statuses <= {200, 429}
    for answer in answers:
        if answer.status_code == 429:
            assert answer.json()["code"] == "OVERLOADED"
            assert answer.headers["retry-after"] == "1"
            assert answer.json()["retryAfterMs"] > 0
        else:
            assert math.isfinite(answer.json()["spans"][0]["weight"])


def test_context_can_be_switched_off(tmp_path):
    """C8: a disabled context surface is a 404 with its own code; the rest stays."""
    config = PlannerConfig(context=ContextSettings(enabled=False))
    with planner(tmp_path, config) as (parts, server):
        headers = {"authorization": f"Bearer {parts.key()}"}
        parts.remember("runbook.md", RUNBOOK)
        with running(Script(), planner=server.address) as url:
            answer = httpx.post(f"{url}/v1/memory/context", json={"question": "tram"}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (404, "CONTEXT_DISABLED")
            assert httpx.post(f"{url}/v1/plan", json={"question": "tram"}, headers=headers).status_code == 200


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
WHOLE = {
    "/v1/plan": {
        "question": "night tram",
        "find": "passage",
        "limit": 3,
        "vector": {"values": [0.5, 0.25]},
        "expandDepth": 1,
        "window": {"validTime": "2100-01-01T00:00:00Z", "txTime": 4102444800000000},
        "budget": {"maxTokens": 100, "maxSpans": 3},
        "model": "gpt-4o",
        "spaces": ["main"],
        "maxFracPerSource": 0.5,
        "spanOverheadTokens": 2,
        "legs": ["lexical", "structured"],
    },
    "/v1/select": {"pool": [fragment(), fragment(9, 12, tokens=4)], "budget": {"maxTokens": 50}, "model": "x"},
}
WHOLE["/v1/memory/context"] = WHOLE["/v1/plan"] | {"include": {"scores": True, "stats": False}}


def places(value, path=()):
    """Every place below *value*."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


@st.composite
def nearly_right(draw):
    """A path and a request for it that is right but for one or two places."""
    path = draw(st.sampled_from(sorted(WHOLE)))
    body = copy.deepcopy(WHOLE[path])
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.sampled_from(sorted(places(body), key=str)))
        holder = body
        for key in place[:-1]:
            holder = holder[key]
        action = draw(st.sampled_from(["replace", "remove", "add"]))
        if action == "replace":
            holder[place[-1]] = draw(JSON_VALUES)
        elif action == "remove":
            del holder[place[-1]]
        elif isinstance(holder, dict):
            holder[draw(st.text(max_size=5))] = draw(JSON_VALUES)
    return path, body


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(nearly_right())
def test_no_request_is_our_fault(stack, case):
    """A2, C7: whatever is sent is answered or refused with its place; nothing ends as an internal error."""
    path, body = case
    answer = stack[1].post(path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert answer.status_code in {200, 400, 403, 422, 429}, answer.text
    if answer.status_code == 400:
        assert answer.json()["pointer"] is not None
        assert "is not valid" not in answer.json()["detail"]

"""How the gateway refuses: status, code, pointer and headers of every kind of failure."""

import json

import grpc
import httpx
import pytest
from gateway_server import PLANNED

Code = grpc.StatusCode
TRACE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99"
POSTS = (
    "/v1/memory/context",
    "/v1/plan",
    "/v1/select",
    "/v1/memory/sources",
    "/v1/memory/nodes",
    "/v1/memory/edges",
    "/v1/memory/clarifications",
)


def problem_of(answer):
    """The problem document, after the checks that hold for all of them."""
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert problem["type"] == f"https://telha.dev/errors#{problem['code']}"
    assert problem["requestId"] == answer.headers["x-request-id"]
    assert problem["title"]
    assert problem["detail"]
    assert "Traceback" not in answer.text
    assert "10.0.0.1" not in answer.text
    return problem


def post_raw(rest, path, body, **headers):
    return rest.post(path, content=body, headers={"content-type": "application/json", **headers})


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    ("body", "pointer", "rule"),
    [
        (b"", "", "not empty"),
        (b"null", "", "must be an object"),
        (b"[]", "", "must be an object"),
        (b"{", "", "must be JSON"),
        (b'{"surprise":1}', "/surprise", "is not a known field"),
        (b'{"tenant":"other"}', "/tenant", "is not a known field"),
        (b'{"x":NaN}', "/x", "must be a finite number"),
        (b'{"x":"\\ud800"}', "/x", "must not contain lone surrogates"),
        (b'{"x":1,"x":1}', "/x", "must not be given twice"),
        (b'{"x":"\xc3\x28"}', "", "must be UTF-8"),
        (b"[" * 60_000, "", "must not be nested so deep"),
    ],
)
def test_bad_json_is_refused_with_its_place_on_every_path(rest, script, path, body, pointer, rule):
    """C3, C7: unknown fields and broken JSON are 400 with a pointer, and nothing reaches the planner."""
    answer = post_raw(rest, path, body)
    problem = problem_of(answer)
    assert answer.status_code == 400
    assert problem["code"] == ("CONTEXT_INVALID" if path == "/v1/memory/context" else "INVALID_REQUEST")
    assert problem["pointer"] == pointer
    assert rule in problem["detail"]
    assert script.asked == {}


@pytest.mark.parametrize(
    ("body", "pointer", "rule"),
    [
        ({"filter": {"a": {"eq": 1}}}, "/filter", "is not a known field"),
        ({"question": "q", "window": {"validTime": "2026-06-01T12:00:00"}}, "/window/validTime", "offset"),
        ({"question": "q", "window": {"txTime": "2026-06-01T12:00:00.0000001Z"}}, "/window/txTime", "microsecond"),
        ({"question": "q", "window": {"txTime": "2026-02-30T12:00:00Z"}}, "/window/txTime", "exists"),
        ({"question": "q", "window": {"txTime": 1.5}}, "/window/txTime", "RFC 3339"),
        ({"question": "q", "window": {"txTime": 2**63}}, "/window/txTime", "64 bits"),
        ({"question": ["q"]}, "/question", "must be a string"),
        ({"question": "q", "budget": {"maxTokens": "100"}}, "/budget/maxTokens", "must be an integer"),
        ({"question": "q", "budget": {"maxTokens": 2**64}}, "/budget/maxTokens", "must be at most"),
        ({"question": "q", "expandDepth": -1}, "/expandDepth", "must be at least 0"),
        ({"question": "q", "expandDepth": 2**40}, "/expandDepth", "must be at most"),
        ({"question": "q", "spaces": "main"}, "/spaces", "must be an array"),
        ({"question": "q", "legs": ["dream"]}, "/legs/0", "must name"),
    ],
)
def test_a_fault_of_shape_is_refused_before_the_planner(rest, script, body, pointer, rule):
    """C7: shape faults are refused with the field and the rule."""
    for path, code in (("/v1/plan", "INVALID_REQUEST"), ("/v1/memory/context", "CONTEXT_INVALID")):
        answer = rest.post(path, json=body)
        problem = problem_of(answer)
        assert (answer.status_code, problem["code"], problem["pointer"]) == (400, code, pointer)
        assert rule in problem["detail"]
    assert script.asked == {}


def test_a_number_beyond_float_is_left_to_the_planner(rest, script):
    """S10: the planner re-checks everything; what JSON lets through as infinity reaches its rule, not the store."""
    script.fail(
        Code.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        field="vector.values[1]",
        rule="must be finite",
    )
    answer = post_raw(rest, "/v1/plan", b'{"vector":{"values":[0.5,1e999]}}')
    assert problem_of(answer)["pointer"] == "/vector/values/1"
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [
        (Code.INVALID_ARGUMENT, "INVALID_REQUEST", 400),
        (Code.UNAUTHENTICATED, "UNAUTHENTICATED", 401),
        (Code.PERMISSION_DENIED, "PERMISSION_DENIED", 403),
        (Code.NOT_FOUND, "NOT_FOUND", 404),
        (Code.UNIMPLEMENTED, "CONTEXT_DISABLED", 404),
        (Code.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE", 413),
        (Code.FAILED_PRECONDITION, "INSUFFICIENT_EVIDENCE", 422),
        (Code.FAILED_PRECONDITION, "VECTOR_LEG_UNAVAILABLE", 422),
        (Code.RESOURCE_EXHAUSTED, "OVERLOADED", 429),
        (Code.UNAVAILABLE, "UNAVAILABLE", 503),
        (Code.UNAVAILABLE, "TRACE_BACKLOG_FULL", 503),
        (Code.UNAVAILABLE, "TRACE_PENDING", 503),
        (Code.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", 504),
        (Code.INTERNAL, "INTERNAL", 500),
        (Code.FAILED_PRECONDITION, "SOMETHING_NEWER", 422),
    ],
)
def test_each_reason_has_its_status(rest, script, code, reason, status):
    """A2: one table from the planner's codes to HTTP; an unknown reason keeps its name."""
    script.fail(code, reason)
    answer = rest.post("/v1/memory/context", json={"question": "q"})
    problem = problem_of(answer)
    assert (answer.status_code, problem["code"]) == (status, reason)
    assert problem["detail"] == f"{reason} in words"


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [
        (Code.UNAVAILABLE, "UNAVAILABLE", 503),
        (Code.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", 504),
        (Code.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE", 413),
        (Code.INTERNAL, "INTERNAL", 500),
        (Code.UNKNOWN, "INTERNAL", 500),
        (Code.UNIMPLEMENTED, "INTERNAL", 500),
        (Code.CANCELLED, "UNAVAILABLE", 503),
    ],
)
def test_the_transports_own_words_never_go_out(rest, script, code, reason, status):
    """A2: the words of the transport never go out."""
    script.fail(code)
    answer = rest.post("/v1/plan", json={"question": "q"})
    assert (answer.status_code, problem_of(answer)["code"]) == (status, reason)


@pytest.mark.parametrize(
    "credential",
    [
        None,
        "",
        "Bearer",
        "Basic dXNlcjpwYXNz",
        "telha_key",
        "Bearer a b",
        "Bearer a, Bearer b",
    ],
)
def test_a_key_is_asked_for_the_way_http_asks(rest, script, credential):
    """C7, A6: without one bearer token nothing else of a request is looked at, and the answer says how to send one."""
    headers = {} if credential is None else {"authorization": credential}
    request = rest.build_request("POST", "/v1/plan?surprise=1", content=b"no json")
    del request.headers["authorization"]
    request.headers.update(headers)
    answer = rest.send(request)
    assert (answer.status_code, problem_of(answer)["code"]) == (401, "UNAUTHENTICATED")
    assert answer.headers["www-authenticate"] == 'Bearer realm="telha"'
    assert script.asked == {}


def test_two_credentials_are_none(rest, script):
    """A6: of two keys nobody can say which one a proxy on the way has checked."""
    two = [
        ("authorization", "Bearer telha_a"),
        ("authorization", "Bearer telha_b"),
        ("content-type", "application/json"),
    ]
    answer = httpx.post(rest.base_url.join("/v1/plan"), content=b"{}", headers=two)
    assert answer.status_code == 401
    assert script.asked == {}


def test_a_key_that_the_planner_does_not_know_is_a_401_too(rest, script):
    """C7: whoever refuses it, the answer is the same."""
    script.fail(Code.UNAUTHENTICATED, "UNAUTHENTICATED")
    answer = rest.post("/v1/plan", json={"question": "q"})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="telha"')


@pytest.mark.parametrize(("wait", "seconds"), [(50, "1"), (1000, "1"), (1001, "2")])
def test_a_busy_planner_says_when_to_come_back(rest, script, wait, seconds):
    """A2: retrying is advised only where it helps, in whole seconds for HTTP and in milliseconds for programs."""
    script.fail(Code.RESOURCE_EXHAUSTED, "OVERLOADED", retry_ms=wait)
    answer = rest.post("/v1/plan", json={"question": "q"})
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == seconds
    assert problem_of(answer)["retryAfterMs"] == wait


def test_insufficient_evidence_carries_its_trace(rest, script):
    """R6: 422 with the trace that says what was tried."""
    script.fail(Code.FAILED_PRECONDITION, "INSUFFICIENT_EVIDENCE", trace_id=TRACE)
    problem = problem_of(rest.post("/v1/plan", json={"question": "q"}))
    assert (problem["code"], problem["traceId"]) == ("INSUFFICIENT_EVIDENCE", TRACE)
    assert "retryAfterMs" not in problem
    assert "pointer" not in problem


@pytest.mark.parametrize(
    ("path", "body", "field", "pointer"),
    [
        ("/v1/plan", {"question": "q"}, "budget.max_tokens", "/budget/maxTokens"),
        ("/v1/plan", {"find": " "}, "query.find", "/find"),
        ("/v1/plan", {"find": "x", "limit": 0}, "query.limit", "/limit"),
        ("/v1/plan", {"question": "q"}, "window.valid_time_us", "/window/validTime"),
        ("/v1/memory/context", {"question": "q"}, "spaces[1]", "/spaces/1"),
        ("/v1/select", {"pool": []}, "pool[3].score", "/pool/3/score"),
        ("/v1/select", {"pool": []}, "pool[3].span.end", "/pool/3/span/end"),
        ("/v1/memory/nodes", {"nodes": []}, "nodes[2].valid_to_us", "/nodes/2/validTo"),
        (
            "/v1/memory/sources",
            {"documents": [{"name": "a", "text": "x"}, {"name": "b", "contentBase64": "eA=="}]},
            "documents[1].content",
            "/documents/1/contentBase64",
        ),
        (
            "/v1/memory/sources",
            {"documents": [{"name": "a", "text": "x"}]},
            "documents[0].content",
            "/documents/0/text",
        ),
        ("/v1/memory/sources", {"documents": [{"name": "a", "text": "x"}]}, "documents[0].name", "/documents/0/name"),
    ],
)
def test_the_planners_field_becomes_a_pointer(rest, script, path, body, field, pointer):
    """A2, C7: `BadRequest` fields of the planner are JSON pointers into the REST request."""
    script.fail(Code.INVALID_ARGUMENT, "INVALID_REQUEST", field=field, rule="must be better")
    problem = problem_of(rest.post(path, json=body))
    assert problem["pointer"] == pointer
    assert problem["detail"] == f"{pointer} must be better"


def test_a_rule_speaks_of_fields_that_rest_has(rest, script):
    """A2: a rule speaks of fields that REST has."""
    script.fail(Code.INVALID_ARGUMENT, "CONTEXT_INVALID", field="question", rule="or query or vector is required")
    problem = problem_of(rest.post("/v1/memory/context", json={}))
    assert problem["detail"] == "/question or find or vector is required"


def test_an_unknown_path_and_a_wrong_method_are_problems_too(rest):
    """A2: the framework's own pages never show."""
    answer = rest.get("/v1/plans")
    assert (answer.status_code, problem_of(answer)["code"]) == (404, "NOT_FOUND")
    answer = rest.get("/v1/plan")
    assert (answer.status_code, problem_of(answer)["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert "POST" in answer.headers["allow"]
    answer = rest.request("PATCH", "/v1/memory/sources/x")
    assert (answer.status_code, problem_of(answer)["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert {"GET", "DELETE"} <= {method.strip() for method in answer.headers["allow"].split(",")}


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/plan", "OPTIONS, POST"),
        ("/v1/memory/sources", "GET, HEAD, OPTIONS, POST"),
        ("/v1/memory/sources/x%2Fy", "DELETE, GET, HEAD, OPTIONS"),
        ("/healthz", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_path_says_what_it_takes(rest, path, allowed):
    """A2: OPTIONS and 405 tell the same methods."""
    answer = rest.options(path)
    assert (answer.status_code, answer.headers["allow"], answer.content) == (204, allowed, b"")
    assert rest.request("TRACE", path).headers["allow"] == allowed
    assert rest.request("PROPFIND", path).headers["allow"] == allowed


def test_head_is_get_without_its_body(rest, script):
    """A2: the same status and headers, failures included."""
    answer = rest.head("/openapi.json")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == rest.get("/openapi.json").headers["content-length"]
    script.fail(Code.NOT_FOUND, "NOT_FOUND")
    assert rest.head(f"/v1/trace/{TRACE}").status_code == 404


def test_a_name_in_a_path_may_hold_any_character(rest, script):
    """A2: percent-encoded, a slash too; what no UTF-8 is names nothing."""
    script.fail(Code.NOT_FOUND, "NOT_FOUND")
    rest.get("/v1/memory/sources/a%2Fb%20%C3%A9%25")
    assert script.asked["GetSource"].source_id == "a/b é%"
    answer = rest.get("/v1/memory/sources/%FF")
    assert (answer.status_code, problem_of(answer)["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("path", ["/v1/trace/x", "/v1/memory/sources/x"])
def test_a_misspelt_parameter_is_refused_where_there_are_none(rest, script, path):
    """C3: unknown parameters are refused on every operation."""
    answer = rest.delete(f"{path}?force=true") if "sources" in path else rest.get(f"{path}?force=true")
    assert (answer.status_code, problem_of(answer)["pointer"]) == (400, "/force")
    assert script.asked == {}


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("*/*", 200),
        ("application/json", 200),
        ("text/html, application/*;q=0.1", 200),
        ("application/problem+json", 200),
        ("", 200),
        ("text/html", 406),
        ("application/xml, text/*", 406),
        ("application/json;q=0", 406),
    ],
)
def test_who_takes_no_json_is_told(rest, script, accept, status):
    """A2: an answer that the caller says it cannot read is not made."""
    script.answers["Plan"] = PLANNED
    answer = rest.post("/v1/plan", json={"question": "q"}, headers={"accept": accept})
    assert answer.status_code == status
    if status == 406:
        assert problem_of(answer)["code"] == "NOT_ACCEPTABLE"
        assert script.asked == {}


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip", "zstd"])
def test_a_body_must_come_as_it_is(rest, script, encoding):
    """A1: nothing is unpacked, so that nothing small becomes large."""
    answer = post_raw(rest, "/v1/plan", b"x", **{"content-encoding": encoding})
    assert (answer.status_code, problem_of(answer)["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert answer.headers["accept-encoding"] == "identity"
    assert script.asked == {}


def test_a_whole_number_may_be_spelled_with_a_fraction(rest, script):
    """A2: JSON has one kind of number, and 8.0 is an integer."""
    script.answers["Plan"] = PLANNED
    body = b'{"question":"q","budget":{"maxTokens":800.0},"expandDepth":1e0,"where":{"a":{"eq":0.5}},"find":"x"}'
    assert post_raw(rest, "/v1/plan", body).status_code == 200
    assert script.asked["Plan"].budget.max_tokens == 800
    assert script.asked["Plan"].query.where.fields["a"].struct_value.fields["eq"].number_value == 0.5
    assert problem_of(post_raw(rest, "/v1/plan", b'{"budget":{"maxTokens":800.5}}'))["pointer"] == "/budget/maxTokens"


def test_no_origin_is_allowed_by_default(rest):
    """A2: no origin is allowed by default."""
    answer = rest.options("/v1/plan", headers={"origin": "https://x.example", "access-control-request-method": "POST"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("declared", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
def test_a_body_must_be_declared_as_json(rest, script, declared):
    """A2: a body must be declared as JSON."""
    headers = {} if declared is None else {"content-type": declared}
    answer = rest.post("/v1/plan", content=b'{"question":"q"}', headers=headers)
    assert (answer.status_code, problem_of(answer)["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert answer.headers["accept"] == "application/json"
    assert script.asked == {}


@pytest.mark.parametrize("declared", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.x+json"])
def test_json_may_be_declared_in_its_usual_ways(rest, script, declared):
    """A2: JSON may be declared in its usual ways."""
    script.answers["Plan"] = PLANNED
    body = json.dumps({"question": "q"})
    assert rest.post("/v1/plan", content=body, headers={"content-type": declared}).status_code == 200


def test_a_request_id_goes_all_the_way(rest, script):
    """A8: one id in the answer, in the log and at the planner; a malformed one is replaced."""
    script.answers["Plan"] = PLANNED
    answer = rest.post(
        "/v1/plan", json={"question": "q"}, headers={"x-request-id": "abc-1", "authorization": "Bearer telha_k"}
    )
    assert answer.headers["x-request-id"] == "abc-1"
    assert script.metadata["x-request-id"] == "abc-1"
    assert script.metadata["authorization"] == "Bearer telha_k"
    made = rest.post("/v1/plan", json={"question": "q"}, headers={"x-request-id": "a b;c"}).headers["x-request-id"]
    assert made != "a b;c"
    assert script.metadata["x-request-id"] == made

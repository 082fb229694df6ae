"""DELETE /v1/trace/{id}."""

from grpc import StatusCode as Code
from telha.trace.v1 import traces_pb2

TRACE = "0199a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"


def test_a_trace_is_erased_and_told(rest, script):
    """X1, A2: what was listed of it, without its question."""
    summary = traces_pb2.TraceSummary(trace_id=TRACE, kind="plan", recorded_us=5, spaces=["main"], budget=9, used=4)
    script.answers["Delete"] = traces_pb2.DeleteResponse(trace=summary)
    answer = rest.delete(f"/v1/trace/{TRACE}")
    assert answer.status_code == 200
    assert answer.json() == {
        "traceId": TRACE,
        "kind": "plan",
        "recorded": 5,
        "spaces": ["main"],
        "budget": 9,
        "used": 4,
        "items": 0,
        "stranded": 0,
    }
    assert script.asked["Delete"].trace_id == TRACE


def test_what_is_not_there_is_a_404_at_its_place(rest, script):
    """A2: also what was erased before; a refused id points at the path's parameter."""
    script.fail(Code.NOT_FOUND, "NOT_FOUND", resource="trace")
    assert rest.delete(f"/v1/trace/{TRACE}").json()["code"] == "NOT_FOUND"
    script.fail(Code.INVALID_ARGUMENT, "INVALID_REQUEST", field="trace_id", rule="must be a UUID")
    assert rest.delete("/v1/trace/x").json()["pointer"] == "/id"

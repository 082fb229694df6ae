"""Planner and Context over real gRPC and the real pipeline, through the Python client."""

import threading
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from planner_server import RealPlanner
from telha_client import (
    Client,
    Document,
    Fragment,
    InsufficientEvidence,
    PermissionDenied,
    Span,
    TelhaError,
    Unauthenticated,
    Unavailable,
    verify_hash,
    verify_trace,
)
from telha_planner.config import ContextSettings, PlannerConfig, ServerSettings

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
TRAMS = "# Trams\n\nThe first tram leaves at 05:12 from the harbour.\n\nThe last tram returns at 23:40.\n"
CHINESE = "# 电车\n\n第一班电车在早上五点十二分从港口出发。\n"


@pytest.fixture(scope="module")
def planner(tmp_path_factory, lasting_store_url):
    with RealPlanner(tmp_path_factory.mktemp("planner"), url=lasting_store_url) as planner:
        with planner.client() as client:
            client.memory.ingest([Document(name="trams.md", content=TRAMS), Document(name="zh.md", content=CHINESE)])
        yield planner


@pytest.fixture
def client(planner):
    with planner.client() as client:
        yield client


def test_a_plan_comes_whole_and_proves_itself(client):
    """S12, S9: the plan over gRPC is complete, inside its budget, and its hash can be recomputed by the caller."""
    plan = client.plan("when does the first tram leave?", max_tokens=100)
    assert any("05:12" in planned.text for planned in plan.spans)
    assert plan.used <= plan.budget == plan.stats.applied == plan.stats.requested == 100
    assert [planned.span for planned in plan.spans] == sorted(planned.span for planned in plan.spans)
    assert verify_hash(plan)
    assert plan.window.tx_time <= plan.window.valid_time
    assert plan.stats.recall.vector_leg_skipped
    assert "<Plan" in repr(plan)


def test_the_same_question_at_the_same_instants_gives_the_same_hash(client):
    """S7: repeatable."""
    first = client.plan("tram harbour")
    again = client.plan("tram harbour", valid_time=first.window.valid_time, tx_time=first.window.tx_time)
    assert (again.plan_hash, again.trace_id != first.trace_id) == (first.plan_hash, True)


def test_context_gives_the_plan_as_items(client):
    """C1, C4: the same plan behind equal resolved requests; items by score, scores are the plan's weights."""
    context = client.memory.context("电车 港口", max_tokens=300, max_spans=5)
    plan = client.plan(
        "电车 港口",
        max_tokens=300,
        max_spans=5,
        valid_time=context.window.valid_time,
        tx_time=context.window.tx_time,
    )
    assert context.plan_hash == plan.plan_hash
    assert [item.score for item in context.items] == sorted((p.weight for p in plan.spans), reverse=True)
    assert context.items[0].source.name == "zh.md"
    assert "五点十二分" in "".join(item.text for item in context.items)
    assert context.stats.budget.used == plan.used
    assert (context.stats.candidates, context.stats.plan.plan_model) == (plan.stats.pool_spans, "v1")


def test_include_leaves_parts_out_and_never_alters_the_plan(client):
    """C1, C3."""
    full = client.memory.context("tram")
    bare = client.memory.context(
        "tram",
        scores=False,
        stats=False,
        open_questions=False,
        valid_time=full.window.valid_time,
        tx_time=full.window.tx_time,
    )
    assert bare.plan_hash == full.plan_hash
    assert [item.text for item in bare.items] == [item.text for item in full.items]
    assert (bare.stats, {item.score for item in bare.items}) == (None, {None})


def test_nothing_relevant_is_no_error_for_context(client):
    """C7: empty items, honest stats."""
    context = client.memory.context("zzyzx quux")
    assert (context.items, context.stats.candidates) == ((), 0)
    assert client.trace(context.trace_id).summary.kind == "context"


def test_nothing_relevant_is_a_typed_error_for_a_plan_and_has_its_trace(client):
    """R6, X1: INSUFFICIENT_EVIDENCE carries a trace that can be read."""
    with pytest.raises(InsufficientEvidence) as refusal:
        client.plan("zzyzx quux")
    assert refusal.value.code == "FAILED_PRECONDITION"
    trace = client.trace(refusal.value.trace_id)
    assert trace.record["error"] == "INSUFFICIENT_EVIDENCE"
    assert client.plan("zzyzx quux", allow_ungrounded=True).spans == ()


def test_a_caller_reads_its_own_trace_at_once(client):
    """X4: read your own writes."""
    plan = client.plan("first tram", max_tokens=60)
    trace = client.trace(plan.trace_id)
    assert (trace.summary.kind, trace.summary.plan_hash, trace.summary.used) == ("plan", plan.plan_hash, plan.used)
    assert trace.record["request"] == {"question": "first tram", "budget": {"maxTokens": 60}}
    coords = [[p.span.source_id, p.span.source_version_tx, p.span.start, p.span.end] for p in plan.spans]
    assert trace.record["item_coords"] == coords
    assert all(planned.text not in str(trace.record) for planned in plan.spans)
    assert verify_trace(trace)


def test_a_trace_belongs_to_its_tenant_and_spaces(planner, client, one_attempt):
    """A6, X4: foreign and absent get the same answer; limited keys see what they may read."""
    trace_id = client.plan("tram").trace_id
    for stranger in (planner.client("other"), planner.client(spaces=["private"])):
        with stranger, pytest.raises(TelhaError) as refusal:
            stranger.trace(trace_id)
        # Not theirs in this spool: of an absent trace only the writer could say more, and there is none here.
        assert refusal.value.reason == "TRACE_PENDING"
    with planner.client(spaces=["main", "private"]) as wide:
        assert wide.trace(trace_id).summary.spaces == ("main",)


def test_select_packs_a_pool_of_the_callers_own(client):
    """S11: exact packing, hash and trace without our store."""
    pool = [
        Fragment(span=Span(SOURCE, 7, 0, 5), text="hello", score=0.5),
        Fragment(span=Span(SOURCE, 7, 10, 15), text="world", tokens=4, score=1.0),
    ]
    plan = client.select(pool, max_tokens=100, max_frac_per_source=1.0)
    assert [planned.text for planned in plan.spans] == ["hello", "world"]
    assert [planned.tokens for planned in plan.spans] == [1, 4]
    assert verify_hash(plan)
    assert client.select(reversed(pool), max_tokens=100, max_frac_per_source=1.0).plan_hash == plan.plan_hash
    assert client.trace(plan.trace_id).record["pool"][0][:4] == [SOURCE, 7, 0, 5]


def test_a_question_scores_the_pool(client):
    """S11: lexical scoring over the pool; unmatched fragments do not enter."""
    texts = ["the first tram", "a cat sat", "o último elétrico"]
    pool = [Fragment(span=Span(SOURCE, 1, n * 50, n * 50 + 9), text=text) for n, text in enumerate(texts)]
    plan = client.select(pool, question="first tram", max_tokens=50)
    assert [planned.text for planned in plan.spans] == ["the first tram"]


def test_no_key_a_wrong_key_and_a_revoked_right_are_refused(planner):
    """A6: every method needs a key; rights decide."""
    wrong = planner.key()[:-1] + ("A" if planner.key()[-1] != "A" else "B")
    with Client(planner.address, wrong) as client, pytest.raises(Unauthenticated):
        client.plan("tram")
    with planner.client(rights=["write"]) as writer, pytest.raises(PermissionDenied) as refusal:
        writer.plan("tram")
    assert refusal.value.metadata == {"right": "the right to read"}


def test_a_space_that_the_key_lacks_is_refused(planner):
    """M7."""
    with planner.client(spaces=["private"]) as limited:
        with pytest.raises(PermissionDenied):
            limited.plan("tram", spaces=["main"])
        assert limited.memory.context("tram", spaces=["*"]).items == ()


def test_an_overloaded_planner_refuses_at_once_and_stays_healthy(tmp_path, one_attempt):
    """A1: one runs, max_waiting wait, the next is refused with RetryInfo; health answers meanwhile."""
    config = PlannerConfig(server=ServerSettings(max_waiting=1))
    with RealPlanner(tmp_path, config) as planner, planner.client() as client:
        gate, entered = threading.Event(), threading.Event()

        def hold():
            entered.set()
            gate.wait(60)

        async def occupy():
            await planner.plan_thread.run(hold, time.monotonic() + 60)

        holders = [threading.Thread(target=planner.run, args=(occupy(),)) for _ in range(2)]
        for holder in holders:
            holder.start()
        assert entered.wait(30)
        while planner.plan_thread.held < 2:
            time.sleep(0.001)
        with pytest.raises(Unavailable) as refusal:
            client.plan("tram")
        assert refusal.value.reason == "OVERLOADED"
        assert refusal.value.retry_after == 0.05
        assert planner.plan_thread.held == 2, "refused while both are still there"
        with grpc.insecure_channel(planner.address) as channel:
            told = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=30)
        assert told.status == health_pb2.HealthCheckResponse.SERVING
        gate.set()
        for holder in holders:
            holder.join()
        assert client.plan("tram", allow_ungrounded=True).spans == ()


def test_context_can_be_switched_off(tmp_path):
    """C8: UNIMPLEMENTED, CONTEXT_DISABLED; the planner goes on."""
    config = PlannerConfig(context=ContextSettings(enabled=False))
    with RealPlanner(tmp_path, config) as planner, planner.client() as client:
        with pytest.raises(TelhaError) as refusal:
            client.memory.context("tram")
        assert (refusal.value.code, refusal.value.reason) == ("UNIMPLEMENTED", "CONTEXT_DISABLED")
        assert client.plan("tram", allow_ungrounded=True).spans == ()


def test_context_without_traces_answers_without_a_trace_id(tmp_path):
    """C8: trace = false: no record, no traceId, all else equal."""
    config = PlannerConfig(context=ContextSettings(trace=False))
    with RealPlanner(tmp_path, config) as planner, planner.client() as client:
        context = client.memory.context("tram")
        assert (context.trace_id, planner.spool.depth) == ("", 0)
        assert context.plan_hash.startswith("b3:")


def test_a_call_that_cannot_be_proven_is_not_answered(tmp_path, one_attempt):
    """X3: a full spool is the one case in which a call fails for its trace; nothing is dropped silently."""
    with RealPlanner(tmp_path, spool_bytes=100) as planner, planner.client() as client:
        for ask in (client.plan, client.memory.context):
            with pytest.raises(Unavailable) as refusal:
                ask("tram")
            assert (refusal.value.reason, refusal.value.retry_after) == ("TRACE_BACKLOG_FULL", 1.0)
        assert planner.spool.depth == 0


def test_quotas_of_plan_and_context_are_apart(tmp_path, one_attempt):
    """C9: a spent plan quota leaves Context alone."""
    config = PlannerConfig(server=ServerSettings(plan_calls_per_minute=1))
    with RealPlanner(tmp_path, config) as planner, planner.client() as client:
        client.plan("tram", allow_ungrounded=True)
        with pytest.raises(Unavailable) as refusal:
            client.plan("tram", allow_ungrounded=True)
        assert (refusal.value.reason, refusal.value.code) == ("RATE_LIMITED", "RESOURCE_EXHAUSTED")
        assert 0 < refusal.value.retry_after <= 60
        client.memory.context("tram")


def test_a_request_beyond_the_message_limit_is_refused(client):
    """A1: a 5 MB message."""
    pool = [Fragment(span=Span(SOURCE, 1, 0, 5), text="x" * 5_000_000, score=1.0)]
    with pytest.raises(TelhaError) as refusal:
        client.select(pool)
    assert refusal.value.code == grpc.StatusCode.RESOURCE_EXHAUSTED.name

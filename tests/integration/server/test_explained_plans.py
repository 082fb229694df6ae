"""Explain over real gRPC and the real pipeline, on either store: every candidate with its outcome and its cause."""

from collections import Counter

import grpc
import msgpack
import pytest
from planner_server import RealPlanner
from telha.context.v1 import context_pb2, context_pb2_grpc
from telha.planner.v1 import explanation_pb2 as explanation
from telha.planner.v1 import plan_pb2, planner_pb2, planner_pb2_grpc
from telha_client import Document
from telha_planner.config import PlannerConfig, ServerSettings

TRAMS = (f"Tram {n} leaves the harbour at {n}:12, says the night board." for n in range(9))
LINES = {
    "trams.md": "# Trams\n\n" + "\n\n".join(TRAMS),
    "电车.md": "# 电车\n\n第一班电车在早上五点十二分从港口 (harbour) 出发。👩‍👩‍👧\n\nThe night tram 电车.\n",
    "ar.md": "# الترام\n\nيغادر الترام الأول الميناء harbour tram في الساعة 05:12.\n",
}  # fmt: skip
QUESTION = "when does the night tram leave the harbour"
FIRST = {"question": QUESTION, "budget": {"max_tokens": 100}, "max_frac_per_source": 0.9}


class Calls:
    """The two services, with the planner's key."""

    def __init__(self, planner: RealPlanner, channel: grpc.Channel) -> None:
        self.planner = planner
        self._key = (("authorization", f"Bearer {planner.key()}"),)
        self._planner, self._context = planner_pb2_grpc.PlannerStub(channel), context_pb2_grpc.ContextStub(channel)

    def plan(self, **request) -> planner_pb2.PlanResponse:
        return self._planner.Plan(planner_pb2.PlanRequest(**request), metadata=self._key)

    def select(self, **request) -> planner_pb2.SelectResponse:
        return self._planner.Select(planner_pb2.SelectRequest(**request), metadata=self._key)

    def build(self, **request) -> context_pb2.BuildResponse:
        return self._context.Build(context_pb2.BuildRequest(**request), metadata=self._key)

    def record(self, trace_id: str) -> dict:
        content = self.planner.spool.get("acme", trace_id)
        return msgpack.unpackb(content)


@pytest.fixture(scope="module")
def calls(tmp_path_factory, lasting_store_url):
    with RealPlanner(tmp_path_factory.mktemp("planner"), url=lasting_store_url) as planner:
        with planner.client() as client:
            client.memory.ingest([Document(name=name, content=text) for name, text in LINES.items()])
        with grpc.insecure_channel(planner.address) as channel:
            yield Calls(planner, channel)


def fragment(number: int, **changes) -> planner_pb2.Fragment:
    source = f"00000000-0000-0000-0000-00000000000{number % 3}"
    span = plan_pb2.SpanRef(source_id=source, source_version_tx=7, start=10 * number, end=10 * number + 14)
    return planner_pb2.Fragment(span=span, **({"tokens": number, "score": 0.5} | changes))


def check_accounts(told: explanation.Explanation, stats: plan_pb2.PlanStats) -> None:
    """Each counter of the statistics is the number of spans with its outcome."""
    assert told.spans_left_out == 0
    counted = Counter(span.outcome for span in told.spans)
    assert counted == Counter(
        {
            explanation.SPAN_OUTCOME_PACKED: stats.selected_spans,
            explanation.SPAN_OUTCOME_DUPLICATE: stats.deduped,
            explanation.SPAN_OUTCOME_UNPACKABLE: stats.unpackable,
            explanation.SPAN_OUTCOME_BUDGET: stats.budget_skipped,
            explanation.SPAN_OUTCOME_SPAN_LIMIT: stats.span_limit_skipped,
            explanation.SPAN_OUTCOME_SOURCE_CAP: stats.cap_skipped,
        }
    )


def test_a_plan_says_what_became_of_every_candidate(calls):
    """X6: outcome, rank, weight, density, tokens, what was left, score parts and legs, with a sentence."""
    response = calls.plan(**FIRST, explain=True)
    told, plan = response.explanation, response.plan
    check_accounts(told, plan.stats)
    assert {span.outcome for span in told.spans} >= {
        explanation.SPAN_OUTCOME_PACKED,
        explanation.SPAN_OUTCOME_DUPLICATE,
        explanation.SPAN_OUTCOME_BUDGET,
    }
    packed = {
        (span.span.source_id, span.span.start): span
        for span in told.spans
        if span.outcome == explanation.SPAN_OUTCOME_PACKED
    }
    for planned in plan.spans:
        span = packed[planned.span.source_id, planned.span.start]
        assert (span.span, span.kind, span.span_class) == (planned.span, planned.kind, planned.span_class)
        assert (span.weight, span.tokens) == (planned.weight, planned.tokens)
        assert span.source_name in LINES
    for span in told.spans:
        assert span.weight == span.score.score * span.kind_prior * span.cache_discount
        assert span.density == span.weight / span.tokens
        assert span.because
        assert span.score.legs or span.score.hops
        assert len(span.score.path) == (span.score.hops + 1 if span.score.hops else 0)
    assert told.source_cap == 90
    assert told.top_k == 64
    assert told.constants.semantic_share == 0.0


def test_the_sentences_name_the_numbers(calls):
    """X6: the cause in words says what the numbers of its row say."""
    told = calls.plan(**FIRST, explain=True).explanation
    by_outcome = {span.outcome: span for span in told.spans}
    first = told.spans[0]
    assert first.because == f"packed: {first.tokens} tokens, 100 left of 100 before it"
    span = by_outcome[explanation.SPAN_OUTCOME_BUDGET]
    assert span.because == f"did not fit: {span.tokens} tokens, {span.budget_left} left of 100"
    span = by_outcome[explanation.SPAN_OUTCOME_DUPLICATE]
    kept = span.duplicate.of
    assert span.because.startswith(f"repeats [{kept.start}:{kept.end}) of the same version (overlap ")
    assert (kept.source_id, kept.source_version_tx) == (span.span.source_id, span.span.source_version_tx)


def test_explain_never_alters_the_plan(calls):
    """C1, C3: at the same instants every surface answers the same with and without it, but for the explanation."""
    explained = calls.plan(**FIRST, explain=True)
    plain = calls.plan(**FIRST, window=explained.window)
    assert not plain.HasField("explanation")
    plain.plan.trace_id = explained.plan.trace_id
    assert plain.plan == explained.plan
    built = calls.build(**FIRST, window=explained.window, explain=True)
    without = calls.build(**FIRST, window=explained.window)
    assert not without.HasField("explanation")
    assert built.plan_hash == without.plan_hash == explained.plan.plan_hash
    assert (list(built.items), built.stats) == (list(without.items), without.stats)
    assert built.explanation == explained.explanation
    pool = [fragment(number) for number in range(1, 30)]
    chosen = calls.select(pool=pool, budget={"max_tokens": 90}, explain=True)
    plain_choice = calls.select(pool=pool, budget={"max_tokens": 90})
    plain_choice.plan.trace_id = chosen.plan.trace_id
    assert (plain_choice.plan, plain_choice.HasField("explanation")) == (chosen.plan, False)


def test_select_explains_the_callers_pool(calls):
    """X6, S11: the same for a pool of the caller's own, without names and score parts."""
    pool = [fragment(number) for number in range(1, 30)]
    chosen = calls.select(pool=pool, budget={"max_tokens": 90, "max_spans": 9}, explain=True)
    check_accounts(chosen.explanation, chosen.plan.stats)
    assert not any(span.HasField("score") or span.source_name for span in chosen.explanation.spans)
    assert (chosen.explanation.top_k, chosen.explanation.HasField("constants")) == (0, False)


def test_nothing_found_is_refused_as_ever_and_an_allowed_nothing_has_no_spans(calls):
    """R6: explain does not turn a refusal into an answer; its trace is kept, and says that there was no candidate."""
    with pytest.raises(grpc.RpcError) as refused:
        calls.plan(question="zzz", explain=True)
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    allowed = calls.plan(question="zzz", explain=True, allow_ungrounded=True)
    assert (allowed.HasField("explanation"), len(allowed.explanation.spans)) == (True, 0)
    built = calls.build(question="zzz", explain=True)
    assert (built.HasField("explanation"), len(built.explanation.spans)) == (True, 0)
    assert calls.record(built.trace_id)["explained"]["rows"] == []


def test_the_record_keeps_what_was_explained(calls):
    """X1, X7: the rejected candidates stand in the trace, in numbers, and the hash of the request covers `explain`."""
    response = calls.plan(**FIRST, explain=True)
    record = calls.record(response.plan.trace_id)
    told = response.explanation
    assert record["request"]["explain"] is True
    kept = record["explained"]
    assert (len(kept["rows"]), kept["leftOut"], kept["sourceCap"]) == (len(told.spans), 0, 90)
    for row, span in zip(kept["rows"], told.spans, strict=True):
        assert row[:4] == [span.span.source_id, span.span.source_version_tx, span.span.start, span.span.end]
        assert row[4:8] == [span.kind, 0, span.weight, span.tokens]
        assert row[9:13] == [span.rank, span.density, span.budget_left, span.source_spent]
        assert row[14][:2] == [span.score.node_id, span.score.score]
    plain = calls.record(calls.plan(**FIRST, window=response.window).plan.trace_id)
    assert plain["explained"] is None
    assert plain["plan_hash"] == record["plan_hash"]


def test_an_explanation_takes_what_the_plan_leaves_of_a_message(tmp_path):
    """X6, S12: an answer never exceeds the server's limit; what is left out is counted."""
    server = ServerSettings(max_message_bytes=24_000)
    with (
        RealPlanner(tmp_path, PlannerConfig(server=server)) as planner,
        grpc.insecure_channel(planner.address) as channel,
    ):
        calls = Calls(planner, channel)
        for number in (100, 200, 280):
            pool = [fragment(one) for one in range(number)]
            chosen = calls.select(pool=pool, budget={"max_tokens": 90}, explain=True)
            told = chosen.explanation
            assert chosen.ByteSize() <= 24_000
            assert len(told.spans) + told.spans_left_out == chosen.plan.stats.pool_spans
        assert told.spans_left_out > 0
        assert chosen.ByteSize() > 23_500

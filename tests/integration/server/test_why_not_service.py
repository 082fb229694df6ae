"""Why not: subjects over real gRPC and the real pipeline, on Plan, Context and Select, on either store."""

from uuid import uuid4

import grpc
import msgpack
import pytest
from google.rpc import error_details_pb2, status_pb2
from planner_server import RealPlanner
from telha.context.v1 import context_pb2, context_pb2_grpc
from telha.planner.v1 import explanation_pb2 as explanation
from telha.planner.v1 import plan_pb2, planner_pb2, planner_pb2_grpc
from telha_client import Document

NOTES = "# Trams 电车\n\nThe night tram leaves the harbour at 05:12.\n"
BREAD = "# Bread\n\nBread is baked at four 🥖.\n"
QUESTION = "when does the night tram leave"


def source(name: str, section: str = "") -> explanation.Subject:
    return explanation.Subject(source=explanation.SourceSubject(source=name, section=section))


def span(source_id: str, version: int, start: int, end: int) -> explanation.Subject:
    where = plan_pb2.SpanRef(source_id=source_id, source_version_tx=version, start=start, end=end)
    return explanation.Subject(span=where)


class Calls:
    """The two services, over a memory that holds one document."""

    def __init__(self, planner: RealPlanner, channel: grpc.Channel) -> None:
        self.planner = planner
        with planner.client() as client:
            documents = [Document(name="notes.md", content=NOTES), Document(name="bread.md", content=BREAD)]
            self.stored = client.memory.ingest(documents).documents[0]
        self._key = (("authorization", f"Bearer {planner.key()}"),)
        self._planner, self._context = planner_pb2_grpc.PlannerStub(channel), context_pb2_grpc.ContextStub(channel)

    def plan(self, **request) -> planner_pb2.PlanResponse:
        return self._planner.Plan(planner_pb2.PlanRequest(**request), metadata=self._key)

    def select(self, **request) -> planner_pb2.SelectResponse:
        return self._planner.Select(planner_pb2.SelectRequest(**request), metadata=self._key)

    def build(self, **request) -> context_pb2.BuildResponse:
        return self._context.Build(context_pb2.BuildRequest(**request), metadata=self._key)

    def refused(self, call, **request) -> tuple[str, str, str]:
        """Code, field and rule of a call that is refused."""
        with pytest.raises(grpc.RpcError) as raised:
            call(**request)
        details = dict(raised.value.trailing_metadata())["grpc-status-details-bin"]
        bad = error_details_pb2.BadRequest()
        for one in status_pb2.Status.FromString(details).details:
            one.Unpack(bad)
        (violation,) = bad.field_violations
        return raised.value.code().name, violation.field, violation.description


@pytest.fixture(scope="module")
def calls(tmp_path_factory, lasting_store_url):
    folder = tmp_path_factory.mktemp("planner")
    with (
        RealPlanner(folder, url=lasting_store_url) as planner,
        grpc.insecure_channel(planner.address) as channel,
    ):
        yield Calls(planner, channel)


def test_plan_and_context_answer_alike_and_plan_as_before(calls):
    """X6, C1: the same answers, in the order asked, and the plan of who asks nothing."""
    asked = [source("bread.md", "Bread"), source("notes.md", "trams 电车"), source("cheese.md")]
    bare = calls.plan(question=QUESTION)
    window = bare.window
    planned = calls.plan(question=QUESTION, why_not=asked, window=window)
    built = calls.build(question=QUESTION, why_not=asked, window=window, budget={"max_tokens": 6000})
    told = planned.explanation.subjects
    assert [one.subject for one in told] == asked
    assert [explanation.Verdict.Name(one.verdict) for one in told] == [
        "VERDICT_NOT_FOUND",
        "VERDICT_CANDIDATE",
        "VERDICT_UNKNOWN",
    ]
    assert [(one.verdict, one.because) for one in built.explanation.subjects] == [(o.verdict, o.because) for o in told]
    assert planned.plan.plan_hash == built.plan_hash == bare.plan.plan_hash
    assert not planned.explanation.spans
    assert planned.explanation.spans_left_out == 0
    assert told[1].candidates[0].outcome == explanation.SPAN_OUTCOME_PACKED
    assert told[0].nodes[0].score.node_id == told[0].nodes[0].node_id


def test_explain_beside_it_tells_the_candidates_too(calls):
    """X6: a subject's candidates are those that explain tells, field by field."""
    answer = calls.plan(question=QUESTION, explain=True, why_not=[source("notes.md")]).explanation
    (told,) = answer.subjects
    by_span = {one.span.SerializeToString(): one for one in answer.spans}
    assert told.candidates
    assert all(one == by_span[one.span.SerializeToString()] for one in told.candidates)


def test_the_trace_keeps_what_was_asked_and_nothing_that_was_not(calls):
    """X1: the request as sent holds the subjects; the rows of explain are kept where explain was asked for."""
    asked = [source("bread.md", "Bread"), span(calls.stored.source_id, calls.stored.source_version_tx, 0, 5)]
    answer = calls.plan(question=QUESTION, why_not=asked)
    record = msgpack.unpackb(calls.planner.spool.get("acme", answer.plan.trace_id))
    where = {"sourceId": calls.stored.source_id, "sourceVersionTx": calls.stored.source_version_tx}
    assert record["request"]["whyNot"] == [
        {"source": {"source": "bread.md", "section": "Bread"}},
        {"span": {**where, "start": 0, "end": 5}},
    ]
    assert record["explained"] is None


def test_insufficient_evidence_stays_a_refusal(calls):
    """R6: whoever wants the answer all the same says so."""
    asked = {"question": "zebra", "why_not": [source("bread.md", "Bread")], "min_similarity": 0.5}
    with pytest.raises(grpc.RpcError) as refused:
        calls.plan(**asked)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    (told,) = calls.plan(**asked, allow_ungrounded=True).explanation.subjects
    assert told.verdict == explanation.VERDICT_NOT_FOUND
    (told,) = calls.build(**asked).explanation.subjects
    assert told.verdict == explanation.VERDICT_NOT_FOUND


@pytest.mark.parametrize("surface", ["plan", "build", "select"])
def test_a_subject_that_cannot_be_is_refused_with_its_place(calls, surface):
    """S10, X6: neither span nor source, too long, blank, impossible offsets, other spellings of an id, too many."""
    call = getattr(calls, surface)
    rest = {"question": QUESTION} if surface != "select" else {"pool": []}
    fine, a_source = source("notes.md"), str(uuid4())
    for subject, field, rule in (
        (explanation.Subject(), "why_not[1]", "must name a span or a source"),
        (source(""), "why_not[1].source.source", "must not be blank"),
        (source("界" * 342), "why_not[1].source.source", "must be at most 1,024 bytes"),
        (source("a\x1bb"), "why_not[1].source.source", "must not contain control characters"),
        (source("a", " "), "why_not[1].source.section", "must not be blank"),
        (source("a", "界" * 342), "why_not[1].source.section", "must be at most 1,024 bytes"),
        (span(a_source.upper(), 1, 0, 1), "why_not[1].span.source_id", "must be a lower-case UUID"),
        (span(a_source, 1, 4, 4), "why_not[1].span.end", "must be greater than start"),
        (span(a_source, 1, 2**53, 2**53 + 1), "why_not[1].span.start", "must be between 0 and 9,007,199,254,740,991"),
    ):
        assert calls.refused(call, why_not=[fine, subject], **rest) == ("INVALID_ARGUMENT", field, rule)
    many = calls.refused(call, why_not=[fine] * 33, **rest)
    assert many == ("INVALID_ARGUMENT", "why_not", "must hold at most 32 subjects")


def fragment(number: int, **changes) -> planner_pb2.Fragment:
    where = plan_pb2.SpanRef(source_id=str(POOL_SOURCE), source_version_tx=7, start=10 * number, end=10 * number + 10)
    return planner_pb2.Fragment(span=where, **({"tokens": 10} | changes))


POOL_SOURCE = uuid4()


def test_select_answers_from_the_pool_that_was_sent(calls):
    """X6, S11: spans and sources of the pool; memory is not looked into."""
    stored = (calls.stored.source_id, calls.stored.source_version_tx)
    asked = [
        span(str(POOL_SOURCE), 7, 5, 15),
        source(str(POOL_SOURCE)),
        span(str(POOL_SOURCE), 8, 5, 15),
        span(*stored, 0, 5),
        source("notes.md"),
        source(str(POOL_SOURCE), "Bread"),
    ]
    pool = [fragment(number, score=1 / (number + 1)) for number in range(4)]
    answer = calls.select(pool=pool, budget={"max_tokens": 20}, max_frac_per_source=1.0, why_not=asked)
    told = answer.explanation.subjects
    assert [one.subject for one in told] == asked
    names = [explanation.Verdict.Name(one.verdict).removeprefix("VERDICT_") for one in told]
    assert names == ["CANDIDATE", "CANDIDATE", "UNKNOWN", "UNKNOWN", "UNKNOWN", "UNKNOWN"]
    assert [one.span.start for one in told[0].candidates] == [0, 10]
    assert told[1].because == (
        "all of its 4 spans were candidates; 2 of 4 spans are in the plan, the best 1st in packing order"
    )
    assert {one.because for one in told[2:]} == {"the pool that was sent holds nothing of it"}
    same = calls.select(pool=pool, budget={"max_tokens": 20}, max_frac_per_source=1.0)
    assert same.plan.plan_hash == answer.plan.plan_hash
    assert not same.HasField("explanation")


def test_select_with_a_question_says_what_matched_nothing(calls):
    """X6, S11: what scored 0 did not enter the pool, and is said to have been sent."""
    pool = [fragment(0, text="the night tram"), fragment(1, text="bread"), fragment(2, text="butter")]
    asked = [span(str(POOL_SOURCE), 7, 10, 30), span(str(POOL_SOURCE), 7, 29, 30), source(str(POOL_SOURCE))]
    told = calls.select(pool=pool, question=QUESTION, why_not=asked).explanation.subjects
    assert [one.verdict for one in told] == [
        explanation.VERDICT_ZERO_SCORE,
        explanation.VERDICT_ZERO_SCORE,
        explanation.VERDICT_CANDIDATE,
    ]
    assert [one.because for one in told[:2]] == [
        "its 2 fragments were sent, and none holds a word of the question",
        "its one fragment was sent, and holds no word of the question",
    ]

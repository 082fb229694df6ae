"""What the client writes, and what it refuses to write."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from telha.context.v1 import context_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import explanation_pb2, plan_pb2, planner_pb2, suggestion_pb2
from telha_client import (
    Clarification,
    Document,
    Edge,
    Fragment,
    InvalidRequest,
    Node,
    NodeVector,
    Span,
    WhyNot,
    requests,
)

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"


def test_an_empty_request_stays_empty():
    """T4: absent is not 0: nothing is sent that was not asked for."""
    assert requests.plan(None, {}).message == planner_pb2.PlanRequest()
    assert requests.context(None, {}).message == context_pb2.BuildRequest()
    assert requests.select([], {}).message == planner_pb2.SelectRequest()


def test_every_option_of_a_plan_has_its_field():
    """A5: every option of a plan has its field."""
    prepared = requests.plan(
        "why?",
        {
            "find": "passage",
            "find_limit": 5,
            "vector": [0.5, -1.0],
            "vector_model": "mini",
            "expand_depth": 0,
            "valid_time": 7,
            "tx_time": datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            "max_tokens": 100,
            "max_spans": 0,
            "model": "gpt-4o",
            "spaces": ["a", "b"],
            "max_frac_per_source": 0.5,
            "span_overhead_tokens": 3,
            "min_similarity": 0.25,
            "legs": ["lexical", "semantic"],
            "allow_ungrounded": True,
            "explain": True,
            "exclude": [SOURCE],
            "suggest": 0.25,
            "why_not": [WhyNot("a.md", section="Refunds"), WhyNot(span=Span(SOURCE, 7, 0, 5))],
            "timeout": 2.5,
        },
    )
    assert prepared.message == planner_pb2.PlanRequest(
        question="why?",
        query=plan_pb2.NodeQuery(find="passage", limit=5),
        vector=plan_pb2.QueryVector(values=[0.5, -1.0], model="mini"),
        expand_depth=0,
        window=plan_pb2.Window(valid_time_us=7, tx_time_us=0),
        budget=plan_pb2.Budget(max_tokens=100, max_spans=0),
        model="gpt-4o",
        spaces=["a", "b"],
        max_frac_per_source=0.5,
        span_overhead_tokens=3,
        min_similarity=0.25,
        legs=[plan_pb2.LEG_LEXICAL, plan_pb2.LEG_SEMANTIC],
        allow_ungrounded=True,
        explain=True,
        exclude=plan_pb2.Exclude(trace_ids=[SOURCE]),
        suggest=suggestion_pb2.Suggest(weight_share=0.25),
        why_not=[
            explanation_pb2.Subject(source=explanation_pb2.SourceSubject(source="a.md", section="Refunds")),
            explanation_pb2.Subject(span=plan_pb2.SpanRef(source_id=SOURCE, source_version_tx=7, start=0, end=5)),
        ],
    )
    assert (prepared.timeout, prepared.repeatable) == (2.5, True)
    every_field = {field.name for field, _ in prepared.message.ListFields()}
    assert every_field == set(planner_pb2.PlanRequest.DESCRIPTOR.fields_by_name)


def test_context_sends_only_the_switches_that_were_named():
    """C3: include flags default to true on the server."""
    message = requests.context("q", {"scores": False, "prompt": True}).message
    assert message == context_pb2.BuildRequest(question="q", include=context_pb2.Include(scores=False, prompt=True))


def test_a_pool_is_sent_as_given():
    """A5: a pool is sent as given."""
    fragment = Fragment(span=Span(SOURCE, 7, 0, 5), kind="note", span_class="cache", tokens=0, score=0.0)
    sent = requests.select([fragment], {"question": None, "max_tokens": 5}).message
    expected = planner_pb2.Fragment(
        span=plan_pb2.SpanRef(source_id=SOURCE, source_version_tx=7, start=0, end=5),
        kind="note",
        span_class=plan_pb2.SPAN_CLASS_CACHE,
        tokens=0,
        score=0.0,
    )
    assert sent == planner_pb2.SelectRequest(pool=[expected], budget=plan_pb2.Budget(max_tokens=5))


def test_documents_are_given_as_such_or_as_paths(tmp_path):
    """A5: documents are given as such or as paths."""
    file = tmp_path / "note.md"
    file.write_text("# 你好\n")
    document = Document(name="d", content="text", space="own", valid_from=datetime(2026, 1, 1, tzinfo=UTC))
    sent = requests.ingest([file, document], "shared", None, None).message
    assert sent.documents[0] == memory_pb2.Document(
        name=file.as_posix(), uri=file.as_uri(), space="shared", content="# 你好\n".encode()
    )
    assert sent.documents[1] == memory_pb2.Document(
        name="d", space="own", content=b"text", valid_from_us=1_767_225_600_000_000
    )


def test_nodes_edges_and_clarifications_are_sent_as_given():
    """A5: nodes, edges and clarifications are sent as given."""
    node = Node(
        node_id=SOURCE,
        type="fact",
        properties={"a": [1, None, {"b": True}]},
        valid_to=9,
        provenance=[Span(SOURCE, 1, 2, 3)],
        vector=NodeVector("mini", [1.0]),
    )
    (sent,) = requests.put_nodes([node], None, None).message.nodes
    assert (sent.node_id, sent.type, sent.valid_to_us, sent.HasField("valid_from_us")) == (SOURCE, "fact", 9, False)
    assert sent.properties["a"][2]["b"] is True
    assert (sent.provenance[0].end, list(sent.vector.values)) == (3, [1.0])
    edge = Edge(edge_id=SOURCE, from_node_id=SOURCE, to_node_id=SOURCE, type="t", confidence=0.5)
    assert requests.put_edges([edge], None, None).message.edges[0].confidence == 0.5
    question = Clarification(clarification_id=SOURCE, node_id=SOURCE, state="pending", question="?")
    assert requests.put_clarifications([question], None, None).message.clarifications[0].question == "?"


@pytest.mark.parametrize(
    ("prepare", "field"),
    [
        (lambda: requests.plan("a \ud800 b", {}), "question"),
        (lambda: requests.plan("q", {"expand_depth": -1}), "expand_depth"),
        (lambda: requests.plan("q", {"max_tokens": 2**63}), "budget.max_tokens"),
        (lambda: requests.plan("q", {"tx_time": datetime(2026, 1, 1)}), "window.tx_time_us"),  # noqa: DTZ001 on purpose
        (lambda: requests.plan("q", {"legs": ["lexicon"]}), "legs[0]"),
        (lambda: requests.plan("q", {"spaces": ["\udfff"]}), "spaces"),
        (lambda: requests.ingest([Document(name="a", content="\ud800")], None, None, None), "documents[0].content"),
        (
            lambda: requests.put_nodes([Node(node_id="n", type="t", properties={"a": object()})], None, None),
            "nodes[0].properties",
        ),
    ],
)
def test_what_cannot_be_written_is_refused_with_its_field(prepare, field):
    """A5: what cannot be written is refused with its field."""
    with pytest.raises(InvalidRequest) as refusal:
        prepare()
    assert (refusal.value.field, refusal.value.reason, refusal.value.code) == (
        field,
        "INVALID_REQUEST",
        "INVALID_ARGUMENT",
    )


def test_a_misspelt_argument_is_a_type_error():
    """A5: a misspelt argument is a type error."""
    with pytest.raises(TypeError, match="max_token'"):
        requests.plan("q", {"max_token": 5})
    with pytest.raises(TypeError, match="not a string"):
        requests.plan("q", {"spaces": "main"})
    with pytest.raises(TypeError, match="max_tokens cannot be a str"):
        requests.plan("q", {"max_tokens": "5"})
    with pytest.raises(TypeError, match="must be a datetime with a time zone, or an int of µs since 1970 UTC, not str"):
        requests.plan("q", {"valid_time": "2026-01-01T00:00:00Z"})


@pytest.mark.parametrize(
    "write",
    [
        lambda: requests.ingest([Document(name="a.md", content=b"a")], None, "", None),
        lambda: requests.upload(Document(name="a.md", content=b"a"), None, "", None),
        lambda: requests.put_artifacts([], "", None),
        lambda: requests.put_nodes([], "", None),
        lambda: requests.put_edges([], "", None),
        lambda: requests.put_clarifications([], "", None),
        lambda: requests.erase_source(SOURCE, "", None),
    ],
)
def test_an_empty_idempotency_key_is_not_taken_for_none(write):
    """M8: whoever gives a key that turned out empty must not believe that the write may be sent again."""
    with pytest.raises(InvalidRequest, match="idempotency_key must be 1 to 255 visible ASCII characters"):
        write()

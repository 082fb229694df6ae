"""Every kind of bad input, over gRPC: refused with field and rule, and nothing written."""

import math
import sqlite3

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from planner_server import RealPlanner
from telha.context.v1 import context_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2, planner_pb2, replay_pb2
from telha.trace.v1 import traces_pb2
from telha_client import Document, Node, NodeVector
from telha_planner.memory import keys

PLAN = "telha.planner.v1.Planner/Plan"
SELECT = "telha.planner.v1.Planner/Select"
BUILD = "telha.context.v1.Context/Build"
MEMORY = "telha.memory.v1.Memory"
TRACES = "telha.trace.v1.Traces"
INGEST, NODES, EDGES = f"{MEMORY}/Ingest", f"{MEMORY}/PutNodes", f"{MEMORY}/PutEdges"
CLARIFICATIONS = f"{MEMORY}/PutClarifications"
REEMBED = f"{MEMORY}/Reembed"

A, B = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e11"
TEXT = "# Olá\n\nO elétrico parte às 05:12. 你好 🧑‍🚀\n"
SURROGATE = b"\xed\xa0\x80"


class Stored:
    """What the planner holds before the bad input comes."""

    def __init__(self, planner, client):
        self.planner = planner
        document = client.memory.ingest([Document(name="a.md", content=TEXT)]).documents[0]
        self.source_id, self.version = document.source_id, document.source_version_tx
        client.memory.put_nodes([Node(node_id=B, type="fact", vector=NodeVector("mini", [1.0, 0.5, 0.25]))])

    def state(self):
        """All that a refused call must leave as it was: every row of the store, and the spool."""
        with sqlite3.connect(f"file:{self.planner.folder / 'memory.db'}?mode=ro", uri=True) as connection:
            rows = tuple(row for row in connection.iterdump() if not row.startswith('INSERT INTO "api_key"'))
        connection.close()
        return rows, self.planner.spool.depth


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("bad")) as planner, planner.client() as client:
        yield Stored(planner, client)


def plan(**fields):
    return planner_pb2.PlanRequest(**{"question": "tram", **fields})


def build(**fields):
    return context_pb2.BuildRequest(**{"question": "tram", **fields})


def select(*pool, **fields):
    return planner_pb2.SelectRequest(pool=pool, **fields)


def fragment(**changes):
    return planner_pb2.Fragment(**{"span": span(A, 1, 0, 5), "tokens": 3, "score": 1.0, **changes})


def span(source_id, version, start, end):
    return plan_pb2.SpanRef(source_id=source_id, source_version_tx=version, start=start, end=end)


def nodes(*changes):
    return memory_pb2.PutNodesRequest(nodes=[memory_pb2.Node(**{"node_id": A, "type": "t", **c}) for c in changes])


def documents(*changes):
    made = [memory_pb2.Document(**{"name": "b.md", "content": b"text", **change}) for change in changes]
    return memory_pb2.IngestRequest(documents=made)


def resting(start, end):
    return lambda stored: nodes({"provenance": [span(stored.source_id, stored.version, start, end)]})


def unknown(message):
    return message.SerializeToString() + b"\x98\x06\x01"


def vector(*values):
    return plan_pb2.QueryVector(values=values)


INSIDE_A_CHARACTER = len(b"# Ol") + 1
BEYOND = len(TEXT.encode()) + 1

CASES = {
    "blank question": (PLAN, plan(question=" \t\n"), "question"),
    "blank question, context": (BUILD, build(question=""), "question"),
    "nothing asked": (PLAN, planner_pb2.PlanRequest(), "question"),
    "expand_depth 3": (PLAN, plan(expand_depth=3), "expand_depth"),
    "expand_depth 3, context": (BUILD, build(expand_depth=3), "expand_depth"),
    "budget 0": (PLAN, plan(budget=plan_pb2.Budget(max_tokens=0)), "budget.max_tokens"),
    "budget -1": (PLAN, plan(budget=plan_pb2.Budget(max_tokens=-1)), "budget.max_tokens"),
    "budget 0, context": (BUILD, build(budget=plan_pb2.Budget(max_tokens=0)), "budget.max_tokens"),
    "budget 0, select": (SELECT, select(fragment(), budget=plan_pb2.Budget(max_tokens=0)), "budget.max_tokens"),
    "max_spans -1": (PLAN, plan(budget=plan_pb2.Budget(max_spans=-1)), "budget.max_spans"),
    "share 0": (PLAN, plan(max_frac_per_source=0.0), "max_frac_per_source"),
    "share above 1": (BUILD, build(max_frac_per_source=1.5), "max_frac_per_source"),
    "share NaN": (PLAN, plan(max_frac_per_source=math.nan), "max_frac_per_source"),
    "floor -0.1": (PLAN, plan(min_similarity=-0.1), "min_similarity"),
    "floor above 1, context": (BUILD, build(min_similarity=1.5), "min_similarity"),
    "floor NaN": (PLAN, plan(min_similarity=math.nan), "min_similarity"),
    "overhead -1": (PLAN, plan(span_overhead_tokens=-1), "span_overhead_tokens"),
    "unknown leg": (PLAN, plan(legs=[77]), "legs[0]"),
    "leg without its input": (PLAN, plan(legs=[plan_pb2.LEG_STRUCTURED]), "legs"),
    "span backwards, select": (SELECT, select(fragment(span=span(A, 1, 5, 4))), "pool[0].span.end"),
    "span empty, select": (SELECT, select(fragment(), fragment(span=span(A, 1, 5, 5))), "pool[1].span.end"),
    "offset above 2^53 - 1": (SELECT, select(fragment(span=span(A, 1, 0, 2**53))), "pool[0].span.end"),
    "span backwards, node": (NODES, resting(9, 3), "nodes[0].provenance[0].end"),
    "span beyond the end, node": (NODES, resting(0, BEYOND), "nodes[0].provenance[0].end"),
    "span inside a character, node": (NODES, resting(0, INSIDE_A_CHARACTER), "nodes[0].provenance[0].end"),
    "span of no source": (NODES, nodes({"provenance": [span(A, 1, 0, 1)]}), "nodes[0].provenance[0]"),
    "NaN in a query vector": (PLAN, plan(vector=vector(1, math.nan)), "vector.values[1]"),
    "infinity in a query vector": (BUILD, build(vector=vector(math.inf)), "vector.values[0]"),
    "empty query vector": (PLAN, plan(vector=vector()), "vector.values"),
    "wrong dimension of a query vector": (PLAN, plan(vector=vector(1, 2)), "vector.values"),
    "unknown vector model": (
        PLAN,
        plan(vector=plan_pb2.QueryVector(values=[1, 2, 3], model="never")),
        "vector.model",
    ),
    "NaN in a score": (SELECT, select(fragment(score=math.nan)), "pool[0].score"),
    "infinity in a score": (SELECT, select(fragment(score=math.inf)), "pool[0].score"),
    "negative score": (SELECT, select(fragment(score=-1.0)), "pool[0].score"),
    "NaN in a node's vector": (
        NODES,
        nodes({"vector": memory_pb2.NodeVector(model="mini", values=[math.nan])}),
        "nodes[0].vector.values[0]",
    ),
    "wrong dimension of a node's vector": (
        NODES,
        nodes({"vector": memory_pb2.NodeVector(model="mini", values=[1, 2])}),
        "nodes[0].vector.values",
    ),
    "lone surrogate in a question": (PLAN, b"\x0a\x03" + SURROGATE, "request"),
    "broken UTF-8 in a question": (BUILD, b"\x0a\x02\xc3\x28", "request"),
    "lone surrogate in a document": (INGEST, documents({"content": b"a" + SURROGATE}), "documents[0].content"),
    "broken UTF-8 in a document": (INGEST, documents({}, {"content": b"a\xff"}), "documents[1].content"),
    "U+0000 in a question": (PLAN, plan(question="a\0"), "question"),
    "U+0000 in a fragment": (SELECT, select(fragment(text="a\0")), "pool[0].text"),
    "U+0000 in a document": (INGEST, documents({"content": b"a\0"}), "documents[0].content"),
    "blank document": (INGEST, documents({"content": b" \n"}), "documents[0].content"),
    "no document": (INGEST, memory_pb2.IngestRequest(), "documents"),
    "unknown media type": (INGEST, documents({"media_type": "application/pdf"}), "documents[0].media_type"),
    "impossible valid time": (PLAN, plan(window=plan_pb2.Window(valid_time_us=2**63 - 1)), "window.valid_time_us"),
    "impossible transaction time": (BUILD, build(window=plan_pb2.Window(tx_time_us=2**63 - 1)), "window.tx_time_us"),
    "impossible validity": (NODES, nodes({"valid_from_us": 5, "valid_to_us": 5}), "nodes[0].valid_to_us"),
    "impossible start of a document": (
        INGEST,
        documents({"valid_from_us": 2**63 - 1}),
        "documents[0].valid_from_us",
    ),
    "duplicate nodes": (NODES, nodes({}, {}), "nodes[1].node_id"),
    "duplicate documents": (INGEST, documents({}, {"content": b"other"}), "documents[1].source_id"),
    "duplicate edges": (
        EDGES,
        memory_pb2.PutEdgesRequest(
            edges=[memory_pb2.Edge(edge_id=A, from_node_id=B, to_node_id=B, type="t") for _ in range(2)]
        ),
        "edges[1].edge_id",
    ),
    "duplicate clarifications": (
        CLARIFICATIONS,
        memory_pb2.PutClarificationsRequest(
            clarifications=[
                memory_pb2.Clarification(clarification_id=A, node_id=B, state="pending", question="?") for _ in range(2)
            ]
        ),
        "clarifications[1].clarification_id",
    ),
    "edge to nowhere": (
        EDGES,
        memory_pb2.PutEdgesRequest(edges=[memory_pb2.Edge(edge_id=A, from_node_id=B, to_node_id=A, type="t")]),
        "edges[0].to_node_id",
    ),
    "question about nothing": (
        CLARIFICATIONS,
        memory_pb2.PutClarificationsRequest(
            clarifications=[memory_pb2.Clarification(clarification_id=A, node_id=A, state="pending", question="?")]
        ),
        "clarifications[0].node_id",
    ),
    "an id that is no UUID": (NODES, nodes({"node_id": A.upper()}), "nodes[0].node_id"),
    "one coordinate with two texts": (SELECT, select(fragment(text="a"), fragment(text="b")), "pool[1].text"),
    "a fragment without text or tokens": (
        SELECT,
        select(planner_pb2.Fragment(span=span(A, 1, 0, 5), score=1.0)),
        "pool[0].text",
    ),
    "unknown field of a plan": (PLAN, unknown(plan()), "99"),
    "unknown field of a context": (BUILD, unknown(build()), "99"),
    "unknown field of a budget": (PLAN, b"\x32\x03\x98\x06\x01" + plan().SerializeToString(), "budget.99"),
    "unknown field of a document": (INGEST, b"\x0a\x03\x98\x06\x01", "documents[0].99"),
    "not a message": (PLAN, b"\xff", "request"),
    "a page token of nobody": (
        f"{MEMORY}/ListSources",
        memory_pb2.ListSourcesRequest(page_token="AAAA"),
        "page_token",
    ),
    "a negative page": (f"{MEMORY}/ListSources", memory_pb2.ListSourcesRequest(page_size=-1), "page_size"),
    "a source id that is no UUID": (f"{MEMORY}/GetSource", memory_pb2.GetSourceRequest(source_id="1"), "source_id"),
    "an erasure of no UUID": (f"{MEMORY}/EraseSource", memory_pb2.EraseSourceRequest(), "source_id"),
    "a trace id that is no UUID": (f"{TRACES}/Get", traces_pb2.GetRequest(trace_id="1"), "trace_id"),
    "a negative page of traces": (f"{TRACES}/List", traces_pb2.ListRequest(page_size=-1), "page_size"),
    "too many spaces": (PLAN, plan(spaces=[str(number) for number in range(257)]), "spaces"),
}


def refusal(address, method, raw, metadata):
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(f"/{method}")(raw, timeout=20, metadata=metadata)
    trailers = dict(caught.value.trailing_metadata())
    status = status_pb2.Status.FromString(trailers.get("grpc-status-details-bin", b""))
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad)
    return caught.value.code().name, info, bad


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_with_field_and_rule_and_nothing_is_written(stored, case):
    """S10, C7, M3, A1: one list, the gRPC column."""
    method, request, field = CASES[case]
    message = request(stored) if callable(request) else request
    raw = message if isinstance(message, bytes) else message.SerializeToString()
    before = stored.state()
    metadata = (("authorization", f"Bearer {stored.planner.key()}"),)
    code, info, bad = refusal(stored.planner.address, method, raw, metadata)
    assert code == "INVALID_ARGUMENT", info
    assert info.reason == ("CONTEXT_INVALID" if method == BUILD else "INVALID_REQUEST")
    (violation,) = bad.field_violations
    assert violation.field == field
    assert violation.description
    assert stored.state() == before


METHODS = {
    PLAN: plan(),
    SELECT: select(fragment()),
    BUILD: build(),
    INGEST: documents({}),
    NODES: nodes({}),
    EDGES: memory_pb2.PutEdgesRequest(),
    CLARIFICATIONS: memory_pb2.PutClarificationsRequest(),
    f"{MEMORY}/IngestStream": memory_pb2.IngestStreamRequest(header=memory_pb2.IngestStreamHeader(name="n")),
    f"{MEMORY}/PutArtifacts": memory_pb2.PutArtifactsRequest(),
    f"{MEMORY}/GetSource": memory_pb2.GetSourceRequest(source_id=A),
    f"{MEMORY}/ListSources": memory_pb2.ListSourcesRequest(),
    f"{MEMORY}/EraseSource": memory_pb2.EraseSourceRequest(source_id=A),
    f"{MEMORY}/Query": memory_pb2.QueryRequest(find="t"),
    REEMBED: memory_pb2.ReembedRequest(),
    f"{TRACES}/Get": traces_pb2.GetRequest(trace_id=A),
    f"{TRACES}/List": traces_pb2.ListRequest(),
    f"{TRACES}/Delete": traces_pb2.DeleteRequest(trace_id=A),
    "telha.planner.v1.Planner/Replay": replay_pb2.ReplayRequest(trace_id=A),
    "telha.planner.v1.Planner/Diff": replay_pb2.DiffRequest(trace_id=A, other_trace_id=A),
}


def test_the_list_of_methods_is_whole():
    """A6: the list of methods is whole."""
    files = (planner_pb2, context_pb2, memory_pb2, traces_pb2)
    services = [service for file in files for service in file.DESCRIPTOR.services_by_name.values()]
    assert set(METHODS) == {f"{service.full_name}/{method.name}" for service in services for method in service.methods}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("key", ["none", "malformed", "unknown", "revoked", "another scheme"])
def test_a_key_that_does_not_hold_is_refused_by_every_method(stored, method, key):
    """A6: missing, malformed, unknown and revoked keys get one answer."""
    planner = stored.planner
    before = stored.state()
    good = planner.key()
    if key == "revoked":
        revoked, key_id = keys.create(
            planner.store, "acme", name="r", rights=["read", "write"], spaces=None, now=lambda: 1
        )
        keys.revoke(planner.store, key_id, now=lambda: 2)
    sent = {
        "none": (),
        "malformed": (("authorization", "Bearer telha_"),),
        "unknown": (("authorization", f"Bearer telha_{'a' * 12}_{'A' * 43}"),),
        "revoked": (("authorization", f"Bearer {revoked}"),) if key == "revoked" else (),
        "another scheme": (("authorization", f"Basic {good}"),),
    }[key]
    code, info, bad = refusal(planner.address, method, METHODS[method].SerializeToString(), sent)
    assert (code, info.reason, dict(info.metadata)) == ("UNAUTHENTICATED", "UNAUTHENTICATED", {})
    assert not bad.field_violations
    assert stored.state() == before


@pytest.mark.parametrize("method", METHODS)
def test_a_right_that_the_key_lacks_is_refused_by_every_method(stored, method):
    """A6: reads need read, writes need write, and what concerns the whole tenant needs admin."""
    others = {f"{MEMORY}/{name}" for name in ("IngestStream", "PutArtifacts", "EraseSource")}
    writes = {INGEST, NODES, EDGES, CLARIFICATIONS, *others}
    planner = stored.planner
    administers = (REEMBED, f"{TRACES}/Delete")
    needed = "administer its tenant" if method in administers else "write" if method in writes else "read"
    key = planner.key(rights=("write",) if needed == "read" else ("read",))
    before = stored.state()
    metadata = (("authorization", f"Bearer {key}"),)
    code, info, _ = refusal(planner.address, method, METHODS[method].SerializeToString(), metadata)
    assert (code, info.reason) == ("PERMISSION_DENIED", "PERMISSION_DENIED")
    assert info.metadata["right"] == f"the right to {needed}"
    assert stored.state() == before


@pytest.mark.parametrize("method", [PLAN, INGEST])
def test_a_message_of_5_mb_is_refused(stored, method):
    """A1: limits."""
    before = stored.state()
    metadata = (("authorization", f"Bearer {stored.planner.key()}"),)
    raw = documents({"content": b"x" * 5_000_000}).SerializeToString()
    code, info, _ = refusal(stored.planner.address, method, raw, metadata)
    assert (code, info.reason, info.metadata["limit"]) == ("RESOURCE_EXHAUSTED", "MESSAGE_TOO_LARGE", "4194304")
    assert stored.state() == before

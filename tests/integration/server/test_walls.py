"""Tenants and spaces are walls on every method: what lies behind one is answered as what does not exist."""

from uuid import uuid4

import grpc
import pytest
from fixtures.stores import ENGINES
from memory_builders import rows_of
from planner_server import RealPlanner
from telha.context.v1 import context_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2, planner_pb2, replay_pb2
from telha.trace.v1 import traces_pb2
from telha_client import Clarification, Document, Edge, Node, Span

SECRET = "The night tram carries 秘密 gold 🧑‍🚀 סוד."
QUESTION = "what does the night tram carry?"
MEMORY = "telha.memory.v1.Memory"
PLANNER = "telha.planner.v1.Planner"
A = str(uuid4())
SPACE_KEY, TENANT_KEY = ("acme", ("private", "other")), ("rival", None)


class Walled:
    """A planner whose tenant acme has a secret in space main."""

    def __init__(self, planner):
        self.planner = planner
        self.node, self.edge, self.clarification = (str(uuid4()) for _ in range(3))
        with planner.client() as client:
            document = client.memory.ingest([Document(name="secret.md", content=SECRET)]).documents[0]
            self.source, self.version = document.source_id, document.source_version_tx
            span = Span(self.source, self.version, 0, len(SECRET.encode()))
            client.memory.put_nodes([Node(node_id=self.node, type="fact", provenance=[span])])
            loop = Edge(edge_id=self.edge, from_node_id=self.node, to_node_id=self.node, type="t")
            client.memory.put_edges([loop])
            asked = Clarification(
                clarification_id=self.clarification, node_id=self.node, state="pending", question=SECRET
            )
            client.memory.put_clarifications([asked])
            self.traces = [client.plan(QUESTION).trace_id, client.memory.context(QUESTION).trace_id]

    def call(self, key, method, message):
        """What comes back, as (code, words or bytes)."""
        metadata = (("authorization", f"Bearer {self.planner.key(*key)}"),)
        with grpc.insecure_channel(self.planner.address) as channel:
            try:
                return "OK", channel.unary_unary(f"/{method}")(message.SerializeToString(), 20, metadata=metadata)
            except grpc.RpcError as failure:
                return failure.code().name, failure.details()

    def rows(self):
        tenants = {self.planner.caller(self.planner.key(*key)).tenant for key in (("acme",), SPACE_KEY, TENANT_KEY)}
        return {tenant: rows_of(self.planner.store, tenant) for tenant in tenants}


@pytest.fixture(scope="module", params=ENGINES)
def walled(request, tmp_path_factory):
    url = None
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        url = server.url(server.create())
    with RealPlanner(tmp_path_factory.mktemp("walls"), url=url) as planner:
        walled = Walled(planner)
        for key in (SPACE_KEY, TENANT_KEY):
            planner.key(*key)
        yield walled


def span(source, version):
    return plan_pb2.SpanRef(source_id=source, source_version_tx=version, start=0, end=9)


def node(space, *provenance):
    made = memory_pb2.Node(node_id=str(uuid4()), type="t", space=space, provenance=provenance)
    return memory_pb2.PutNodesRequest(nodes=[made])


def edge(from_node, to_node):
    made = memory_pb2.Edge(edge_id=str(uuid4()), from_node_id=from_node, to_node_id=to_node, type="t")
    return memory_pb2.PutEdgesRequest(edges=[made])


def clarification(about):
    made = memory_pb2.Clarification(
        clarification_id=str(uuid4()), node_id=about, state="pending", question="who are you?"
    )
    return memory_pb2.PutClarificationsRequest(clarifications=[made])


def artifact(origin):
    made = memory_pb2.Artifact(
        artifact_id=str(uuid4()), space="private", name="digest", text="told", derived_from=[origin]
    )
    return memory_pb2.PutArtifactsRequest(artifacts=[made])


def reaches(source, version, node_id, trace_id):
    """Requests for one source, one node and one trace, by what they try."""
    return {
        "GetSource": (f"{MEMORY}/GetSource", memory_pb2.GetSourceRequest(source_id=source)),
        "GetSource, its version": (
            f"{MEMORY}/GetSource",
            memory_pb2.GetSourceRequest(source_id=source, source_version_tx=version, include_text=True),
        ),
        "EraseSource": (f"{MEMORY}/EraseSource", memory_pb2.EraseSourceRequest(source_id=source)),
        "PutNodes, resting on it": (f"{MEMORY}/PutNodes", node("private", span(source, version))),
        "PutEdges, on it": (f"{MEMORY}/PutEdges", edge(node_id, node_id)),
        "PutArtifacts, made from it": (f"{MEMORY}/PutArtifacts", artifact(source)),
        "PutClarifications": (f"{MEMORY}/PutClarifications", clarification(node_id)),
        "Traces.Get": ("telha.trace.v1.Traces/Get", traces_pb2.GetRequest(trace_id=trace_id)),
        "Traces.Delete": ("telha.trace.v1.Traces/Delete", traces_pb2.DeleteRequest(trace_id=trace_id)),
        "Planner.Replay": (f"{PLANNER}/Replay", replay_pb2.ReplayRequest(trace_id=trace_id)),
        "Planner.Diff": (f"{PLANNER}/Diff", replay_pb2.DiffRequest(trace_id=trace_id, other_trace_id=trace_id)),
    }


@pytest.mark.parametrize("reach", reaches(A, 1, A, A))
@pytest.mark.parametrize("key", [SPACE_KEY, TENANT_KEY], ids=["space", "tenant"])
def test_what_lies_behind_a_wall_is_answered_as_absent(walled, key, reach):
    """A6, M7, M3, X4: same code and same words as for an id that nobody has; nothing is written."""
    before = walled.rows()
    theirs = reaches(walled.source, walled.version, walled.node, walled.traces[0])[reach]
    nobodys = reaches(str(uuid4()), walled.version, str(uuid4()), str(uuid4()))[reach]
    foreign, absent = walled.call(key, *theirs), walled.call(key, *nobodys)
    if foreign[0] == absent[0] == "UNAVAILABLE":
        # Without a trace writer nobody can say that an id is absent; each refusal names the id that was asked for.
        foreign, absent = ((code, words.split(" cannot ")[1]) for code, words in (foreign, absent))
    assert foreign == absent
    assert foreign[0] in {"NOT_FOUND", "INVALID_ARGUMENT", "UNAVAILABLE"}
    assert walled.rows() == before


ASKS = {
    "Plan": (
        f"{PLANNER}/Plan",
        lambda spaces: planner_pb2.PlanRequest(question=QUESTION, spaces=spaces, allow_ungrounded=True),
    ),
    "Plan, by type": (
        f"{PLANNER}/Plan",
        lambda spaces: planner_pb2.PlanRequest(
            query=plan_pb2.NodeQuery(find="fact"), expand_depth=2, spaces=spaces, allow_ungrounded=True
        ),
    ),
    "Build": (
        "telha.context.v1.Context/Build",
        lambda spaces: context_pb2.BuildRequest(question=QUESTION, spaces=spaces),
    ),
    "ListSources": (f"{MEMORY}/ListSources", lambda spaces: memory_pb2.ListSourcesRequest(spaces=spaces)),
    "Query": (f"{MEMORY}/Query", lambda spaces: memory_pb2.QueryRequest(find="fact", spaces=spaces)),
}

ELSEWHERE = {
    "Planner/Select": "reads no memory",
    "Traces/List": "test_traces_service.py::test_tenants_and_spaces_are_walls",
    "Memory/Ingest": "test_two_tenants_may_use_one_id",
    "Memory/IngestStream": "test_streamed_documents.py",
    "Memory/Reembed": "names nothing; the tenant is the key's",
}
"""Methods that nothing foreign can be named to, or whose walls are shown in other tests."""


def test_no_method_is_forgotten():
    """A6: every method of the services that hold content is tried at the walls, or it is said why not."""
    tried = {method for method, _ in reaches(A, 1, A, A).values()} | {method for method, _ in ASKS.values()}
    tried = {method.split(".")[-1] for method in tried}
    files = (planner_pb2, context_pb2, memory_pb2, traces_pb2)
    services = [service for file in files for service in file.DESCRIPTOR.services_by_name.values()]
    methods = {f"{service.name}/{method.name}" for service in services for method in service.methods}
    assert tried | ELSEWHERE.keys() == methods
    assert not tried & ELSEWHERE.keys()


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("key", [SPACE_KEY, TENANT_KEY], ids=["space", "tenant"])
def test_no_read_sees_through_a_wall(walled, key, ask):
    """A6, M7: not by default, not with `*`, and a space that the key lacks is refused by name."""
    method, request = ASKS[ask]
    for spaces in ((), ("*",)):
        code, raw = walled.call(key, method, request(spaces))
        assert code == "OK"
        for told in (SECRET, "tram", walled.source, walled.node, walled.clarification):
            assert told.encode() not in raw
    code, words = walled.call(key, method, request(("main",)))
    assert code == ("PERMISSION_DENIED" if key is SPACE_KEY else "OK"), words
    assert SECRET not in str(words)


def test_the_key_that_may_sees_all_of_it(walled):
    """A6: what no other key sees is there to be seen; the test above would be empty otherwise."""
    for method, request in ASKS.values():
        code, raw = walled.call(("acme",), method, request(()))
        assert code == "OK"
        assert walled.source.encode() in raw


def test_two_tenants_may_use_one_id(walled):
    """A6: ids mean nothing outside their tenant, so none can be probed, taken or changed from another."""
    with walled.planner.client(*TENANT_KEY) as rival:
        document = Document(name="theirs.md", content="nothing of yours", source_id=walled.source)
        assert rival.memory.ingest([document]).documents[0].outcome == "created"
        rival.memory.put_nodes([Node(node_id=walled.node, type="fact")])
        rival.memory.put_edges(
            [Edge(edge_id=walled.edge, from_node_id=walled.node, to_node_id=walled.node, type="theirs")]
        )
        rival.memory.put_clarifications(
            [
                Clarification(
                    clarification_id=walled.clarification, node_id=walled.node, state="resolved", question="ours?"
                )
            ]
        )
        assert rival.memory.erase_source(walled.source).versions == 1
    with walled.planner.client() as client:
        assert client.memory.source(walled.source, include_text=True).text == SECRET
        context = client.memory.context(QUESTION)
        assert [question.question for question in context.open_questions] == [SECRET]

"""
Every method of the contract, at both walls: foreign is absent, by the same statements, and no answer tells of it.

The methods come from the descriptors, so that one without requests in `walls.REQUESTS` fails by name.
"""

import grpc
import pytest
from fixtures.stores import ENGINES
from planner_server import RealPlanner
from running_writer import running_writer
from telha.trace.v1 import trace_store_pb2
from trace_path import TOKEN, credential
from walled_world import IngestHere, World, hearing
from walls import INTERNAL, REQUESTS, methods

REFUSED = {"NOT_FOUND", "INVALID_ARGUMENT", "PERMISSION_DENIED", "FAILED_PRECONDITION"}
SERVED = sorted(name for name in REQUESTS if not name.startswith(INTERNAL))
REACHES = [(method, label) for method in SERVED for label in REQUESTS[method]]


@pytest.fixture(
    scope="module", params=[(engine, wall) for engine in ENGINES for wall in ("tenant", "space")], ids="-".join
)
def world(request, tmp_path_factory, shared_valkey):
    with shared_valkey.client() as client:
        client.flushall()
    engine, wall = request.param
    url = None
    if engine == "postgres":
        server = request.getfixturevalue("postgres")
        url = server.url(server.create())
    folder = tmp_path_factory.mktemp("w")
    with (
        running_writer(folder, shared_valkey.url) as address,
        RealPlanner(folder, url=url, writer=address, token=TOKEN, ingest=IngestHere) as planner,
    ):
        yield World(planner, shared_valkey.url, wall)


def test_every_method_is_tried():
    """A6: one that is added to the contract is added here."""
    assert REQUESTS.keys() == methods().keys()


@pytest.mark.parametrize(("method", "label"), REACHES, ids=[f"{m.split('.')[-1]}: {what}" for m, what in REACHES])
def test_what_lies_behind_a_wall_is_absent(world, method, label):
    """A6, M7, X4: code, words, details and statements are those for what nobody has; nothing is told or lost."""
    theirs = world.somebody()
    nobodys = world.nobody(theirs)
    key = world.planner.key(*world.scope)
    world.call(
        key, "telha.memory.v1.Memory/Query", REQUESTS["telha.memory.v1.Memory/Query"]["by type"](nobodys, world.own)
    )
    before = world.kept()
    seen = []
    for target in (theirs, nobodys):
        request = REQUESTS[method][label](target, world.own)
        said = "".join(map(str, request)) if isinstance(request, list) else str(request)
        with hearing() as heard:
            answer = world.call(key, method, request)
        assert answer[0] in REFUSED | {"OK"}, answer
        told = answer[1].encode() + answer[2]
        unsaid = {mark for mark in theirs.marks if mark not in said}
        assert not {mark for mark in unsaid if mark.encode() in told}
        if answer[0] == "OK":
            assert theirs.word.encode() not in told or theirs.word in said
        seen.append((world.shape(method, answer, target), heard.statements))
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] == seen[1][1]
    after = world.kept()
    assert not {table: lost for table in before if (lost := [row for row in before[table] if row not in after[table]])}


def test_the_requests_reach_what_is_there(world):
    """A6: whoever is behind the wall gets other answers, so that the test above compares something."""
    theirs = world.somebody()
    told = set()
    key = world.planner.key(world.victim)
    for method, label in REACHES:
        if method.split("/")[1] in {"Plan", "Build", "GetSource", "ListSources", "Query", "Get"}:
            code, words, raw = world.call(key, method, REQUESTS[method][label](theirs, world.own))
            assert code == "OK", (method, label, words)
            if any(mark.encode() in raw for mark in (theirs.source, theirs.node, theirs.space, theirs.stored_trace)):
                told.add(method)
    assert {method.split("/")[1] for method in told} == {"Plan", "Build", "GetSource", "ListSources", "Query", "Get"}


def test_a_foreign_trace_is_absent_to_the_writer_too(world):
    """A6, X4: asked as another tenant, by the same statements; and without the internal credential nobody asks."""
    theirs = world.somebody()
    nobodys = world.nobody(theirs)
    seen = []
    with grpc.insecure_channel(world.planner.writer_address) as channel:
        for method in (name for name in REQUESTS if name.startswith(INTERNAL)):
            for label, make in REQUESTS[method].items():
                request = make(theirs, world.own).SerializeToString()
                with pytest.raises(grpc.RpcError) as refusal:
                    channel.unary_unary(f"/{method}")(request, 10)
                assert refusal.value.code() is grpc.StatusCode.UNAUTHENTICATED, label
        for target in (theirs, nobodys):
            request = trace_store_pb2.FetchRequest(tenant="rival", trace_id=target.stored_trace)
            with hearing() as heard, pytest.raises(grpc.RpcError) as refusal:
                channel.unary_unary(f"/{INTERNAL}/Fetch")(request.SerializeToString(), 10, metadata=credential())
            seen.append((refusal.value.code(), refusal.value.details(), heard.statements))
        assert seen[0] == seen[1]
        assert seen[0][0] is grpc.StatusCode.NOT_FOUND
        browsed = channel.unary_unary(f"/{INTERNAL}/Browse")(
            trace_store_pb2.BrowseRequest(tenant="rival").SerializeToString(), 10, metadata=credential()
        )
        assert theirs.stored_trace.encode() not in browsed
        gone = trace_store_pb2.DeleteTenantRequest(tenant="nobody-at-all", deleted_us=2**62)
        channel.unary_unary(f"/{INTERNAL}/DeleteTenant")(gone.SerializeToString(), 10, metadata=credential())
        other = trace_store_pb2.DeleteTraceRequest(tenant="rival", trace_id=theirs.stored_trace)
        channel.unary_unary(f"/{INTERNAL}/DeleteTrace")(other.SerializeToString(), 10, metadata=credential())
        kept = trace_store_pb2.FetchRequest(tenant=world.victim, trace_id=theirs.stored_trace)
        channel.unary_unary(f"/{INTERNAL}/Fetch")(kept.SerializeToString(), 10, metadata=credential())


RIGHTS = {
    "telha.planner.v1.Planner": {"read"},
    "telha.context.v1.Context": {"read"},
    "telha.trace.v1.Traces": {"read"},
    "telha.memory.v1.Memory": {"write"},
    "telha.administration.v1.Administration": {"admin", "operator"},
}
EXCEPT = {
    "telha.memory.v1.Memory/GetSource": {"read"},
    "telha.memory.v1.Memory/ListSources": {"read"},
    "telha.memory.v1.Memory/Query": {"read"},
    "telha.memory.v1.Memory/Reembed": {"admin"},
    "telha.trace.v1.Traces/Delete": {"admin"},
    "telha.administration.v1.Administration/CreateTenant": {"operator"},
    "telha.administration.v1.Administration/ListTenants": {"operator"},
    "telha.administration.v1.Administration/GetDeletion": {"operator"},
    "telha.administration.v1.Administration/ListDeletions": {"operator"},
    "telha.administration.v1.Administration/EraseSpace": {"admin"},
}
"""Any of which a method needs, by service and where it differs by method; docs/operating.md says the same."""


@pytest.mark.parametrize("method", SERVED)
def test_each_method_needs_its_right_and_no_other(world, method):
    """A6: a key with one right alone is refused by name everywhere else; without a key, and with another's, nothing."""
    allowed = EXCEPT.get(method, RIGHTS[method.split("/")[0]])
    target = world.nobody(world.somebody())
    for make in REQUESTS[method].values():
        request = make(target, world.own)
        for right in ("read", "write", "admin", "operator"):
            code, words, _ = world.call(world.planner.key("beta", None, (right,)), method, request)
            denied = code == "PERMISSION_DENIED" and "the right to" in words and "grant" not in words
            assert denied == (right not in allowed), (right, code, words)
        for nothing in ("", "telha_x", "telha_aaaaaaaaaaaa_" + "A" * 43):
            assert world.call(nothing, method, request)[0] == "UNAUTHENTICATED"
